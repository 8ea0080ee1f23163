// SPDX-License-Identifier: Apache-2.0
//
// Atoms, their calls, and their tilings.

#ifndef FLY_DIALECT_FLY_IR_ATOMOPS_TD
#define FLY_DIALECT_FLY_IR_ATOMOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

// --- making and changing atoms -------------------------------------------------------------------

def Fly_MakeMmaAtomOp : Fly_Op<"make_mma_atom", [Pure]> {
  let summary = "a matrix atom in its default state";
  let results = (outs Fly_MmaAtomType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Fly_MakeCopyAtomOp : Fly_Op<"make_copy_atom", [Pure]> {
  let summary = "a copy atom in its default state";
  let description = "Operands are for atoms that are built from a tensor.";
  let arguments = (ins Variadic<AnyType>:$args, I32Attr:$valBits);
  let results = (outs Fly_CopyAtomType:$result);
  let assemblyFormat = [{
    (`(` $args^ `:` type($args) `)`)? attr-dict `:` qualified(type($result))
  }];
}

def Fly_AtomSetValueOp : Fly_AlgebraOp<"atom.set_value",
    "inferAtomSetValue(location, adaptor.getAtom().getType())"> {
  let summary = "the atom with one field of its state changed";
  let arguments = (ins Fly_AnyAtom:$atom, StrAttr:$field, AnyType:$value);
  let results = (outs Fly_AnyAtom:$result);
  let assemblyFormat = [{
    `(` $atom `,` $field `,` $value `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Fly_GetCopyAtomOp
    : Fly_UnaryAlgebraOp<"get_copy_atom", "inferGetCopyAtom", Fly_TiledCopyType, Fly_CopyAtomType> {
  let summary = "the atom of a tiled copy";
}
def Fly_GetMmaAtomOp
    : Fly_UnaryAlgebraOp<"get_mma_atom", "inferGetMmaAtom", Fly_TiledMmaType, Fly_MmaAtomType> {
  let summary = "the atom of a tiled matrix operation";
}

// --- calls ---------------------------------------------------------------------------------------

def Fly_CopyAtomCallOp : Fly_Op<"copy_atom_call", [Fly_AnyEffect]> {
  let summary = "one call of a copy atom";
  let arguments = (ins Fly_CopyAtomType:$atom, Fly_Tensor:$src, Fly_Tensor:$dst,
                       Optional<Fly_MemRefType>:$pred);
}

def Fly_CopyAtomCallSSAOp
    : Fly_Op<"copy_atom_call_ssa", [AttrSizedOperandSegments, Fly_AnyEffect]> {
  let summary = "one call of a copy atom on values";
  let arguments = (ins Fly_CopyAtomType:$atom, AnyType:$src, Optional<AnyType>:$dst,
                       Optional<AnyType>:$pred);
  let results = (outs Optional<AnyType>:$result);
}

def Fly_MmaAtomCallOp : Fly_Op<"mma_atom_call", [AttrSizedOperandSegments, Fly_AnyEffect]> {
  let summary = "one call of a matrix atom";
  let description = "`a` and `b` are groups: the data, and what scaled atoms need besides.";
  let arguments = (ins Fly_MmaAtomType:$atom, Fly_MemRefType:$d, Variadic<Fly_MemRefType>:$a,
                       Variadic<Fly_MemRefType>:$b, Fly_MemRefType:$c);
  let assemblyFormat = [{
    `(` $atom `,` $d `,` custom<OperandGroup>($a) `,` custom<OperandGroup>($b) `,` $c `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fly_MmaAtomCallSSAOp : Fly_Op<"mma_atom_call_ssa", [AttrSizedOperandSegments, Fly_AnyEffect]> {
  let summary = "one call of a matrix atom on values";
  let arguments = (ins Fly_MmaAtomType:$atom, Optional<AnyType>:$d, Variadic<AnyType>:$a,
                       Variadic<AnyType>:$b, AnyType:$c);
  let results = (outs Optional<AnyType>:$result);
  let assemblyFormat = [{
    `(` $atom `,` custom<OperandGroup>($a) `,` custom<OperandGroup>($b) `,` $c `)`
    custom<NamedOperand>("\"dst\"", $d) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// --- tilings -------------------------------------------------------------------------------------

def Fly_MakeTiledCopyOp : Fly_AlgebraOp<"make_tiled_copy",
    "inferMakeTiledCopy(location, adaptor.getAtom().getType(), adaptor.getLayoutTV().getType(), "
    "adaptor.getTile().getType())"> {
  let summary = "a copy atom spread over the threads and values of a tile";
  let arguments = (ins Fly_CopyAtomType:$atom, Fly_LayoutType:$layoutTV, Fly_TileType:$tile);
  let results = (outs Fly_TiledCopyType:$result);
}

def Fly_MakeTiledMmaOp : Fly_AlgebraOp<"make_tiled_mma",
    "inferMakeTiledMma(location, adaptor.getAtom().getType(), adaptor.getAtomLayout().getType(), "
    "::fly::getTypeOrNull(adaptor.getPermutation()))"> {
  let summary = "a matrix atom spread over thread groups";
  let arguments = (ins Fly_MmaAtomType:$atom, Fly_LayoutType:$atomLayout,
                       Optional<Fly_TileType>:$permutation);
  let results = (outs Fly_TiledMmaType:$result);
}

class Fly_TiledCopyPartitionOp<string mnemonic, string inference> : Fly_AlgebraOp<mnemonic,
    inference # "(location, adaptor.getTiledCopy().getType(), adaptor.getTensor().getType(), "
    "adaptor.getThread().getType())"> {
  let arguments = (ins Fly_TiledCopyType:$tiledCopy, Fly_Tensor:$tensor, Fly_IntTupleType:$thread);
  let results = (outs Fly_Tensor:$result);
}
def Fly_TiledCopyPartitionSrcOp
    : Fly_TiledCopyPartitionOp<"tiled_copy.partition_src", "inferTiledCopyPartitionSrc"> {
  let summary = "a thread's part of the source tensor";
}
def Fly_TiledCopyPartitionDstOp
    : Fly_TiledCopyPartitionOp<"tiled_copy.partition_dst", "inferTiledCopyPartitionDst"> {
  let summary = "a thread's part of the destination tensor";
}

def Fly_TiledCopyRetileOp : Fly_AlgebraOp<"tiled_copy.retile",
    "inferTiledCopyRetile(location, adaptor.getTiledCopy().getType(), "
    "adaptor.getFragment().getType())"> {
  let summary = "a register fragment in the value structure of the copy";
  let arguments = (ins Fly_TiledCopyType:$tiledCopy, Fly_MemRefType:$fragment);
  let results = (outs Fly_MemRefType:$result);
}

def Fly_TiledMmaPartitionOp : Fly_AlgebraOp<"tiled_mma.partition",
    "inferTiledMmaPartition(location, adaptor.getOperandId(), adaptor.getTiledMma().getType(), "
    "adaptor.getTensor().getType(), adaptor.getThread().getType())"> {
  let summary = "a thread's part of an operand";
  let arguments = (ins Fly_MmaOperandAttr:$operand_id, Fly_TiledMmaType:$tiledMma,
                       Fly_Tensor:$tensor, Fly_IntTupleType:$thread);
  let results = (outs Fly_Tensor:$result);
  let assemblyFormat = [{
    `(` custom<OperandKeyword>($operand_id) `,` $tiledMma `,` $tensor `,` $thread `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def Fly_TiledMmaPartitionShapeOp : Fly_AlgebraOp<"tiled_mma.partition_shape",
    "inferTiledMmaPartitionShape(location, adaptor.getOperandId(), "
    "adaptor.getTiledMma().getType(), adaptor.getShape().getType())"> {
  let summary = "shape of a thread's part of an operand of a shape";
  let arguments = (ins Fly_MmaOperandAttr:$operand_id, Fly_TiledMmaType:$tiledMma,
                       Fly_IntTupleType:$shape);
  let results = (outs Fly_IntTupleType:$result);
}

def Fly_MmaMakeFragmentOp : Fly_AlgebraOp<"mma.make_fragment",
    "inferMmaMakeFragment(location, adaptor.getOperandId(), adaptor.getTiledMma().getType(), "
    "adaptor.getTensor().getType(), adaptor.getStages())"> {
  let summary = "a register tensor for a thread's part of an operand";
  let arguments = (ins Fly_MmaOperandAttr:$operand_id, Fly_TiledMmaType:$tiledMma,
                       Fly_MemRefType:$tensor, OptionalAttr<I32Attr>:$stages);
  let results = (outs Fly_MemRefType:$result);
  let assemblyFormat = [{
    `(` custom<OperandKeyword>($operand_id) `,` $tiledMma `,` $tensor (`,` `stages` `=` $stages^)? `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

// --- whole tensors -------------------------------------------------------------------------------

def Fly_CopyOp : Fly_Op<"copy", [Fly_AnyEffect]> {
  let summary = "copies a tensor, one atom call per position of its modes 1 and up";
  let arguments = (ins Fly_CopyAtomOrTiledCopy:$atom, Fly_Tensor:$src, Fly_Tensor:$dst,
                       Optional<Fly_MemRefType>:$pred);
}

def Fly_GemmOp : Fly_Op<"gemm", [AttrSizedOperandSegments, Fly_AnyEffect]> {
  let summary = "D = A * B^T + C on fragments, one atom call per (m, n, k)";
  let arguments = (ins Fly_MmaAtomOrTiledMma:$atom, Fly_MemRefType:$d, Variadic<Fly_MemRefType>:$a,
                       Variadic<Fly_MemRefType>:$b, Fly_MemRefType:$c,
                       Optional<Fly_LayoutType>:$traversalLayout,
                       OptionalAttr<Fly_GemmTraversalOrderAttr>:$traversalOrder);
  let assemblyFormat = [{
    `(` $atom `,` $d `,` custom<OperandGroup>($a) `,` custom<OperandGroup>($b) `,` $c `)`
    custom<NamedOperand>("\"traversalLayout\"", $traversalLayout) attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // FLY_DIALECT_FLY_IR_ATOMOPS_TD

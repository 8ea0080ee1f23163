// SPDX-License-Identifier: Apache-2.0
//
// What the ops of the fly dialect have in common: operand classes, syntax and type inference.

#ifndef FLY_DIALECT_FLY_IR_FLYOPBASE_TD
#define FLY_DIALECT_FLY_IR_FLYOPBASE_TD

include "fly/Dialect/Fly/IR/FlyAttributes.td"
include "fly/Dialect/Fly/IR/FlyDialect.td"
include "fly/Dialect/Fly/IR/FlyTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// --- operand classes ---------------------------------------------------------------------------

def Fly_Integer32Or64 : AnyTypeOf<[I32, I64], "32-bit or 64-bit integer">;
def Fly_Iterator : AnyTypeOf<[Fly_IntTupleType, Fly_PointerType], "int_tuple or ptr">;
def Fly_Tensor : AnyTypeOf<[Fly_MemRefType, Fly_CoordTensorType], "memref or coord_tensor">;
def Fly_NarrowLayout
    : AnyTypeOf<[Fly_LayoutType, Fly_ComposedLayoutType], "layout or composed_layout">;
def Fly_LayoutLike
    : AnyTypeOf<[Fly_LayoutType, Fly_ComposedLayoutType, Fly_MemRefType, Fly_CoordTensorType],
                "layout, composed_layout, memref or coord_tensor">;
def Fly_IntTupleLike
    : AnyTypeOf<[Fly_IntTupleType, Fly_LayoutType, Fly_ComposedLayoutType, Fly_MemRefType,
                 Fly_CoordTensorType],
                "int_tuple, layout, composed_layout, memref or coord_tensor">;
def Fly_InnerMap
    : AnyTypeOf<[Fly_LayoutType, Fly_ComposedLayoutType, Fly_SwizzleType, Fly_CoordSwizzleType],
                "layout, composed_layout, swizzle or coord_swizzle">;
def Fly_TupleOrNarrowLayout
    : AnyTypeOf<[Fly_IntTupleType, Fly_LayoutType, Fly_ComposedLayoutType],
                "int_tuple, layout or composed_layout">;
def Fly_TupleOrLayout : AnyTypeOf<[Fly_IntTupleType, Fly_LayoutType], "int_tuple or layout">;
def Fly_Divisor : AnyTypeOf<[Fly_LayoutType, Fly_TileType], "layout or tile">;
def Fly_CopyAtomOrTiledCopy
    : AnyTypeOf<[Fly_CopyAtomType, Fly_TiledCopyType], "copy_atom or tiled_copy">;
def Fly_MmaAtomOrTiledMma
    : AnyTypeOf<[Fly_MmaAtomType, Fly_TiledMmaType], "mma_atom or tiled_mma">;
def Fly_AnyAtom
    : AnyTypeOf<[Fly_CopyAtomType, Fly_MmaAtomType, Fly_TiledCopyType, Fly_TiledMmaType],
                "copy_atom, mma_atom, tiled_copy or tiled_mma">;

// --- ops ---------------------------------------------------------------------------------------

// The default syntax: `fly.NAME(operands) attr-dict : (operand types) -> results`.
class Fly_Op<string mnemonic, list<Trait> traits = []> : Op<Fly_Dialect, mnemonic, traits> {
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  // How an op with one result folds, if it does.
  code foldDefinition = [{
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor) { return ::fly::foldOp(*this); }
  }];
}

// A condition on a type as C++, in terms of `type`: one condition, or alternatives.
class Fly_TypeCondition<Pred pred> {
  list<Pred> alternatives = !if(!isa<Or>(pred), !cast<Or>(pred).children, [pred]);
  code text = !subst("$_self", "type",
      !interleave(!foreach(one, alternatives, !cast<CPred>(one).predExpr), " || "));
}

// The operands among `arguments` as initialisers of ::fly::OperandConstraint.
class Fly_OperandConstraints<dag arguments> {
  list<Constraint> all = !foreach(index, !range(!size(arguments)),
                                  !getdagarg<Constraint>(arguments, index));
  list<Constraint> operands = !filter(one, all, !isa<TypeConstraint>(one));
  code text = !interleave(!foreach(one, operands,
      "{\"" # one.summary # "\", ::fly::OperandConstraint::" #
      !cond(!isa<Optional>(one): "Optional", !isa<Variadic>(one): "Variadic", true: "Single") #
      ", [](::mlir::Type type) { return " # Fly_TypeCondition<one.predicate>.text # "; }}"), ", ");
}

// The effects of ops that touch memory, whatever the atom and the address space, and of those that
// allocate it: no pass removes, merges or moves them. Existing tests count on finding them.
defvar Fly_AnyEffect = MemoryEffects<[MemRead, MemWrite]>;

// An op whose result types follow from its operand types and attributes. `inference` is a call of
// one of the functions of fly/Dialect/Fly/IR/Infer.h, in terms of `location` and `adaptor`.
class Fly_InferredOp<string mnemonic, string inference, list<Trait> traits = []>
    : Fly_Op<mnemonic, traits # [InferTypeOpAdaptor]> {
  code inferenceDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      // Inference comes before verification, also from Python: operands may be missing or of any
      // type, and attributes may be missing.
      if (::llvm::failed(::fly::checkOperands(location, $cppClass::getOperationName(), {}]
      # Fly_OperandConstraints<arguments>.text # [{}, adaptor.getOperands())) ||
          ::llvm::failed(
              adaptor.verify(location.value_or(::mlir::UnknownLoc::get(context)))))
        return ::llvm::failure();
      return ::fly::collectInferred(}] # inference # [{, inferredReturnTypes);
    }
  }];
  let extraClassDefinition = inferenceDefinition;
}

// An op of the algebra: no effects, one inferred result.
class Fly_AlgebraOp<string mnemonic, string inference, list<Trait> traits = []>
    : Fly_InferredOp<mnemonic, inference, traits # [Pure]> {
  let hasFolder = 1;
  let extraClassDefinition = inferenceDefinition # foldDefinition;
}

// Another op without effects that folds.
class Fly_FoldableOp<string mnemonic, list<Trait> traits = []>
    : Fly_Op<mnemonic, traits # [Pure]> {
  let hasFolder = 1;
  let extraClassDefinition = foldDefinition;
}

// An algebra op on one value.
class Fly_UnaryAlgebraOp<string mnemonic, string inference, Constraint operand, Constraint resultType>
    : Fly_AlgebraOp<mnemonic, inference # "(location, adaptor.getSource().getType())"> {
  let arguments = (ins operand:$source);
  let results = (outs resultType:$result);
}

// An algebra op on two values.
class Fly_BinaryAlgebraOp<string mnemonic, string inference, Constraint first, Constraint second,
                          Constraint resultType>
    : Fly_AlgebraOp<mnemonic, inference #
                    "(location, adaptor.getLhs().getType(), adaptor.getRhs().getType())"> {
  let arguments = (ins first:$lhs, second:$rhs);
  let results = (outs resultType:$result);
}

#endif // FLY_DIALECT_FLY_IR_FLYOPBASE_TD

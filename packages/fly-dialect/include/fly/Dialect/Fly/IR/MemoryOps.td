// SPDX-License-Identifier: Apache-2.0
//
// Pointers and memory.

#ifndef FLY_DIALECT_FLY_IR_MEMORYOPS_TD
#define FLY_DIALECT_FLY_IR_MEMORYOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

def Fly_MakePtrOp : Fly_Op<"make_ptr", [Fly_AnyEffect]> {
  let summary = "allocates memory, or builds a pointer from the parts of a descriptor";
  let description = [{
    By the address space of the result: `register` and `shared` allocate, with the sizes in
    `dictAttrs`; a back end's space gives the operands their meaning.
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<DictionaryAttr>:$dictAttrs);
  let results = (outs Fly_PointerType:$result);
}

def Fly_GetDynSharedOp : Fly_InferredOp<"get_dyn_shared", "inferGetDynShared(context)", [Pure]> {
  let summary = "base of the dynamic shared memory";
  let results = (outs Fly_PointerType:$result);
  let assemblyFormat = "`(` `)` attr-dict `:` qualified(type($result))";
}

def Fly_IntToPtrOp : Fly_Op<"inttoptr", [Pure]> {
  let summary = "a pointer from an address";
  let arguments = (ins Fly_Integer32Or64:$source);
  let results = (outs Fly_PointerType:$result);
}

def Fly_PtrToIntOp
    : Fly_UnaryAlgebraOp<"ptrtoint", "inferPtrToInt", Fly_PointerType, Fly_Integer32Or64> {
  let summary = "the address of a shared (i32) or global (i64) pointer";
}

def Fly_ToLLVMPtrOp : Fly_AlgebraOp<"to_llvm_ptr",
    "inferToLLVMPtr(location, adaptor.getSource().getType(), adaptor.getLlvmAddressSpace())"> {
  let summary = "the bare LLVM pointer";
  let arguments = (ins Fly_PointerType:$source, I32Attr:$llvm_address_space);
  let results = (outs LLVM_AnyPointer:$result);
}

def Fly_AddOffsetOp : Fly_AlgebraOp<"add_offset",
    "inferAddOffset(location, adaptor.getIter().getType(), adaptor.getOffset().getType())"> {
  let summary = "advances an iterator by elements";
  let arguments = (ins Fly_Iterator:$iter, Fly_IntTupleType:$offset);
  let results = (outs Fly_Iterator:$result);
}

def Fly_ApplySwizzleOp : Fly_AlgebraOp<"apply_swizzle",
    "inferApplySwizzle(location, adaptor.getSource().getType(), adaptor.getSwizzle().getType())"> {
  let summary = "replaces the swizzle of a pointer";
  let arguments = (ins Fly_PointerType:$source, Fly_SwizzleType:$swizzle);
  let results = (outs Fly_PointerType:$result);
}

def Fly_DecompositionOp
    : Fly_UnaryAlgebraOp<"decomposition", "inferDecomposition", Fly_Tensor, Fly_Tensor> {
  let summary = "folds the inner part of a tensor's composed layout into its iterator";
}

def Fly_PtrLoadOp : Fly_Op<"ptr.load", [Fly_AnyEffect]> {
  let summary = "loads a scalar or a vector through an iterator";
  let arguments = (ins Fly_Iterator:$ptr);
  let results = (outs AnyType:$result);
}

def Fly_PtrStoreOp : Fly_Op<"ptr.store", [Fly_AnyEffect]> {
  let summary = "stores a scalar or a vector through a pointer";
  let arguments = (ins AnyType:$value, Fly_PointerType:$ptr);
}

def Fly_RecastIterOp : Fly_FoldableOp<"recast_iter"> {
  let summary = "reinterprets what a pointer points to";
  let arguments = (ins Fly_PointerType:$source);
  let results = (outs Fly_PointerType:$result);
}

def Fly_MemRefAllocaOp : Fly_Op<"memref.alloca", [Fly_AnyEffect]> {
  let summary = "a register tensor of a layout";
  let arguments = (ins Fly_LayoutType:$layout);
  let results = (outs Fly_MemRefType:$result);
}

def Fly_MemRefLoadVecOp : Fly_InferredOp<"memref.load_vec",
    "inferMemRefLoadVec(location, adaptor.getSource().getType())", [Fly_AnyEffect]> {
  let summary = "all elements as a vector, in column-major order";
  let arguments = (ins Fly_Tensor:$source);
  let results = (outs AnyVectorOfNonZeroRank:$result);
}

def Fly_MemRefStoreVecOp : Fly_Op<"memref.store_vec", [Fly_AnyEffect]> {
  let summary = "stores a vector to all elements, in column-major order";
  let arguments = (ins AnyVectorOfNonZeroRank:$vector, Fly_MemRefType:$dst);
}

def Fly_MemRefLoadOp : Fly_InferredOp<"memref.load",
    "inferMemRefLoad(location, adaptor.getSource().getType(), adaptor.getCoord().getType())",
    [Fly_AnyEffect]> {
  let summary = "the element at a coordinate";
  let arguments = (ins Fly_Tensor:$source, Fly_IntTupleType:$coord);
  let results = (outs AnyType:$result);
}

def Fly_MemRefStoreOp : Fly_Op<"memref.store", [Fly_AnyEffect]> {
  let summary = "stores an element at a coordinate";
  let arguments = (ins AnyType:$value, Fly_MemRefType:$dst, Fly_IntTupleType:$coord);
}

#endif // FLY_DIALECT_FLY_IR_MEMORYOPS_TD

// SPDX-License-Identifier: Apache-2.0
//
// Result types of the ops that put values together or take them apart as they are, without algebra.

#include "fly/Dialect/Fly/IR/Infer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

using namespace mlir;

namespace fly {

// --- constructors
// --------------------------------------------------------------------------------------

InferredType inferMakeLayout(InferLocation, Type shape, Type stride) {
  return LayoutType::get(shape.getContext(), Layout(cast<IntTupleType>(shape).getValue(),
                                                    cast<IntTupleType>(stride).getValue()));
}

InferredType inferMakeComposedLayout(InferLocation loc, Type inner, Type offset, Type outer) {
  std::optional<InnerMap> innerMap = getInnerMap(inner);
  std::optional<AnyLayout> outerLayout = getAnyLayout(outer);
  if (!innerMap || !outerLayout)
    return emitOptionalError(loc, "MakeComposedLayoutOp: cannot compose ", inner, " with ", outer);
  ComposedLayout composed(*innerMap, cast<IntTupleType>(offset).getValue(), *outerLayout);
  if (composed.depth() > kMaxDepth)
    return emitOptionalError(loc, "MakeComposedLayoutOp: layouts nest deeper than ", kMaxDepth);
  return ComposedLayoutType::get(inner.getContext(), composed);
}

InferredType inferMakeView(InferLocation, Type iter, Type layout) {
  AnyLayout value = *getAnyLayout(layout);
  if (auto pointer = dyn_cast<PointerType>(iter))
    return MemRefType::get(pointer, value);
  return CoordTensorType::get(iter.getContext(), cast<IntTupleType>(iter).getValue(), value);
}

// --- extractors
// ----------------------------------------------------------------------------------------

InferredType inferGetScalar(InferLocation loc, Type tuple) {
  const IntTuple value = cast<IntTupleType>(tuple).getValue();
  const IntTuple *leaf = &value;
  while (leaf->isTuple() && leaf->rank() == 1)
    leaf = &leaf->mode(0);
  if (leaf->isTuple())
    return emitOptionalError(loc, "GetScalarOp: expected a scalar IntTuple, got ", tuple);
  // None has no width; as an integer it is one of 0 bits.
  return IntegerType::get(tuple.getContext(), leaf->width());
}

static void collectLeaves(const IntTuple &tuple, bool dynamicOnly, SmallVectorImpl<Type> &types,
                          MLIRContext *context) {
  if (tuple.isTuple()) {
    for (const IntTuple &mode : tuple.modes())
      collectLeaves(mode, dynamicOnly, types, context);
    return;
  }
  if (!dynamicOnly || tuple.isDynamicLeaf())
    types.push_back(IntegerType::get(context, tuple.isNone() ? 32 : tuple.width()));
}

InferredTypes inferGetLeaves(InferLocation, Type tuple, bool dynamicOnly) {
  SmallVector<Type> types;
  collectLeaves(cast<IntTupleType>(tuple).getValue(), dynamicOnly, types, tuple.getContext());
  return types;
}

InferredType inferGetShape(InferLocation, Type layoutLike) {
  return IntTupleType::get(layoutLike.getContext(), getAnyLayout(layoutLike)->outermost().shape());
}

InferredType inferGetStride(InferLocation loc, Type layoutLike) {
  AnyLayout layout = *getAnyLayout(layoutLike);
  if (!layout.isComposed())
    return IntTupleType::get(layoutLike.getContext(), layout.plain().stride());
  StringRef what = isa<MemRefType>(layoutLike)        ? "MemRefType with ComposedLayout"
                   : isa<CoordTensorType>(layoutLike) ? "CoordTensorType with ComposedLayout"
                                                      : "ComposedLayoutType";
  return emitOptionalError(loc, "GetStrideOp: unsupported ", what);
}

InferredType inferGetLayout(InferLocation loc, Type tensor) {
  if (!isa<MemRefType, CoordTensorType>(tensor))
    return emitOptionalError(loc, "GetLayoutOp: expected TensorLikeType, got ", tensor);
  return getLayoutType(tensor.getContext(), *getAnyLayout(tensor));
}

InferredType inferGetIter(InferLocation loc, Type tensor) {
  if (auto memref = dyn_cast<MemRefType>(tensor))
    return memref.getPointerType();
  if (auto coordinates = dyn_cast<CoordTensorType>(tensor))
    return IntTupleType::get(tensor.getContext(), coordinates.getBase());
  return emitOptionalError(loc, "GetIterOp: expected TensorLikeType, got ", tensor);
}

InferredType inferComposedGetInner(InferLocation, Type layout) {
  return getInnerMapType(layout.getContext(), cast<ComposedLayoutType>(layout).getValue().inner());
}

InferredType inferComposedGetOffset(InferLocation, Type layout) {
  return IntTupleType::get(layout.getContext(),
                           cast<ComposedLayoutType>(layout).getValue().offset());
}

InferredType inferComposedGetOuter(InferLocation, Type layout) {
  return getLayoutType(layout.getContext(), cast<ComposedLayoutType>(layout).getValue().outer());
}

// --- pointers
// ------------------------------------------------------------------------------------------

InferredType inferGetDynShared(MLIRContext *context) {
  return PointerType::get(IntegerType::get(context, 8),
                          AddressSpaceAttr::get(context, AddressSpace::Shared), 1024);
}

InferredType inferPtrToInt(InferLocation loc, Type pointer) {
  auto type = cast<PointerType>(pointer);
  if (type.isInSpace(AddressSpace::Shared))
    return IntegerType::get(pointer.getContext(), 32);
  if (type.isInSpace(AddressSpace::Global))
    return IntegerType::get(pointer.getContext(), 64);
  return emitOptionalError(loc, "PtrToIntOp: expected Shared or Global address space, got ",
                           type.getAddressSpace());
}

InferredType inferToLLVMPtr(InferLocation loc, Type pointer, int32_t llvmAddressSpace) {
  if (llvmAddressSpace < 0)
    return emitOptionalError(loc, "ToLLVMPtrOp: llvm_address_space must be non-negative, got ",
                             llvmAddressSpace);
  // What is traced has few dialects at first; most programs need no pointer of LLVM's.
  pointer.getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  return LLVM::LLVMPointerType::get(pointer.getContext(), llvmAddressSpace);
}

// --- atoms
// ---------------------------------------------------------------------------------------------

InferredType inferAtomSetValue(InferLocation, Type atom) { return atom; }

InferredType inferGetCopyAtom(InferLocation, Type tiledCopy) {
  return cast<TiledCopyType>(tiledCopy).getAtom();
}

InferredType inferGetMmaAtom(InferLocation, Type tiledMma) {
  return cast<TiledMmaType>(tiledMma).getAtom();
}

InferredType inferMakeTiledCopy(InferLocation loc, Type atom, Type layoutTV, Type tile) {
  if (!isStaticType(layoutTV))
    return emitOptionalError(loc, "MakeTiledCopyOp: LayoutType is not static, got ", layoutTV);
  return TiledCopyType::get(atom.getContext(), cast<CopyAtomType>(atom), cast<LayoutType>(layoutTV),
                            cast<TileType>(tile));
}

InferredType inferMakeTiledMma(InferLocation loc, Type atom, Type atomLayout, Type permutation) {
  if (!isStaticType(atomLayout))
    return emitOptionalError(loc, "MakeTiledMmaOp: LayoutType is not static, got ", atomLayout);
  if (!isTileable(cast<MmaAtomType>(atom)))
    return emitOptionalError(loc, "MakeTiledMmaOp: the atom must be dense and of one block, got ",
                             cast<MmaAtomType>(atom).getMmaOp());
  if (!permutation)
    return TiledMmaType::get(cast<MmaAtomType>(atom), cast<LayoutType>(atomLayout));
  return TiledMmaType::get(atom.getContext(), cast<MmaAtomType>(atom), cast<LayoutType>(atomLayout),
                           cast<TileType>(permutation));
}

} // namespace fly

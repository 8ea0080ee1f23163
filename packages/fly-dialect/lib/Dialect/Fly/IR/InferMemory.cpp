// SPDX-License-Identifier: Apache-2.0
//
// Result types of ops on pointers and of memory accesses.

#include "InferSupport.h"

#include "fly/Algebra/Alignment.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/TupleArithmetic.h"

using namespace mlir;
using namespace fly;

InferredType fly::inferAddOffset(InferLocation loc, Type iter, Type offset) {
  const IntTuple distance = tupleOf(offset);
  if (auto pointer = dyn_cast<PointerType>(iter)) {
    if (!distance.isLeaf() || distance.isBasis())
      return emitOptionalError(
          loc, "AddOffsetOp: offset must be a scalar (leaf int) IntTuple, got ", offset);
    return advancePointer(pointer, distance);
  }
  return inferWith(loc, "AddOffsetOp", iter.getContext(),
                   [&](AlgebraContext &cx) { return tupleAdd(cx, tupleOf(iter), distance); });
}

InferredType fly::inferApplySwizzle(InferLocation, Type pointer, Type swizzle) {
  auto type = cast<PointerType>(pointer);
  const Swizzle value = cast<SwizzleType>(swizzle).getValue();
  const int64_t alignment =
      alignmentAfterSwizzle(type.getAlignment(), getElementBitWidth(type.getElementType()), value);
  return PointerType::get(type.getElementType(), type.getAddressSpace(),
                          static_cast<int32_t>(alignment), value);
}

InferredType fly::inferDecomposition(InferLocation loc, Type tensor) {
  return inferWith(loc, "DecompositionOp", tensor.getContext(), [&](AlgebraContext &cx) {
    return evaluate::decomposition(cx, std::get<TensorValue>(valueOf(tensor)));
  });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Whether any leaf of `tuple` is 64 bits wide.
static bool hasWideLeaf(const IntTuple &tuple) {
  bool wide = false;
  forEachLeaf(tuple, [&](const IntTuple &leaf) { wide |= leaf.width() == 64; });
  return wide;
}

InferredType fly::inferMemRefLoadVec(InferLocation loc, Type tensor) {
  const AnyLayout layout = *getAnyLayout(tensor);
  if (layout.isComposed())
    return emitOptionalError(
        loc, "MemRefLoadVecOp: ", isa<MemRefType>(tensor) ? "MemRefType" : "CoordTensorTy",
        " with ComposedLayout is not supported");
  AlgebraContext cx;
  const IntTuple size = layoutSize(cx, layout.plain());
  if (cx.failed())
    return emitOptionalError(loc, "MemRefLoadVecOp: ", cx.message());
  if (!size.isStaticLeaf() || size.isBasis())
    return emitOptionalError(
        loc, "MemRefLoadVecOp: layout size must be static and leaf int, got #fly<int_tuple",
        size.str(), ">");
  if (size.staticValue() <= 0)
    return emitOptionalError(loc, "MemRefLoadVecOp: layout size must be positive, got ",
                             size.str());
  if (auto memref = dyn_cast<MemRefType>(tensor))
    return Type(VectorType::get({size.staticValue()}, memref.getElementType()));
  const IntTuple base = cast<CoordTensorType>(tensor).getBase();
  if (!base.isLeaf() || base.isBasis())
    return emitOptionalError(
        loc, "MemRefLoadVecOp: CoordTensor base must be a leaf int, got #fly<int_tuple", base.str(),
        ">");
  const bool wide = hasWideLeaf(base) || hasWideLeaf(layout.plain().stride());
  return Type(
      VectorType::get({size.staticValue()}, IntegerType::get(tensor.getContext(), wide ? 64 : 32)));
}

InferredType fly::inferMemRefLoad(InferLocation loc, Type tensor, Type coord) {
  const auto value = std::get<TensorValue>(valueOf(tensor));
  AlgebraContext cx;
  const TensorValue element =
      evaluate::advance(cx, value, crd2idx(cx, tupleOf(coord), value.layout));
  if (cx.failed())
    return emitOptionalError(loc, "MemRefLoadOp: ", cx.message());
  if (value.isMemRef())
    return value.pointer.getElementType();
  return Type(IntTupleType::get(tensor.getContext(), element.offset));
}

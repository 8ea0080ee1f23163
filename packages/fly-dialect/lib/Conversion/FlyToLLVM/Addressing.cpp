// SPDX-License-Identifier: Apache-2.0
#include "Addressing.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace fly::lowering {

Value constantI32(OpBuilder &builder, Location loc, int32_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}

Value constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value asI32(OpBuilder &builder, Location loc, Value value) {
  Type i32 = builder.getI32Type();
  Type type = value.getType();
  if (type == i32)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, i32, value);
  if (!type.isSignlessInteger())
    return Value();
  if (type.getIntOrFloatBitWidth() > 32)
    return arith::TruncIOp::create(builder, loc, i32, value);
  return arith::ExtSIOp::create(builder, loc, i32, value);
}

Value elementsToBytes(OpBuilder &builder, Location loc, Value elements, Type elementType) {
  int32_t bits = getElementBitWidth(elementType);
  if (bits == 8)
    return elements;
  if (bits % 8 == 0)
    return arith::MulIOp::create(builder, loc, elements, constantI32(builder, loc, bits / 8));
  Value total = arith::MulIOp::create(builder, loc, elements, constantI32(builder, loc, bits));
  return arith::DivUIOp::create(builder, loc, total, constantI32(builder, loc, 8));
}

Value applySwizzle(OpBuilder &builder, Location loc, Value address, const Swizzle &swizzle) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(address.getType(), value));
  };
  Value mask = constant(swizzle.sourceMask());
  Value shift = constant(swizzle.shift);
  Value masked = arith::AndIOp::create(builder, loc, address, mask);
  Value shifted = arith::ShRUIOp::create(builder, loc, masked, shift);
  return arith::XOrIOp::create(builder, loc, address, shifted);
}

Value swizzlePointer(OpBuilder &builder, Location loc, Value pointer, const Swizzle &swizzle) {
  if (swizzle.isTrivial())
    return pointer;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
  address = applySwizzle(builder, loc, address, swizzle);
  return LLVM::IntToPtrOp::create(builder, loc, pointer.getType(), address);
}

int64_t accessAlignment(int64_t pointerAlignment, const Swizzle &swizzle) {
  int64_t alignment = pointerAlignment;
  if (!swizzle.isTrivial() && swizzle.base >= 0)
    alignment = std::gcd(alignment, int64_t(1) << std::min(swizzle.base, 30));
  return std::max<int64_t>(alignment & -alignment, 1);
}

Value offsetValue(OpBuilder &builder, Location loc, Value offset) {
  IntTuple leaf = cast<IntTupleType>(offset.getType()).getValue();
  while (leaf.isTuple() && leaf.rank() == 1)
    leaf = IntTuple(leaf.mode(0));
  if (leaf.isStaticLeaf())
    return constantI32(builder, loc, leaf.staticValue());
  auto made = offset.getDefiningOp<MakeIntTupleOp>();
  if (!leaf.isDynamicLeaf() || !made || made.getDynamicLeaves().size() != 1)
    return Value();
  return made.getDynamicLeaves().front();
}

std::optional<SmallVector<Value>> tileOrigin(OpBuilder &builder, Location loc, Value tensor,
                                             size_t rank) {
  auto view = tensor.getDefiningOp<MakeViewOp>();
  auto base = view ? view.getIter().getDefiningOp<MakeIntTupleOp>() : MakeIntTupleOp();
  if (!base)
    return std::nullopt;
  SmallVector<Value> origin;
  ValueRange leaves = base.getDynamicLeaves();
  bool complete = true;
  forEachLeaf(cast<IntTupleType>(base.getResult().getType()).getValue(), [&](const IntTuple &leaf) {
    if (leaf.isStaticLeaf()) {
      origin.push_back(constantI32(builder, loc, leaf.staticValue()));
    } else if (!leaves.empty()) {
      origin.push_back(asI32(builder, loc, leaves.front()));
      leaves = leaves.drop_front();
    } else {
      complete = false;
    }
  });
  if (!complete || origin.size() != rank)
    return std::nullopt;
  return origin;
}

int64_t bitWidthOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * bitWidthOf(vector.getElementType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

Value reinterpret(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  int64_t bits = bitWidthOf(type);
  if (bits == 0 || bits != bitWidthOf(value.getType()))
    return Value();
  return LLVM::BitcastOp::create(builder, loc, type, value);
}

} // namespace fly::lowering

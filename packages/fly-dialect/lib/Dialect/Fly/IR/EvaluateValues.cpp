// SPDX-License-Identifier: Apache-2.0
//
// Between types and the values that they spell.

#include "fly/Algebra/Alignment.h"
#include "fly/Dialect/Fly/IR/Evaluate.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fly;

std::optional<FlyValue> fly::getFlyValue(Type type) {
  return llvm::TypeSwitch<Type, std::optional<FlyValue>>(type)
      .Case<IntTupleType, BasisType>([](auto spelled) { return spelled.getValue(); })
      .Case<LayoutType, ComposedLayoutType>(
          [](auto spelled) { return AnyLayout(spelled.getValue()); })
      .Case<SwizzleType, CoordSwizzleType>(
          [](auto spelled) { return InnerMap(spelled.getValue()); })
      .Case<TileType>([](TileType tile) { return tile.getValue(); })
      .Case<MemRefType>([](MemRefType memref) {
        return TensorValue{memref.getPointerType(), 0, memref.getLayout()};
      })
      .Case<CoordTensorType>([](CoordTensorType tensor) {
        return TensorValue{{}, tensor.getBase(), tensor.getLayout()};
      })
      .Default(std::nullopt);
}

PointerType fly::advancePointer(PointerType pointer, const IntTuple &offset) {
  const Type element = pointer.getElementType();
  const int64_t alignment =
      alignmentAfterOffset(pointer.getAlignment(), getElementBitWidth(element), offset);
  return PointerType::get(element, pointer.getAddressSpace(), static_cast<int32_t>(alignment),
                          pointer.getSwizzle());
}

static Type typeOfTensor(MLIRContext *context, const TensorValue &tensor) {
  const AnyLayout layout = tensor.layout.withoutHandles();
  if (!tensor.isMemRef())
    return CoordTensorType::get(context, tensor.offset.withoutHandles(), layout);
  return fly::MemRefType::get(advancePointer(tensor.pointer, tensor.offset), layout);
}

Type fly::getTypeOf(MLIRContext *context, const FlyValue &value) {
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    return IntTupleType::get(context, tuple->withoutHandles());
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return getLayoutType(context, layout->withoutHandles());
  if (const auto *inner = std::get_if<InnerMap>(&value))
    return getInnerMapType(context, inner->withoutHandles());
  if (const auto *tile = std::get_if<Tile>(&value))
    return TileType::get(context, *tile);
  return typeOfTensor(context, std::get<TensorValue>(value));
}

// SPDX-License-Identifier: Apache-2.0
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::lowering {

Type getAtomOperation(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case([](CopyAtomType atom) { return atom.getCopyOp(); })
      .Case([](MmaAtomType atom) { return atom.getMmaOp(); })
      .Case([](TiledCopyType tiled) { return tiled.getAtom().getCopyOp(); })
      .Case([](TiledMmaType tiled) { return tiled.getAtom().getMmaOp(); })
      .Default([](Type) { return Type(); });
}

LLVM::LLVMStructType getAtomStateType(Type operation) {
  if (auto stateful = dyn_cast<StatefulOpTypeInterface>(operation))
    return cast<LLVM::LLVMStructType>(stateful.getStateType());
  return LLVM::LLVMStructType::getLiteral(operation.getContext(), {});
}

/// Reads a narrow float as its integer or the other way round, where an op that stays disagrees
/// with one that was converted.
static Value castNarrowFloat(OpBuilder &builder, Type type, ValueRange inputs, Location loc) {
  if (inputs.size() != 1 || type == inputs.front().getType() ||
      getStorageType(type) != getStorageType(inputs.front().getType()))
    return Value();
  return arith::BitcastOp::create(builder, loc, type, inputs.front());
}

const DeviceConversion &deviceOf(const ConversionPattern &pattern) {
  return static_cast<const DeviceTypeConverter *>(pattern.getTypeConverter())->device;
}

DeviceTypeConverter::DeviceTypeConverter(const DeviceConversion &device) : device(device) {
  addConversion([](Type type) { return type; });
  addConversion([](FloatType type) { return getStorageType(type); });
  addConversion([](VectorType type) { return getStorageType(type); });
  addConversion(
      [&device](fly::PointerType type) { return device.convertPointer(type.getAddressSpace()); });
  addConversion(
      [&device](fly::MemRefType type) { return device.convertPointer(type.getAddressSpace()); });
  auto convertAtom = [](Type type) -> Type { return getAtomStateType(getAtomOperation(type)); };
  addConversion([=](CopyAtomType type) { return convertAtom(type); });
  addConversion([=](MmaAtomType type) { return convertAtom(type); });
  addConversion([=](TiledCopyType type) { return convertAtom(type); });
  addConversion([=](TiledMmaType type) { return convertAtom(type); });
  addSourceMaterialization(castNarrowFloat);
  addTargetMaterialization(castNarrowFloat);
}

} // namespace fly::lowering

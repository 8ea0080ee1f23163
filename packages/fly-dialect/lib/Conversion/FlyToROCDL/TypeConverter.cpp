// SPDX-License-Identifier: Apache-2.0
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::rocdl {

bool isBufferSpace(Attribute addressSpace) { return isa_and_nonnull<BufferDescAttr>(addressSpace); }

unsigned getLLVMAddressSpace(Attribute addressSpace) {
  auto known = dyn_cast_or_null<AddressSpaceAttr>(addressSpace);
  if (!known)
    return 0;
  switch (known.getValue()) {
  case AddressSpace::Generic:
    return 0;
  case AddressSpace::Global:
    return 1;
  case AddressSpace::Shared:
    return 3;
  case AddressSpace::Register:
    return 5;
  }
  llvm_unreachable("unknown address space");
}

LLVM::LLVMStructType getBufferPointerType(MLIRContext *context) {
  return LLVM::LLVMStructType::getLiteral(
      context, {LLVM::LLVMPointerType::get(context, 8), IntegerType::get(context, 32)});
}

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

static Type convertPointer(Attribute addressSpace) {
  MLIRContext *context = addressSpace.getContext();
  if (isBufferSpace(addressSpace))
    return getBufferPointerType(context);
  return LLVM::LLVMPointerType::get(context, getLLVMAddressSpace(addressSpace));
}

/// Reads a narrow float as its integer or the other way round, where an op that stays disagrees
/// with one that was converted.
static Value castNarrowFloat(OpBuilder &builder, Type type, ValueRange inputs, Location loc) {
  if (inputs.size() != 1 || type == inputs.front().getType() ||
      getStorageType(type) != getStorageType(inputs.front().getType()))
    return Value();
  return arith::BitcastOp::create(builder, loc, type, inputs.front());
}

FlyToROCDLTypeConverter::FlyToROCDLTypeConverter(MLIRContext *context) {
  (void)context;
  addConversion([](Type type) { return type; });
  addConversion([](FloatType type) { return getStorageType(type); });
  addConversion([](VectorType type) { return getStorageType(type); });
  addConversion([](fly::PointerType type) { return convertPointer(type.getAddressSpace()); });
  addConversion([](fly::MemRefType type) { return convertPointer(type.getAddressSpace()); });
  auto convertAtom = [](Type type) -> Type { return getAtomStateType(getAtomOperation(type)); };
  addConversion([=](CopyAtomType type) { return convertAtom(type); });
  addConversion([=](MmaAtomType type) { return convertAtom(type); });
  addConversion([=](TiledCopyType type) { return convertAtom(type); });
  addConversion([=](TiledMmaType type) { return convertAtom(type); });
  addSourceMaterialization(castNarrowFloat);
  addTargetMaterialization(castNarrowFloat);
}

} // namespace fly::rocdl

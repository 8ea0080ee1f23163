// SPDX-License-Identifier: Apache-2.0
#include "NVVMDevice.h"
#include "../FlyToLLVM/AtomState.h"
#include "../FlyToLLVM/TypeConverter.h"
#include "AtomCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::nvvm {

// Registers are memory of the thread, which a generic pointer reaches too: allocas of LLVM's NVPTX
// back end are generic.
Type NVVMDevice::convertPointer(Attribute addressSpace) const {
  auto known = dyn_cast_or_null<AddressSpaceAttr>(addressSpace);
  if (!known)
    return Type();
  unsigned number = 0;
  switch (known.getValue()) {
  case AddressSpace::Generic:
  case AddressSpace::Register:
    break;
  case AddressSpace::Global:
    number = 1;
    break;
  case AddressSpace::Shared:
    number = 3;
    break;
  }
  return LLVM::LLVMPointerType::get(addressSpace.getContext(), number);
}

std::optional<StringRef> NVVMDevice::getSyncScope(StringRef scope) const {
  return llvm::StringSwitch<std::optional<StringRef>>(scope)
      .Case("", "")
      .Case("agent", "device")
      .Case("cluster", "cluster")
      .Case("workgroup", "block")
      // There is no scope of a warp: that of the block has it in.
      .Case("wavefront", "block")
      .Case("singlethread", "singlethread")
      .Default(std::nullopt);
}

lowering::CopyResult NVVMDevice::lowerCopy(OpBuilder &builder, Type operation,
                                           const lowering::CopyCall &call) const {
  return llvm::TypeSwitch<Type, lowering::CopyResult>(operation)
      .Case([&](LdMatrixType type) { return lowerLdMatrix(builder, type, call); })
      .Case([&](StMatrixType type) { return lowerStMatrix(builder, type, call); })
      .Case([&](SM80CpAsyncType type) { return lowerCpAsync(builder, type, call); })
      .Case([&](SM90TMALoadType type) { return lowerTMALoad(builder, type, call); })
      .Case([&](SM90TMAStoreType type) { return lowerTMAStore(builder, type, call); })
      .Case([&](SM90TMAReduceType type) { return lowerTMAReduce(builder, type, call); })
      .Default([](Type) { return failure(); });
}

bool NVVMDevice::fillsWithZeros(Type operation) const { return isa<SM80CpAsyncType>(operation); }

FailureOr<Value> NVVMDevice::lowerMma(OpBuilder &builder, Type operation,
                                      const lowering::MmaCall &call) const {
  if (auto wgmma = dyn_cast<SM90WGMMAType>(operation))
    return lowerWGMMA(builder, wgmma, call, open);
  if (auto mma = dyn_cast<SM80MmaSyncType>(operation))
    return lowerMmaSync(builder, mma, call);
  return failure();
}

// New products add to what the accumulators hold.
Value NVVMDevice::defaultState(OpBuilder &builder, Location loc, Type operation) const {
  Value state = lowering::zeroState(builder, loc, operation);
  if (!isa<SM90WGMMAType>(operation))
    return state;
  Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return lowering::writeField(builder, loc, state, 0, yes);
}

} // namespace fly::nvvm

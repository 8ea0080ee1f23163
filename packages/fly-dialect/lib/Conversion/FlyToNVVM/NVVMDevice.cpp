// SPDX-License-Identifier: Apache-2.0
#include "NVVMDevice.h"

#include "llvm/ADT/StringSwitch.h"

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

} // namespace fly::nvvm

// SPDX-License-Identifier: Apache-2.0
#include "emulated_memory.h"

namespace flydsl::runtime {

void EmulatedMemory::add(const ArgumentSite &site, const CheckedTensor &tensor) {
  if (tensor.empty)
    return;
  const Argument &argument = site.argument();
  try {
    FLYDSL_HIP_CALL(api, flyemu_register_memory, static_cast<const void *>(tensor.low),
                    tensor.bytes, argument.writes ? 0 : 1, argument.name.c_str());
  } catch (Failure &failure) {
    fail(failure.status, site.text() + ": " + failure.text);
  }
  registered[count++] = tensor.low;
}

EmulatedMemory::~EmulatedMemory() {
  // In the reverse order: the emulator undoes the latest registration of an address.
  while (count > 0)
    (void)api.flyemu_unregister_memory(registered[--count]);
}

} // namespace flydsl::runtime

// SPDX-License-Identifier: Apache-2.0
//
// On the emulator, a framework's host memory is device memory for the length of a call.
#ifndef FLYDSL_CSRC_EMULATED_MEMORY_H
#define FLYDSL_CSRC_EMULATED_MEMORY_H

#include "hip_api.h"
#include "small_buffer.h"
#include "tensor_check.h"

namespace flydsl::runtime {

// Registers the exact byte range of each tensor under its argument's name, and takes all of them
// back at the end of the scope: launches on the emulator have ended by then. What another thread's
// call still uses stays registered until that one ends.
class EmulatedMemory {
public:
  EmulatedMemory(const HipApi &api, size_t mostTensors) : api(api), used(mostTensors) {}
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory &) = delete;
  EmulatedMemory &operator=(const EmulatedMemory &) = delete;

  void add(const ArgumentSite &site, const CheckedTensor &tensor);

private:
  const HipApi &api;
  SmallBuffer<const void *, 16> used;
  size_t count = 0;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_EMULATED_MEMORY_H

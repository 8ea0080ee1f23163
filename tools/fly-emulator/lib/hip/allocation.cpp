// SPDX-License-Identifier: Apache-2.0
#include "hip/allocation.h"

#include <cstdlib>

#include "hip/runtime.h"
#include "support/format.h"

namespace flyemu {

void *allocate(size_t bytes, MemoryKind kind, unsigned flags) {
  Runtime &runtime = Runtime::instance();
  const Device &device = runtime.device(runtime.current());
  if (bytes == 0)
    return nullptr;
  const uint64_t used = MemoryMap::instance().allocated(device.ordinal);
  const uint64_t total = device.architecture->memoryBytes;
  if (bytes > total || used > total - bytes)
    throw EmulatorError(hipErrorOutOfMemory,
                        format("%llu bytes: the emulated device has %llu of %llu left",
                               static_cast<unsigned long long>(bytes),
                               static_cast<unsigned long long>(total - used),
                               static_cast<unsigned long long>(total)));
  const size_t padded =
      (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment +
      2 * kAllocationGuard;
  auto *memory = static_cast<uint8_t *>(std::aligned_alloc(kAllocationAlignment, padded));
  if (memory == nullptr)
    throw EmulatorError(hipErrorOutOfMemory, "the host has no memory for a device allocation");
  MemoryRange range;
  range.begin = reinterpret_cast<uint64_t>(memory) + kAllocationGuard;
  range.end = range.begin + bytes;
  range.kind = kind;
  range.device = device.ordinal;
  range.flags = flags;
  range.name = kind == MemoryKind::Host ? "host allocation" : "device allocation";
  MemoryMap::instance().add(range);
  return memory + kAllocationGuard;
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
//
// On the emulator, a framework's host memory is device memory for the length of a call.
#ifndef FLYDSL_CSRC_EMULATED_MEMORY_H
#define FLYDSL_CSRC_EMULATED_MEMORY_H

#include "hip_api.h"
#include "small_buffer.h"
#include "tensor_check.h"

namespace flydsl::runtime {

// Registers the exact byte range of each tensor under its argument's name at the call's first
// launch, and takes all of them back at the end of the scope: launches on the emulator have ended
// by then. What another thread's call still uses stays registered until that one ends.
class EmulatedMemory {
public:
  EmulatedMemory(const HipApi &api, const Note &note, size_t mostTensors)
      : api(api), note(note), ranges(mostTensors) {}
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory &) = delete;
  EmulatedMemory &operator=(const EmulatedMemory &) = delete;

  // `tensor` is read again at the first launch.
  void add(size_t argument, const CheckedTensor &checked, const DLTensor &tensor) {
    if (!checked.empty)
      ranges[count++] = {argument, checked.low, checked.bytes, &tensor};
  }

  // To be called before each launch; does it once.
  void register_all() {
    while (registered < count)
      register_one(ranges[registered]);
  }

private:
  struct Range {
    size_t argument;
    const void *low;
    size_t bytes;
    const DLTensor *tensor;
  };

  void register_one(const Range &range);
  void tell_emulator(const Range &range, const Argument &argument) const;

  const HipApi &api;
  const Note &note;
  SmallBuffer<Range, 16> ranges;
  size_t count = 0;
  size_t registered = 0;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_EMULATED_MEMORY_H

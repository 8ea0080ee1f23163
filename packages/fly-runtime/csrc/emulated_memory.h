// SPDX-License-Identifier: Apache-2.0
//
// On the emulator, a framework's host memory is device memory for the length of a call.
#ifndef FLYDSL_CSRC_EMULATED_MEMORY_H
#define FLYDSL_CSRC_EMULATED_MEMORY_H

#include "hip_api.h"
#include "host_mappings.h"
#include "small_buffer.h"
#include "tensor_check.h"

namespace flydsl::runtime {

// Registers the exact byte range of each tensor under its argument's name at the call's first
// launch, and takes all of them back at the end of the scope: launches on the emulator have ended
// by then. What another thread's call still uses stays registered until that one ends.
//
// Of a pointer nobody knows how much memory belongs to it. Where it is neither the emulator's own
// memory nor in a tensor of the call, all that the process has mapped around it is registered.
class EmulatedMemory {
public:
  EmulatedMemory(const HipApi &api, const Note &note, size_t mostRanges)
      : api(api), note(note), ranges(mostRanges) {}
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory &) = delete;
  EmulatedMemory &operator=(const EmulatedMemory &) = delete;

  // `tensor` is read again at the first launch.
  void add(size_t argument, const CheckedTensor &checked, const DLTensor &tensor) {
    if (!checked.empty)
      ranges[count++] = {argument, checked.low, checked.bytes, &tensor};
  }

  void add_pointer(size_t argument, const void *address) {
    if (address != nullptr)
      pointers.push_back({argument, address});
  }

  // To be called before each launch; does it once.
  void register_all() {
    while (registered < count)
      register_tensor(ranges[registered]);
    if (!pointers.empty())
      register_pointers();
  }

private:
  struct Range {
    size_t argument;
    const void *low;
    size_t bytes;
    const DLTensor *tensor; // null: a mapping
  };
  struct GivenPointer {
    size_t argument;
    const void *address;
  };

  void register_tensor(const Range &range);
  void register_pointers();
  bool is_known(const void *address);
  void register_one(const Range &range, bool readOnly, const std::string &name);
  void tell_emulator(const Range &range, bool readOnly, const std::string &name) const;

  const HipApi &api;
  const Note &note;
  SmallBuffer<Range, 16> ranges;
  size_t count = 0;
  size_t registered = 0;
  std::vector<GivenPointer> pointers; // those whose memory is not registered yet
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_EMULATED_MEMORY_H

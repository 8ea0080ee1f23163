// SPDX-License-Identifier: Apache-2.0
//
// On the emulator, a framework's host memory is device memory for the length of a call.
#ifndef FLYDSL_CSRC_EMULATED_MEMORY_H
#define FLYDSL_CSRC_EMULATED_MEMORY_H

#include "device_api.h"
#include "host_mappings.h"
#include "small_buffer.h"
#include "tensor_check.h"

#include <vector>

namespace flydsl::runtime {

struct Registered;

// Registers the exact byte range of each tensor under its argument's name at the call's first
// launch, and takes all of them back at the end of the scope: launches on the emulator have ended
// by then. What another thread's call still uses stays registered until that one ends.
//
// Of a pointer nobody knows how much memory belongs to it. Where it is neither the emulator's own
// memory nor in a tensor of the call, all that the process has mapped around it is registered.
// Kernels also take addresses as 64-bit integers, one by one or in tables: a 64-bit scalar, or an
// element of a tensor of 64-bit integers, that is an address of the process counts as a pointer.
class EmulatedMemory {
public:
  EmulatedMemory(const DeviceApi &api, const Note &note) : api(api), note(note) {}
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory &) = delete;
  EmulatedMemory &operator=(const EmulatedMemory &) = delete;

  // `tensor` is read again at the first launch.
  void add(size_t argument, const CheckedTensor &checked, const DLTensor &tensor) {
    if (checked.empty)
      return;
    ranges.push_back({argument, checked.low, checked.bytes, &tensor, nullptr});
    const Argument &declared = note.arguments[argument];
    // What a kernel stores into is a result: what lies in it before may be anything, and what looks
    // like an address by chance would open a whole mapping to the kernel.
    if (declared.dtype->is_integer_of(64) && declared.reads && !declared.stored)
      tables.push_back(ranges.size() - 1);
  }

  void add_pointer(size_t argument, const void *address) {
    if (address != nullptr)
      pointers.push_back({argument, address, "a pointer"});
  }

  void add_integer(size_t argument, uint64_t value) {
    if (note.arguments[argument].dtype->is_integer_of(64))
      add_address(argument, value);
  }

  // To be called before each launch; does it once.
  void register_all() {
    if (registered != 0)
      return;
    register_tensors();
    for (const size_t table : tables)
      add_addresses_of(ranges[table]);
    if (!pointers.empty())
      register_pointers();
  }

private:
  struct Range {
    size_t argument;
    const void *low;
    size_t bytes;
    const DLTensor *tensor; // null: a mapping
    Registered *known;      // null until it is registered: what there is at its address
  };
  struct GivenPointer {
    size_t argument;
    const void *address;
    const char *kind; // for reports
  };

  void add_address(size_t argument, uint64_t value);
  void add_addresses_of(const Range &range);

  void register_tensors();
  void register_pointers();
  bool is_known(const void *address);
  // Registers the first range that is not, under a name that lives as long as the process. The
  // registry is locked.
  void register_next(bool readOnly, const std::string &name);
  void tell_emulator(const Range &range, bool readOnly, const std::string &name) const;

  const DeviceApi &api;
  const Note &note;
  SmallVector<Range, 16> ranges;
  size_t registered = 0;
  std::vector<size_t> tables;         // ranges of 64-bit integers
  std::vector<GivenPointer> pointers; // those whose memory is not registered yet
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_EMULATED_MEMORY_H

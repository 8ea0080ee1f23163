// SPDX-License-Identifier: Apache-2.0
#include "emulated_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace flydsl::runtime {

// What the process has registered at one address. The emulator takes registrations back by address
// alone, the latest first: if one of two calls on different threads did that, it could take the
// other one's, of another length or another right to write. So the last call to leave takes all
// back.
struct Registered {
  struct Range {
    size_t bytes;
    bool readOnly;
    const std::string *name; // lives as long as the process
  };
  std::vector<Range> ranges; // one for each different registration that is in force
  size_t users = 0;          // calls that run on them
};

namespace {

// The entry of an address that no call uses any more stays, without ranges: the next call mostly
// has the same tensors, and allocates nothing then. So many stay.
constexpr size_t kMostKept = 256;

// Of the last addresses, by some of their bits: dividing by the number of a hash table's buckets
// costs more than all else of a registration.
constexpr size_t kRecent = 64;

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, Registered> byAddress;
  std::array<std::pair<const void *, Registered *>, kRecent> recent{};
  std::set<std::string> names; // of mappings

  Registered &at(const void *address) {
    // Frameworks align tensors to 64 bytes, and small ones follow each other.
    auto &[last, known] = recent[(reinterpret_cast<uintptr_t>(address) >> 6) % kRecent];
    if (known == nullptr || last != address) {
      known = &look_up(address);
      last = address;
    }
    return *known;
  }

private:
  Registered &look_up(const void *address) {
    const auto found = byAddress.find(address);
    if (found != byAddress.end())
      return found->second;
    if (byAddress.size() >= kMostKept) {
      recent.fill({});
      for (auto one = byAddress.begin(); one != byAddress.end();)
        one = one->second.users == 0 ? byAddress.erase(one) : std::next(one);
    }
    return byAddress[address];
  }
};

Registry &registry() {
  static auto *registry = new Registry; // outlives static destructors that still call
  return *registry;
}

bool covers(const Registered &registered, size_t bytes, bool readOnly, const std::string &name) {
  return std::any_of(registered.ranges.begin(), registered.ranges.end(), [&](const auto &range) {
    return range.bytes == bytes && range.readOnly == readOnly && *range.name == name;
  });
}

bool holds(const void *low, size_t bytes, const void *address) {
  const auto from = reinterpret_cast<uint64_t>(low), at = reinterpret_cast<uint64_t>(address);
  return from <= at && at - from < bytes;
}

// Whether a call that runs, on this thread or another, has registered the memory.
bool is_of_a_call(const void *address) {
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return std::any_of(all.byAddress.begin(), all.byAddress.end(), [&](const auto &known) {
    const auto &ranges = known.second.ranges;
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const auto &range) { return holds(known.first, range.bytes, address); });
  });
}

} // namespace

void EmulatedMemory::register_tensors() {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  for (const size_t tensors = ranges.size(); registered < tensors;) {
    const Argument &argument = note.arguments[ranges[registered].argument];
    register_next(!argument.writes, argument.name);
  }
}

// What is no readable memory of the process is left to the emulator to refuse, with its report.
void EmulatedMemory::register_pointers() {
  std::vector<HostMapping> mappings;
  for (const GivenPointer &pointer : pointers) {
    if (is_known(pointer.address))
      continue;
    if (mappings.empty())
      mappings = host_mappings();
    const auto found = mapping_of(mappings, reinterpret_cast<uint64_t>(pointer.address));
    if (!found)
      continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells addresses as numbers.
    const auto *low = reinterpret_cast<const void *>(found->low);
    ranges.push_back(
        {pointer.argument, low, static_cast<size_t>(found->high - found->low), nullptr, nullptr});
    std::string name = note.arguments[pointer.argument].name + " (" + pointer.kind +
                       ": the whole mapping, its bounds are unknown)";
    const std::lock_guard<std::mutex> lock(registry().mutex);
    register_next(!found->writable, *registry().names.insert(std::move(name)).first);
  }
  pointers.clear();
}

void EmulatedMemory::add_address(size_t argument, uint64_t value) {
  constexpr uint64_t kLeast = uint64_t{1} << 32; // below are counts and offsets
  if (value >= kLeast)
    // NOLINTNEXTLINE(performance-no-int-to-ptr): kernels take addresses as integers.
    pointers.push_back({argument, reinterpret_cast<const void *>(value), "an address in it"});
}

// A table of pointers is a small tensor; in a large one of 64-bit integers are indices.
void EmulatedMemory::add_addresses_of(const Range &range) {
  constexpr size_t kMostBytes = size_t{1} << 16;
  const auto *bytes = static_cast<const char *>(range.low);
  for (size_t at = 0; range.bytes <= kMostBytes && at + sizeof(uint64_t) <= range.bytes;
       at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, bytes + at, sizeof value);
    add_address(range.argument, value);
  }
}

// Memory of the emulator itself, that somebody else registered, or of this call.
bool EmulatedMemory::is_known(const void *address) {
  for (size_t range = 0; range < registered; ++range)
    if (holds(ranges[range].low, ranges[range].bytes, address))
      return true;
  HipPointerAttributes attributes{};
  if (!api.hipPointerGetAttributes ||
      api.hipPointerGetAttributes.function(&attributes, address) != kSuccess ||
      attributes.type == kHipMemoryTypeUnregistered)
    return false;
  // What another call has registered may be gone before this one ends.
  return !is_of_a_call(address);
}

void EmulatedMemory::register_next(bool readOnly, const std::string &name) {
  Range &range = ranges[registered];
  Registered &known = registry().at(range.low);
  if (!covers(known, range.bytes, readOnly, name)) {
    known.ranges.push_back({range.bytes, readOnly, &name});
    try {
      tell_emulator(range, readOnly, name);
    } catch (Failure &failure) {
      known.ranges.pop_back();
      fail(failure.status, ArgumentSite{note, range.argument}.text() + ": " + failure.text);
    } catch (...) { // out of memory
      known.ranges.pop_back();
      throw;
    }
  }
  ++known.users;
  range.known = &known;
  ++registered;
}

// With its shape, so that reports name coordinates; an emulator of before that takes the bytes
// alone.
void EmulatedMemory::tell_emulator(const Range &range, bool isReadOnly,
                                   const std::string &name) const {
  const int readOnly = isReadOnly ? 1 : 0;
  if (range.tensor == nullptr || !api.flyemu_register_tensor) {
    api.call(api.flyemu_register_memory, range.low, range.bytes, readOnly, name.c_str());
    return;
  }
  const DLTensor &tensor = *range.tensor;
  const auto rank = static_cast<size_t>(tensor.ndim);
  SmallBuffer<long long, 16> leaves(2 * rank + 1);
  long long *shape = leaves.begin(), *strides = shape + rank;
  const auto itemBytes = static_cast<long long>(note.arguments[range.argument].dtype->bytes());
  long long compact = itemBytes; // what NULL strides mean
  for (size_t axis = rank; axis-- > 0;) {
    shape[axis] = tensor.shape[axis];
    strides[axis] = tensor.strides == nullptr ? compact : tensor.strides[axis] * itemBytes;
    compact *= shape[axis];
  }
  const void *data = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  api.call(api.flyemu_register_tensor, range.low, range.bytes, readOnly, name.c_str(), data,
           static_cast<unsigned>(itemBytes), tensor.ndim, static_cast<const long long *>(shape),
           static_cast<const long long *>(strides));
}

EmulatedMemory::~EmulatedMemory() {
  if (registered == 0)
    return;
  const std::lock_guard<std::mutex> lock(registry().mutex);
  while (registered > 0) {
    const Range &range = ranges[--registered];
    if (--range.known->users > 0)
      continue;
    for (size_t left = range.known->ranges.size(); left > 0; --left)
      (void)api.flyemu_unregister_memory.function(range.low);
    range.known->ranges.clear();
  }
}

} // namespace flydsl::runtime

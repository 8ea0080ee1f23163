// SPDX-License-Identifier: Apache-2.0
#include "emulated_memory.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace flydsl::runtime {

namespace {

// What the process has registered at one address. The emulator takes registrations back by address
// alone, the latest first: if one of two calls on different threads did that, it could take the
// other one's, of another length or another right to write. So the last call to leave takes all
// back.
struct Registered {
  struct Range {
    size_t bytes;
    bool readOnly;
    std::string name;
  };
  std::vector<Range> ranges; // one for each different registration that is in force
  size_t users = 0;          // calls that run on them
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, Registered> byAddress;
};

Registry &registry() {
  static auto *registry = new Registry; // outlives static destructors that still call
  return *registry;
}

bool covers(const Registered &registered, size_t bytes, const Argument &argument) {
  return std::any_of(registered.ranges.begin(), registered.ranges.end(), [&](const auto &range) {
    return range.bytes == bytes && range.readOnly != argument.writes && range.name == argument.name;
  });
}

} // namespace

void EmulatedMemory::register_one(const Range &range) {
  const ArgumentSite site{note, range.argument};
  const Argument &argument = site.argument();
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Registered &known = all.byAddress[range.low];
  if (!covers(known, range.bytes, argument)) {
    known.ranges.push_back({range.bytes, !argument.writes, argument.name});
    try {
      tell_emulator(range, argument);
    } catch (Failure &failure) {
      known.ranges.pop_back();
      if (known.users == 0)
        all.byAddress.erase(range.low);
      fail(failure.status, site.text() + ": " + failure.text);
    }
  }
  ++known.users;
  ++registered;
}

// With its shape, so that reports name coordinates; an emulator of before that takes the bytes
// alone.
void EmulatedMemory::tell_emulator(const Range &range, const Argument &argument) const {
  const int readOnly = argument.writes ? 0 : 1;
  if (api.flyemu_register_tensor == nullptr) {
    FLYDSL_HIP_CALL(api, flyemu_register_memory, range.low, range.bytes, readOnly,
                    argument.name.c_str());
    return;
  }
  const DLTensor &tensor = *range.tensor;
  const auto rank = static_cast<size_t>(tensor.ndim);
  SmallBuffer<long long, 16> leaves(2 * rank + 1);
  long long *shape = leaves.begin(), *strides = shape + rank;
  const auto itemBytes = static_cast<long long>(argument.dtype->bytes());
  long long compact = itemBytes; // what NULL strides mean
  for (size_t axis = rank; axis-- > 0;) {
    shape[axis] = tensor.shape[axis];
    strides[axis] = tensor.strides == nullptr ? compact : tensor.strides[axis] * itemBytes;
    compact *= shape[axis];
  }
  const void *data = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  FLYDSL_HIP_CALL(api, flyemu_register_tensor, range.low, range.bytes, readOnly,
                  argument.name.c_str(), data, static_cast<unsigned>(itemBytes), tensor.ndim,
                  static_cast<const long long *>(shape), static_cast<const long long *>(strides));
}

EmulatedMemory::~EmulatedMemory() {
  if (registered == 0)
    return;
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  while (registered > 0) {
    const auto found = all.byAddress.find(ranges[--registered].low);
    if (--found->second.users > 0)
      continue;
    for (size_t range = found->second.ranges.size(); range > 0; --range)
      (void)api.flyemu_unregister_memory(found->first);
    all.byAddress.erase(found);
  }
}

} // namespace flydsl::runtime

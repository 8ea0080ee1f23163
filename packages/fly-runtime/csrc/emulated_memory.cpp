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
      FLYDSL_HIP_CALL(api, flyemu_register_memory, range.low, range.bytes, argument.writes ? 0 : 1,
                      argument.name.c_str());
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace flyemu {

/// A vector clock over workgroups, sparse: how far each has come that something happened after.
using GroupTimes = std::unordered_map<uint64_t, uint64_t>;

inline void merge(GroupTimes &into, const GroupTimes &from) {
  for (const auto &[group, time] : from)
    into[group] = std::max(into[group], time);
}

/// Where one workgroup stands: its own time, and what it has seen of the others. Every atomic
/// access is taken to acquire and to release: it sees what the earlier ones at its address had
/// seen.
struct GroupClock {
  uint64_t self = 0; ///< number of the workgroup
  uint64_t time = 1;
  GroupTimes seen;

  /// Did what `group` did at `time` happen before now?
  bool isAfter(uint64_t group, uint64_t then) const {
    const auto known = seen.find(group);
    return group == self || (known != seen.end() && known->second >= then);
  }
  void synchronise(GroupTimes &address) {
    merge(seen, address);
    merge(address, seen);
    address[self] = time++;
  }
};

} // namespace flyemu

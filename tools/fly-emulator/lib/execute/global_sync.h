// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace flyemu {

/// The barriers of global wave sync that the waves of one launch meet at, one for each resource.
class GlobalSync {
public:
  /// A wave arrives: the ticket that it waits with. `count` waves make a barrier.
  uint64_t arrive(uint32_t resource, uint32_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Barrier &barrier = barriers_[resource];
    const uint64_t ticket = barrier.passed + 1;
    if (++barrier.arrived >= count) {
      barrier.arrived = 0;
      ++barrier.passed;
    }
    return ticket;
  }
  bool mayPass(uint32_t resource, uint64_t ticket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return barriers_[resource].passed >= ticket;
  }

private:
  struct Barrier {
    uint32_t arrived = 0;
    uint64_t passed = 0; ///< how often all had arrived
  };
  std::mutex mutex_;
  std::map<uint32_t, Barrier> barriers_;
};

} // namespace flyemu

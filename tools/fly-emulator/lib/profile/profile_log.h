// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "profile/launch_profile.h"

namespace flyemu {

/// How much a launch records: nothing, counters, or also every wave's instructions over time.
enum class Profiling : uint8_t { Off, Counters, Trace };

/// The profiles of the process's latest launches, numbered from 1 in the order of their ends.
/// Thread-safe. Old ones are forgotten: all but 1024, and the timelines of all but 4.
class ProfileLog {
public:
  static ProfileLog &instance();

  /// Keeps the profile, writes a line of JSON to the file that FLYDSL_EMU_PROFILE_FILE names (if
  /// any), and returns its number.
  uint64_t add(LaunchProfile profile);
  uint64_t latest() const;
  /// Null for a number that was never given or is forgotten.
  std::shared_ptr<const LaunchProfile> find(uint64_t number) const;
  /// Profiles after `number` as a JSON array.
  std::string jsonAfter(uint64_t number) const;

private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<LaunchProfile>> profiles_;
  uint64_t latest_ = 0;
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sanitize/outstanding.h"
#include "sanitize/release_order.h"

namespace flyemu {

/// The order that waves of a workgroup make by atomics and polled flags in LDS, between two
/// barriers.
///
/// A store or an atomic access to a place releases what its wave has completed (s_waitcnt lgkmcnt
/// for LDS, vmcnt for loads straight into it); an atomic that returns a value, or a load that
/// polls, acquires that. It costs memory for each dword and wave: kernels without atomics and flags
/// in LDS have none of these.
class LdsOrder {
public:
  /// What a wave does to a dword. Direct: a load straight into LDS.
  enum class Kind : uint8_t { Read, Write, Update, Direct };

  LdsOrder(Outstanding &outstanding, ReleaseOrder &global, const WorkGroup &group);

  /// An access of a wave, by its number among those of its counter.
  void note(Kind kind, uint32_t wave, uint64_t dword, uint64_t sequence);
  /// Those of `waves` (one bit each) whose latest access of that kind is in no order with what
  /// `wave` does now.
  uint32_t unordered(Kind kind, uint32_t waves, uint32_t wave, uint64_t dword) const;

  /// What a wave has completed; kept where it stores, joined to what is there where it updates.
  void release(uint32_t wave, const std::vector<uint64_t> &dwords, bool updates);
  void acquire(uint32_t wave, uint64_t dword);
  /// A barrier: all waves know what any knows, and what was complete.
  void barrier();

private:
  static constexpr unsigned kWaves = 32;
  /// How far a wave has come, as another one knows it: by lgkmcnt and by vmcnt.
  struct Progress {
    uint64_t local = 0;
    uint64_t direct = 0;
  };
  using Clock = std::array<Progress, kWaves>;
  struct Released {
    Clock clock;
    WaveTimes global;
  };

  static void join(Clock &into, const Clock &from);

  Outstanding &outstanding_;
  ReleaseOrder &global_;
  const uint32_t waveCount_;
  std::vector<Clock> clocks_; ///< what each wave knows
  /// The latest access of each kind and wave.
  std::vector<std::array<std::array<uint32_t, kWaves>, 4>> latest_;
  std::vector<std::shared_ptr<const Released>> released_; ///< by dword
};

} // namespace flyemu

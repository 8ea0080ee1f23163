// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "sanitize/group_clock.h"
#include "sanitize/report.h"

namespace flyemu {

/// Races between workgroups of one launch: two groups touch the same bytes of memory, at least one
/// writes, and not both atomically nor the same value. Groups of a launch have no order but the one
/// that they make themselves by atomics (and by loads and stores of agent or system scope, which is
/// how compilers write atomic loads and stores): what a group did before an atomic access happens
/// before what another one does after a later atomic access at the same address.
class GlobalRaceCheck {
public:
  explicit GlobalRaceCheck(ReportSink &sink) : sink_(sink) {}

  /// `clock` belongs to the wave's workgroup.
  void access(Wave &wave, const Instruction &inst, const LaneAccess &access, GroupClock &clock);

  /// A workgroup is at a barrier of all workgroups.
  void meet(GroupClock &clock);

  static uint64_t numberOf(const WorkGroup &group);

private:
  /// Who touched which bytes of a dword, when, and where in the code.
  struct Touch {
    uint64_t group = kNobody;
    uint64_t time = 0;
    const Instruction *inst = nullptr;
    uint8_t bytes = 0;
    bool atomic = false;
  };
  /// Two groups at the most: rows of small elements meet within a dword.
  using Touches = std::array<Touch, 2>;
  struct Cell {
    Touches writers;
    Touches readers;
    uint32_t value = 0; ///< what the writers left, all four bytes
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Cell> cells;
    std::unordered_map<uint64_t, GroupTimes> atomics; ///< by dword
  };
  struct Part; ///< of an access: one lane, one dword
  static constexpr uint64_t kNobody = ~uint64_t{0};

  void check(Wave &wave, const Instruction &inst, const Part &part, GroupClock &clock);
  static void record(Touches &touches, const Touch &now);

  ReportSink &sink_;
  std::array<Shard, 64> shards_;
  std::mutex meetingMutex_;
  GroupTimes meeting_;
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/issue_model.h"

namespace flyemu {

/// Why a wave could not issue.
enum class StallReason : uint8_t {
  None,
  Memory,     ///< s_waitcnt vmcnt
  Local,      ///< s_waitcnt lgkmcnt: LDS and scalar memory
  Barrier,    ///< other waves of the group
  Dependency, ///< the result of a matrix instruction
  Unit,       ///< the unit is busy, with this wave's or another's work
};
constexpr size_t kStallReasons = 6;
const char *stallName(StallReason reason);

/// One executed instruction of a wave, as the launch recorded it.
struct TraceEvent {
  uint32_t instruction; ///< into the instructions of the trace
  uint32_t busy;        ///< cycles in the LDS or memory unit; 0 for others
};

/// What the model needs to know of an instruction.
struct TraceInstruction {
  const Instruction *inst = nullptr;
  IssueCost cost;
};

/// The waves of the workgroups that share one compute unit.
struct Trace {
  struct Group {
    std::vector<std::vector<TraceEvent>> waves;
    bool truncated = false;
  };
  std::vector<TraceInstruction> instructions;
  std::vector<Group> groups;
};

/// One instruction on the time axis.
struct TimedEvent {
  uint32_t instruction;
  uint32_t stalled; ///< cycles before `issued` that the wave waited for it
  uint64_t issued;
  uint32_t duration;
  StallReason reason;
};

struct WaveTimeline {
  uint32_t group = 0; ///< into the groups of the trace
  uint32_t wave = 0;
  uint32_t simd = 0;
  uint64_t end = 0;
  std::vector<TimedEvent> events;
};

/// The waves of one compute unit over time, as the issue model has it.
struct Timeline {
  uint64_t cycles = 0; ///< until the last wave ends
  std::array<uint64_t, kIssueUnits> busy =
      {}; ///< by IssueUnit, summed over the SIMDs that have one each
  std::array<uint64_t, kStallReasons> stalls = {};
  std::vector<uint64_t> stalledAt; ///< cycles, by instruction
  std::vector<uint64_t> elapsedAt; ///< cycles stalled and in the issue slot, by instruction
  std::vector<WaveTimeline> waves;
  bool truncated = false;
};

/// Run the issue model over a trace: each SIMD issues its waves' instructions in order, the oldest
/// wave first; units are busy as IssueCost says; loads arrive after LLVM's latency, in order;
/// s_waitcnt, barriers and the results of matrix instructions are waited for. Caches and the
/// bandwidth of memory are not modelled.
/// `keepEvents`: the waves' events too, not only sums.
Timeline simulate(const Trace &trace, bool keepEvents);

} // namespace flyemu

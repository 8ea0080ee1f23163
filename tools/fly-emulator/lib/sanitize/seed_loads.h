// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// Plain loads that seed loops of compare-and-swap: compilers make atomics that hardware hasn't got
/// out of a load and such a loop, and a stale value costs a round and nothing else. A lane that
/// loads and then swaps at the same address, with few other accesses between, shows that the load
/// instruction is one; its races with atomic accesses are then no findings.
class SeedLoads {
public:
  SeedLoads(ReportSink &sink, const WorkGroup &group) : sink_(sink), waves_(group.waveCount) {}

  void access(const Wave &wave, const Instruction &inst, const LaneAccess &access);

private:
  struct Load {
    uint64_t address = 0;
    const Instruction *inst = nullptr;
  };
  /// The latest of a lane. Code without optimisation loads its operands again between the two.
  struct Lane {
    std::array<Load, 4> loads;
    uint8_t next = 0;
  };
  using Lanes = std::array<Lane, kLanes>;

  ReportSink &sink_;
  std::vector<std::unique_ptr<Lanes>> waves_;
};

} // namespace flyemu

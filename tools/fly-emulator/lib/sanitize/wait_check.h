// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// Results that are used, or whose register is overwritten, before the s_waitcnt that makes them
/// arrive. Stores take their data when they are issued.
class WaitCheck {
public:
  WaitCheck(ReportSink &sink, const WorkGroup &group) : sink_(sink), waves_(group.waveCount) {}

  void before(Wave &wave, const Instruction &inst);
  void after(Wave &wave, const Instruction &inst);

private:
  struct Pending {
    Operand dst; ///< kind None for stores
    const Instruction *inst;
    bool scalar; ///< scalar memory returns in any order
  };
  struct Counters {
    std::deque<Pending> vector; ///< vmcnt
    std::deque<Pending> local;  ///< lgkmcnt
  };

  void checkOperand(Wave &wave, const Instruction &inst, const Operand &operand,
                    const std::deque<Pending> &queue, const char *counter, bool written);

  ReportSink &sink_;
  std::vector<Counters> waves_;
};

} // namespace flyemu

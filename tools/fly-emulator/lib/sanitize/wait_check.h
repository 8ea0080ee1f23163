// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// Results that are used, or whose register is overwritten, before the s_waitcnt that makes them
/// arrive; and LDS that is read, or written again, before the load straight into it (buffer_load
/// ... lds) has arrived: vmcnt of the wave that issued it, whoever reads. Stores take their data
/// when they are issued.
class WaitCheck {
public:
  WaitCheck(ReportSink &sink, const WorkGroup &group) : sink_(sink), waves_(group.waveCount) {}

  void before(Wave &wave, const Instruction &inst);
  void after(Wave &wave, const Instruction &inst);
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void barrier() { ++epoch_; }

private:
  /// The LDS bytes that a load writes.
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  struct Pending {
    Operand dst; ///< kind None for stores
    const Instruction *inst;
    bool scalar; ///< scalar memory returns in any order
    Span lds;    ///< empty unless it goes to LDS
    uint64_t epoch;
  };
  struct Counters {
    std::deque<Pending> vector; ///< vmcnt
    std::deque<Pending> local;  ///< lgkmcnt
    Span direct;                ///< of the instruction being executed
    unsigned directPending = 0; ///< in `vector`
  };

  void retireVector(Counters &counters, size_t keep);
  void checkOperand(Wave &wave, const Instruction &inst, const Operand &operand,
                    const std::deque<Pending> &queue, const char *counter, bool written);

  ReportSink &sink_;
  std::vector<Counters> waves_;
  unsigned directPending_ = 0; ///< of all waves
  uint64_t epoch_ = 0;         ///< barriers passed
};

} // namespace flyemu

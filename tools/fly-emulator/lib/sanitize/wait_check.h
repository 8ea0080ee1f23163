// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "sanitize/outstanding.h"
#include "sanitize/report.h"

namespace flyemu {

/// Registers that are used, or overwritten, before the s_waitcnt that makes the load into them
/// arrive. Stores take their data when they are issued. What is still on its way to or from LDS is
/// LdsRaceCheck's.
class WaitCheck {
public:
  WaitCheck(ReportSink &sink, const Outstanding &outstanding)
      : sink_(sink), outstanding_(outstanding) {}

  void before(Wave &wave, const Instruction &inst);

private:
  void checkOperand(Wave &wave, const Instruction &inst, const Operand &operand,
                    const std::deque<Outstanding::Operation> &queue, Counter counter, bool written);

  ReportSink &sink_;
  const Outstanding &outstanding_;
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sanitize/report.h"

namespace flyemu {

/// Forms of instructions that are known to go wrong on silicon, although they are right in the
/// manual and here.
class LintCheck {
public:
  LintCheck(ReportSink &sink, const std::string &arch) : sink_(sink), gfx950_(arch == "gfx950") {}

  void before(Wave &wave, const Instruction &inst);

private:
  ReportSink &sink_;
  const bool gfx950_;
};

} // namespace flyemu

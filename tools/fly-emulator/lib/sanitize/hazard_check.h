// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "hazard/hazard_window.h"
#include "hazard/rdna_hazards.h"
#include "hazard/scalar_hazards.h"
#include "sanitize/report.h"

namespace flyemu {

/// Instructions that come too soon after one that hardware does not wait for by itself: wait states
/// are counted along the path that each wave takes, over branches too. Calls end what is known, as
/// they do for LLVM, which compiles each function for itself.
class HazardCheck {
public:
  HazardCheck(ReportSink &sink, unsigned sanitizers, const WorkGroup &group,
              HazardFactsTable &facts)
      : sink_(sink), sanitizers_(sanitizers), facts_(facts), waves_(group.waveCount) {}

  void before(Wave &wave, const Instruction &inst);

private:
  ReportSink &sink_;
  const unsigned sanitizers_;
  HazardFactsTable &facts_;
  std::vector<HazardWindow> waves_;
};

/// The same for gfx11 and gfx12, whose rules are others (hazard/rdna_hazards.h, scalar_hazards.h).
class RdnaHazardCheck {
public:
  RdnaHazardCheck(ReportSink &sink, const WorkGroup &group)
      : sink_(sink), waves_(group.waveCount) {}

  void before(Wave &wave, const Instruction &inst);

private:
  ReportSink &sink_;
  struct Facts {
    RdnaFacts vector;
    ScalarFacts scalar;
  };
  struct Windows {
    RdnaHazardWindow vector;
    ScalarHazardWindow scalar;
  };
  std::unordered_map<const Instruction *, Facts> facts_;
  std::vector<Windows> waves_;
};

} // namespace flyemu

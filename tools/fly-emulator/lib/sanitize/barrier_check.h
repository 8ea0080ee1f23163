// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// Barriers where a wave is divergent. Waves of a workgroup may wait at different places, since
/// hardware counts arrivals, and may end before a barrier, which then no longer counts them:
/// pipelines and masked tails do so on purpose, and only the lint tells of it.
class BarrierCheck {
public:
  BarrierCheck(ReportSink &sink, unsigned sanitizers, const WorkGroup &group)
      : sink_(sink), sanitizers_(sanitizers), last_(group.waveCount, nullptr),
        launched_(group.waveCount, 0) {}

  void before(Wave &wave, const Instruction &inst);
  /// All waves that are left wait.
  void passed(WorkGroup &group);

private:
  void reportEnded(Wave &wave, const Instruction &inst, const Instruction *other);

  ReportSink &sink_;
  const unsigned sanitizers_;
  std::vector<const Instruction *> last_; ///< barrier of each wave
  std::vector<uint64_t> launched_;        ///< lanes that each wave began with
  const Instruction *ended_ = nullptr;    ///< where a wave ended
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// LDS races: two waves touch the same byte between the same two barriers, at least one writes, and
/// they are not both atomic, nor do they write the same value (compilers replicate stores). Whether
/// it goes wrong depends on the order of waves; whether it is reported does not.
class LdsRaceCheck {
public:
  LdsRaceCheck(ReportSink &sink, uint32_t bytes);

  void access(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void barrier() { ++epoch_; }

private:
  struct Cell {
    uint32_t writeEpoch = 0;
    uint32_t readEpoch = 0;
    uint32_t readers = 0; ///< waves that read in readEpoch, one bit each
    uint8_t writer = 0;   ///< wave that wrote last in writeEpoch
    uint8_t value = 0;    ///< what it wrote
    bool atomic = false;
    const Instruction *write = nullptr;
    const Instruction *read = nullptr; ///< the latest
  };

  void check(Wave &wave, const Instruction &inst, const LaneAccess &access, unsigned lane,
             uint64_t address);

  ReportSink &sink_;
  uint32_t epoch_ = 1;
  std::vector<Cell> cells_;
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sanitize/definedness.h"
#include "sanitize/global_marks.h"
#include "sanitize/lds_marks.h"
#include "sanitize/report.h"

namespace flyemu {

/// Uses of registers, LDS and memory of hipMalloc that were never written.
///
/// Compilers copy undefined registers around without harm, so that arithmetic only hands the state
/// on; a report comes when an undefined value matters: as an address, as what is stored to memory,
/// as an input of a matrix instruction in an active lane, as a branch condition or in EXEC. Tiles
/// of matrices may reach beyond what counts in memory: what comes from there is followed through
/// matrix instructions, to where it is stored.
class InitCheck {
public:
  InitCheck(ReportSink &sink, const WorkGroup &group)
      : sink_(sink), waves_(group.waveCount, Definedness(group.setUpScalars)),
        lds_(group.ldsBytes) {}

  void before(Wave &wave, const Instruction &inst);
  void after(Wave &wave, const Instruction &inst);
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access);

private:
  void checkSinks(Wave &wave, const Instruction &inst, const Definedness &defined);
  void add(Wave &wave, const Instruction &inst, const Origin *origin, const char *what);
  void require(Wave &wave, const Instruction &inst, const Definedness &defined, unsigned source,
               uint64_t lanes, const char *role);

  ReportSink &sink_;
  std::vector<Definedness> waves_;
  LdsMarks lds_;
  GlobalMarks global_; ///< of the instruction being executed
};

} // namespace flyemu

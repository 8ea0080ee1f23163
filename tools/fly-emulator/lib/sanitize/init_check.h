// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// Uses of registers that were never written.
///
/// Compilers copy undefined registers around without harm, so that arithmetic only hands the state
/// on; a report comes when an undefined value matters: as an address, as what is stored, as an
/// input of a matrix instruction, as a branch condition or in EXEC.
class InitCheck {
public:
  InitCheck(ReportSink &sink, WorkGroup &group);

  void before(Wave &wave, const Instruction &inst);
  void after(Wave &wave, const Instruction &inst);

private:
  struct Shadow {
    std::vector<uint64_t> vector; ///< lanes that are defined, for each row
    std::bitset<scalar::kCount> scalar;
    bool scc = false;
    uint64_t resultLanes = 0; ///< of the instruction being executed: lanes with defined sources
    bool resultScalar = true;
    uint64_t exec = 0;
  };

  uint64_t definedLanes(const Shadow &shadow, const Operand &operand) const;
  bool definedScalar(const Shadow &shadow, const Operand &operand) const;
  void checkSinks(Wave &wave, const Instruction &inst, Shadow &shadow);
  void require(Wave &wave, const Instruction &inst, const Shadow &shadow, const Operand &operand,
               uint64_t lanes, const char *role);

  ReportSink &sink_;
  std::vector<Shadow> shadows_;
};

} // namespace flyemu

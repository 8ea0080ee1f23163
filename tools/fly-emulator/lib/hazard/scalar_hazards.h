// SPDX-License-Identifier: Apache-2.0
//
// Scalar registers that are read before an earlier write to them has arrived, on gfx11 and gfx12:
// what LLVM 22 waits for with s_waitcnt_depctr (gfx11) and s_wait_alu (gfx12), by SA_SDST, VA_SDST
// and VA_VCC.
//
// gfx11, waves of 64: the vector ALU reads a register as a mask of lanes (v_cndmask, a carry,
// v_div_fmas); then it is written; then it is read.
// gfx12: the vector ALU has ever read a register of a pair; then the scalar or the vector ALU
// writes it; then it is read. A read by the scalar ALU waits for the vector ALU by itself, and
// accesses of memory, vector or scalar, wait for both.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "decode/instruction.h"

namespace flyemu {

/// One instruction as these rules see it: scalar registers by number, VCC among them; EXEC, M0 and
/// NULL are left out.
struct ScalarFacts {
  std::vector<uint8_t> reads;
  std::vector<uint8_t> writes;
  std::vector<uint8_t> masks; ///< of the reads, those that say something of each lane
  bool vectorAlu = false;
  bool scalarAlu = false;
  bool memory = false; ///< vector or scalar
  bool waitsScalar = false;
  bool waitsVector = false;
  bool waitsVcc = false;
  bool leaves = false; ///< calls and returns, before which LLVM waits for all
};

ScalarFacts scalarFacts(const Instruction &inst);

/// A read that comes too early, and the write that it is too early for.
struct ScalarHazard {
  const char *what;
  const Instruction *earlier;
};

/// Follows the path of one wave.
class ScalarHazardWindow {
public:
  /// Null unless the instruction breaks a rule. `lanes`: of the wave.
  const ScalarHazard *step(const Instruction &inst, const ScalarFacts &facts, uint32_t generation,
                           uint32_t lanes);

private:
  static constexpr unsigned kRegisters = 128;

  struct Pending {
    bool scalar = false;
    bool vector = false;
    const Instruction *by = nullptr;
  };

  void settle(bool scalar, bool vector, bool vcc);
  void check(const ScalarFacts &facts);
  void stepMasks(const Instruction &inst, const ScalarFacts &facts);
  void stepPairs(const Instruction &inst, const ScalarFacts &facts);

  std::array<Pending, kRegisters> pending_ = {};
  std::bitset<kRegisters> masks_;    ///< gfx11: read as a mask since their last write
  std::bitset<kRegisters / 2> read_; ///< gfx12: pairs that the vector ALU has read
  bool anyPending_ = false;
  ScalarHazard found_ = {};
};

} // namespace flyemu

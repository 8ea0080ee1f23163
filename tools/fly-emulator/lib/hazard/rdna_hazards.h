// SPDX-License-Identifier: Apache-2.0
//
// The hazards of gfx11 and gfx12 that hardware does not resolve by itself, as LLVM 22 knows them
// (GCNHazardRecognizer). They are few: results are forwarded or waited for, but for these
// sequences. Their distance is counted in instructions of the vector ALU, not in wait states.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hazard/hazard_facts.h"

namespace flyemu {

/// One instruction as these rules see it.
struct RdnaFacts {
  const Instruction *inst = nullptr;
  std::vector<RegisterSpan> vectorReads;
  std::vector<RegisterSpan> vectorWrites;
  std::vector<RegisterSpan> factors; ///< A, B and the index of a WMMA instruction
  bool vectorAlu = false;
  bool transcendental = false;
  bool matrix = false;
  bool compareExec = false;      ///< v_cmpx
  bool permutesLanes = false;    ///< v_permlane16 and its like
  bool idle = false;             ///< v_nop
  bool scalarWritesExec = false; ///< the scalar ALU writes EXEC
  bool settles = false;          ///< vector results have been written behind it
  bool leaves = false;           ///< hazards are not followed over calls
};

/// A broken rule: what of an earlier instruction comes too early.
struct RdnaHazard {
  const char *what;
  const Instruction *earlier;
};

/// Follows the path of one wave.
class RdnaHazardWindow {
public:
  /// `lanes`: of the wave. Null unless the instruction breaks a rule.
  const RdnaHazard *step(const RdnaFacts &facts, uint32_t generation, uint32_t lanes);

private:
  /// An instruction of the vector ALU, or one that writes EXEC.
  static constexpr unsigned kKept = 16;

  const RdnaFacts &back(unsigned i) const { return *recent_[(next_ + kKept - 1 - i) % kKept]; }
  const Instruction *transcendentalResult(const RdnaFacts &facts) const;
  const Instruction *partialForwarding(const RdnaFacts &facts) const;

  std::array<const RdnaFacts *, kKept> recent_ = {};
  const RdnaFacts *last_ = nullptr; ///< of the vector ALU; a v_nop behind v_cmpx counts for nothing
  unsigned next_ = 0;
  unsigned count_ = 0;
  RdnaHazard found_ = {};
};

/// What the rules have to know of an instruction.
RdnaFacts rdnaFacts(const Instruction &inst);

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decode/instruction.h"

namespace flyemu {

class Program;

/// The unit that an instruction keeps busy. A SIMD has its own scalar, vector and matrix unit; LDS
/// and vector memory are shared by the four SIMDs of a compute unit. Waits, branches, barriers and
/// s_nop only keep their own wave (Sequencer).
enum class IssueUnit : uint8_t { Scalar, Vector, Matrix, Lds, Memory, Sequencer };
constexpr unsigned kIssueUnits = 6;
const char *unitName(IssueUnit unit);

/// What one wave instruction costs, in cycles of the shader clock.
struct IssueCost {
  IssueUnit unit = IssueUnit::Scalar;
  uint32_t issue = 4; ///< how long its unit is busy, one wave alone
  uint32_t slot = 4;  ///< how long its wave cannot issue what follows (4 for a matrix instruction)
  uint32_t latency = 4; ///< until an instruction that needs its result may issue
  uint64_t flops = 0;   ///< of a matrix instruction, a wave; integer operations count alike
};

/// The issue model: LLVM's scheduling model for the architecture (reciprocal throughput and
/// latency, in units of four cycles: a wave of 64 lanes on a SIMD of 16), corrected where it is
/// known to differ from the machine:
///
/// - transcendentals and 32-bit integer multiplies run at a quarter of the rate (16 cycles); LLVM's
///   cost model says so too, its scheduling model does not;
/// - f8f6f4 matrix instructions with an operand of 8 bits take twice the cycles of the narrower
///   formats, which are what LLVM's model holds for all;
/// - s_nop and s_sleep take what they are asked for.
///
/// On RDNA the unit is one cycle, vector instructions of a wave of 64 lanes take two of them (a
/// dual instruction counts as one), and matrix instructions the cycles that AMD publishes.
///
/// The cycles of the matrix instructions of gfx942 are those that AMD publishes; a test compares
/// all of them. Thread-safe.
IssueCost issueCost(const Program &program, const Instruction &inst);

} // namespace flyemu

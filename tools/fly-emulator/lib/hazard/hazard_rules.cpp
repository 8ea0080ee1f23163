// SPDX-License-Identifier: Apache-2.0
#include "hazard/hazard_rules.h"

#include <array>

namespace flyemu {
namespace {

using Facts = HazardFacts;

template <unsigned N> unsigned fixed(const Facts &, const Facts &, bool) { return N; }

/// gfx950 takes one more pass to write back, but for instructions of two passes.
unsigned more(const Facts &matrix, bool gfx950) { return gfx950 && matrix.passes != 2 ? 1 : 0; }

unsigned readResult(const Facts &matrix, const Facts &later, bool gfx950) {
  if (matrix.float64Matrix) {
    if (matrix.small64)
      return later.memory ? 9 : 6;
    return later.memory ? 18 : gfx950 ? 19 : 11;
  }
  return matrix.matrixCore ? matrix.passes + 3U + more(matrix, gfx950) : matrix.passes + 2U;
}

unsigned overwriteResult(const Facts &matrix, const Facts &, bool gfx950) {
  if (matrix.float64Matrix)
    return matrix.small64 ? 6 : 11;
  return matrix.matrixCore ? matrix.passes + 3U + more(matrix, gfx950) : matrix.passes + 2U;
}

unsigned resultAsFactor(const Facts &matrix, const Facts &, bool gfx950) {
  if (matrix.float64Matrix)
    return matrix.small64 ? 6 : gfx950 ? 19 : 11;
  return matrix.matrixCore ? matrix.passes + 3U + more(matrix, gfx950) : matrix.passes + 2U;
}

const HazardFacts::Done *addendOf(const Facts &later) {
  for (const HazardFacts::Done &done : later.done)
    if (done.touch == Touch::MatrixAddend)
      return &done;
  return nullptr;
}

/// C that is the whole result of the earlier one is forwarded, nearly at once; C that overlaps it
/// otherwise is read when the result has been written.
unsigned resultAsAddend(const Facts &matrix, const Facts &later, bool gfx950) {
  const HazardFacts::Done *addend = addendOf(later);
  bool whole = false;
  for (const HazardFacts::Left &left : matrix.left)
    whole |= left.trail == Trail::Matrix && addend != nullptr &&
             left.span.begin == addend->span.begin && left.span.end == addend->span.end;
  if (whole) {
    if (matrix.small64 && later.small64)
      return 4;
    return matrix.passes == 2 ? 2 : 0;
  }
  if (matrix.float64Matrix) {
    if (later.matrixCore)
      return 0;
    return matrix.small64 ? 4 : gfx950 ? 17 : 9;
  }
  if (!matrix.matrixCore)
    return later.matrixCore ? 0 : matrix.passes;
  return later.matrixCore ? matrix.passes + 1U + (gfx950 ? 1U : 0U)
                          : matrix.passes + 1U + more(matrix, gfx950);
}

/// The C of a matrix instruction is read during its first passes. What a load brings comes later
/// than that: 64 cycles at least after it was issued, from LDS. (LLVM 22 keeps these apart as well,
/// but counts one state too many where a loop ends in two branches.)
unsigned overwriteAddend(const Facts &matrix, const Facts &later, bool) {
  return later.memory ? 0 : matrix.passes - 1U;
}

unsigned dotAfterDot(const Facts &dot, const Facts &later, bool) {
  // The same dot product again, accumulating: forwarded.
  const bool same = later.dot && dot.inst->opcode == later.inst->opcode;
  return same ? 0 : 3;
}

unsigned vectorBeforeMatrix(const Facts &earlier, const Facts &, bool) {
  return earlier.dot ? 0 : 2;
}

unsigned swapAfterCompare(const Facts &earlier, const Facts &, bool) {
  return earlier.compareExec ? 4 : 0;
}

constexpr char kRecognizer[] = "LLVM 22, GCNHazardRecognizer";
constexpr char kMatrixTable[] = "LLVM 22, GCNHazardRecognizer: MAI hazards of gfx940 and gfx950";

constexpr HazardRule kRules[] = {
    {Trail::Matrix, Touch::VectorSource, readResult,
     "the result of a matrix instruction is read before it is written", kMatrixTable},
    {Trail::Matrix, Touch::VectorDestination, overwriteResult,
     "the result of a matrix instruction is overwritten before it is written", kMatrixTable},
    {Trail::Matrix, Touch::MatrixFactor, resultAsFactor,
     "the result of a matrix instruction is a factor of the next one before it is written",
     kMatrixTable},
    {Trail::Matrix, Touch::MatrixAddend, resultAsAddend,
     "a part of the result of a matrix instruction is added to before it is written", kMatrixTable},
    {Trail::MatrixAddend, Touch::VectorDestination, overwriteAddend,
     "the C of a matrix instruction is overwritten while it is still read", kMatrixTable},
    {Trail::Float64Matrix, Touch::Fma64, fixed<2>,
     "an f64 multiply-add comes right after a matrix instruction on f64", kRecognizer},
    {Trail::ValuVector, Touch::MatrixFactor, vectorBeforeMatrix,
     "a matrix instruction reads a register that the vector ALU has just written", kMatrixTable, 1},
    {Trail::ValuVector, Touch::MatrixAddend, vectorBeforeMatrix,
     "a matrix instruction reads a register that the vector ALU has just written", kMatrixTable, 1},
    {Trail::ValuExec, Touch::MatrixExec, fixed<4>,
     "a matrix instruction comes right after the vector ALU wrote EXEC", kMatrixTable},
    {Trail::Matrix, Touch::DotAddend, readResult,
     "the result of a matrix instruction is read before it is written", kMatrixTable},
    {Trail::Dot, Touch::VectorSource, fixed<3>,
     "the result of a dot product is read before it is written", kMatrixTable},
    {Trail::Dot, Touch::DotAddend, dotAfterDot,
     "the result of a dot product is added to by another one before it is written", kMatrixTable},
    {Trail::Dot, Touch::VectorDestination, dotAfterDot,
     "the result of a dot product is overwritten before it is written", kMatrixTable},
    {Trail::Transcendental, Touch::ValuPlainSource, fixed<1>,
     "the result of a transcendental instruction is used by the very next one", kRecognizer},
    {Trail::PartOfVector, Touch::ValuOperand, fixed<1>,
     "a register that was written in part (SDWA, op_sel) is used by the very next instruction",
     kRecognizer},
    {Trail::ValuScalar, Touch::ValuScalarSource, fixed<2>,
     "the vector ALU reads a scalar register that it has just written", kRecognizer, 1},
    {Trail::ValuScalar, Touch::MemoryScalar, fixed<5>,
     "a memory instruction reads a scalar register that the vector ALU has just written",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::ValuScalar, Touch::LaneSelect, fixed<4>,
     "the vector ALU has just written the register that selects a lane",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::ValuScalar, Touch::DivFmasVcc, fixed<4>,
     "v_div_fmas comes right after the vector ALU wrote VCC",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::ValuVector, Touch::DppSource, fixed<2>,
     "DPP reads a register of other lanes that the vector ALU has just written",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::ValuExec, Touch::DppExec, fixed<5>, "DPP comes right after the vector ALU wrote EXEC",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::ValuVector, Touch::LaneSource, fixed<1>,
     "a lane is read from a register that the vector ALU has just written", kRecognizer},
    {Trail::ValuExec, Touch::LaneExec, fixed<4>,
     "a lane is read or written right after the vector ALU wrote EXEC", kRecognizer},
    {Trail::ValuVector, Touch::SwapSource, fixed<2>,
     "v_permlane*_swap reads a register that the vector ALU has just written", kRecognizer},
    {Trail::ValuExec, Touch::SwapExec, swapAfterCompare,
     "v_permlane*_swap comes right after v_cmpx wrote EXEC", kRecognizer},
    {Trail::SaluM0, Touch::SpecialM0, fixed<1>,
     "M0 is used by the very next instruction, which does not wait for it",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::StoreData, Touch::ValuDestination, fixed<2>,
     "the data of a store of more than two dwords is overwritten before it is read",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::SetRegister, Touch::GetRegister, fixed<2>,
     "a hardware register is read right after s_setreg wrote it",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
    {Trail::SetRegister, Touch::SetRegister, fixed<2>,
     "a hardware register is written twice in a row",
     "LLVM 22, GCNHazardRecognizer; CDNA3 ISA, 4.5"},
};

constexpr size_t kTrails = static_cast<size_t>(Trail::kCount);
constexpr size_t kTouches = static_cast<size_t>(Touch::kCount);

struct Index {
  std::array<std::array<const HazardRule *, kTouches>, kTrails> rules = {};
  std::array<uint32_t, kTouches> awaited = {};
  Index() {
    for (const HazardRule &rule : kRules) {
      const auto trail = static_cast<size_t>(rule.trail);
      const auto touch = static_cast<size_t>(rule.touch);
      rules[trail][touch] = &rule;
      awaited[touch] |= 1U << trail;
    }
  }
};
const Index &index() {
  static const Index all;
  return all;
}

} // namespace

const HazardRule *hazardRules(unsigned &count) {
  count = sizeof kRules / sizeof *kRules;
  return kRules;
}

const HazardRule *hazardRule(Trail trail, Touch touch) {
  return index().rules[static_cast<size_t>(trail)][static_cast<size_t>(touch)];
}

uint32_t trailsAwaitedBy(Touch touch) { return index().awaited[static_cast<size_t>(touch)]; }

} // namespace flyemu

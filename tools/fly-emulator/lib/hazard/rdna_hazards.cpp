// SPDX-License-Identifier: Apache-2.0
#include "hazard/rdna_hazards.h"

#include <algorithm>
#include <limits>
#include <string>

#include "execute/opcode.h"

namespace flyemu {
namespace {

bool begins(const std::string &name, const char *prefix) { return name.rfind(prefix, 0) == 0; }

bool overlap(const std::vector<RegisterSpan> &a, const std::vector<RegisterSpan> &b) {
  return std::any_of(a.begin(), a.end(), [&](const RegisterSpan &one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const RegisterSpan &other) { return one.overlaps(other); });
  });
}

/// In halves of registers: an instruction on 16 bits has nothing to do with the other half.
RegisterSpan spanOf(const Operand &operand) {
  const unsigned first = 2U * operand.index;
  const unsigned begin = operand.halves == 2 ? first + 1 : first;
  const unsigned end = operand.halves == 3 ? first + 2U * operand.dwords : begin + 1;
  return {static_cast<uint16_t>(begin), static_cast<uint16_t>(end)};
}

bool isTranscendental(const std::string &name) {
  for (const char *prefix : {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"})
    if (begins(name, prefix))
      return true;
  return false;
}

/// s_waitcnt_depctr (gfx11) and s_wait_alu (gfx12): VA_VDST zero waits for vector results.
bool waitsForVectorResults(const Instruction &inst, const std::string &name) {
  return (name == "s_waitcnt_depctr" || name == "s_wait_alu") && inst.immediateCount != 0 &&
         (inst.immediate[0] >> 12 & 0xf) == 0;
}

} // namespace

RdnaFacts rdnaFacts(const Instruction &inst) {
  RdnaFacts out;
  out.inst = &inst;
  const std::string &name = inst.opcode->name;
  const OpClass cls = inst.opcode->cls;
  out.vectorAlu =
      cls == OpClass::VectorAlu || cls == OpClass::Transcendental || cls == OpClass::Matrix;
  out.matrix = cls == OpClass::Matrix;
  out.transcendental = out.vectorAlu && isTranscendental(name);
  out.compareExec = begins(name, "v_cmpx");
  out.permutesLanes = begins(name, "v_permlane");
  out.idle = name == "v_nop";
  out.settles = cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
                cls == OpClass::Lds || waitsForVectorResults(inst, name);
  out.leaves = leavesFunction(inst);
  constexpr unsigned kAddend = 2;
  const bool sparse = name.find("swmmac") != std::string::npos;
  for (unsigned i = 0; i < inst.srcCount; ++i)
    if (inst.src[i].isVector()) {
      out.vectorReads.push_back(spanOf(inst.src[i]));
      if (out.matrix && (i != kAddend || sparse))
        out.factors.push_back(spanOf(inst.src[i]));
    }
  for (unsigned i = 0; i < inst.dstCount; ++i) {
    if (inst.dst[i].isVector())
      out.vectorWrites.push_back(spanOf(inst.dst[i]));
    else if (cls == OpClass::ScalarAlu && inst.dst[i].isScalarRegister())
      out.scalarWritesExec |= inst.dst[i].index <= scalar::kExec + 1 &&
                              inst.dst[i].index + inst.dst[i].dwords > scalar::kExec;
  }
  out.scalarWritesExec |=
      cls == OpClass::ScalarAlu &&
      (name.find("saveexec") != std::string::npos || name.find("wrexec") != std::string::npos);
  return out;
}

/// The result of a transcendental instruction, used within five others of the vector ALU of which
/// at most one is transcendental. What has been written again in between is not its result.
const Instruction *RdnaHazardWindow::transcendentalResult(const RdnaFacts &facts) const {
  constexpr unsigned kMostBetween = 5;
  constexpr unsigned kMostTranscendental = 1;
  unsigned between = 0;
  unsigned transcendental = 0;
  std::vector<RegisterSpan> reads = facts.vectorReads;
  for (unsigned i = 0;
       i < count_ && between <= kMostBetween && transcendental <= kMostTranscendental; ++i) {
    const RdnaFacts &earlier = back(i);
    if (!earlier.vectorAlu)
      continue;
    if (earlier.transcendental && overlap(reads, earlier.vectorWrites))
      return earlier.inst;
    reads.erase(std::remove_if(reads.begin(), reads.end(),
                               [&](const RegisterSpan &read) {
                                 return overlap({read}, earlier.vectorWrites);
                               }),
                reads.end());
    ++between;
    transcendental += earlier.transcendental ? 1 : 0;
  }
  return nullptr;
}

/// Va is written, the scalar ALU writes EXEC, Vb is written, both are read: at most two others of
/// the vector ALU between the writes, and four before the read.
const Instruction *RdnaHazardWindow::partialForwarding(const RdnaFacts &facts) const {
  constexpr int kMostBeforeRead = 4;
  constexpr int kMostBetweenWrites = 2;
  constexpr int kFar = std::numeric_limits<int>::max();
  // Of a wide operand, what was written last counts.
  std::vector<RegisterSpan> sources;
  for (const RegisterSpan &read : facts.vectorReads)
    if (std::none_of(sources.begin(), sources.end(), [&](const RegisterSpan &other) {
          return other.begin == read.begin && other.end == read.end;
        }))
      sources.push_back(read);
  if (sources.size() < 2)
    return nullptr;
  int position = 0;
  int exec = kFar;
  int after = kFar;
  for (unsigned i = 0; i < count_; ++i) {
    const RdnaFacts &earlier = back(i);
    if (earlier.scalarWritesExec) {
      if (exec == kFar && after != kFar)
        exec = position;
      continue;
    }
    const auto written =
        std::remove_if(sources.begin(), sources.end(), [&](const RegisterSpan &one) {
          return overlap({one}, earlier.vectorWrites);
        });
    if (written != sources.end()) {
      sources.erase(written, sources.end());
      if (exec == kFar)
        after = std::min(after, position);
      else
        return after <= kMostBeforeRead && position - after - 1 <= kMostBetweenWrites ? earlier.inst
                                                                                      : nullptr;
    }
    ++position;
    if (position > kMostBeforeRead && after == kFar)
      return nullptr;
  }
  return nullptr;
}

const RdnaHazard *RdnaHazardWindow::step(const RdnaFacts &facts, uint32_t generation,
                                         uint32_t lanes) {
  found_ = {};
  const bool gfx11 = generation == 11;
  if (facts.vectorAlu && last_ != nullptr) {
    if (facts.matrix && last_->matrix && overlap(facts.factors, last_->vectorWrites))
      found_ = {"the result of a WMMA instruction is A, B or the index of the very next one: a "
                "v_nop, or another instruction of the vector ALU, is missing between the two",
                last_->inst};
    else if (facts.permutesLanes && last_->compareExec)
      found_ = {"v_permlane comes right after v_cmpx wrote EXEC: an instruction of the vector ALU "
                "(no v_nop) is missing between the two",
                last_->inst};
    else if (const Instruction *earlier = gfx11 ? transcendentalResult(facts) : nullptr)
      found_ = {"the result of a transcendental instruction is used while it may still be on its "
                "way: an s_waitcnt_depctr va_vdst(0) is missing (gfx11)",
                earlier};
    else if (const Instruction *other = gfx11 && lanes == 64 ? partialForwarding(facts) : nullptr)
      found_ = {
          "one of two operands was written before EXEC changed and the other one after it: an "
          "s_waitcnt_depctr va_vdst(0) is missing (gfx11, waves of 64)",
          other};
  }
  if (facts.vectorAlu && !(last_ != nullptr && last_->compareExec && facts.idle))
    last_ = &facts;
  if (facts.leaves)
    last_ = nullptr;
  if (facts.settles || facts.leaves) {
    count_ = 0;
  } else if (facts.vectorAlu || facts.scalarWritesExec) {
    recent_[next_] = &facts;
    next_ = (next_ + 1) % kKept;
    count_ = std::min(count_ + 1, kKept);
  }
  return found_.what == nullptr ? nullptr : &found_;
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#include "hazard/scalar_hazards.h"

#include <string>

#include "execute/opcode.h"
#include "hazard/hazard_facts.h"

namespace flyemu {
namespace {

constexpr const char *kScalarWrite =
    "a scalar register is read while what the scalar ALU wrote to it may not have arrived: an "
    "s_waitcnt_depctr (gfx12: s_wait_alu) sa_sdst(0) is missing";
constexpr const char *kVectorWrite =
    "a scalar register is read while what the vector ALU wrote to it may not have arrived: an "
    "s_waitcnt_depctr (gfx12: s_wait_alu) va_sdst(0) is missing";
constexpr const char *kVccWrite =
    "VCC is read while what the vector ALU wrote to it may not have arrived: an s_waitcnt_depctr "
    "(gfx12: s_wait_alu) va_vcc(0) is missing";

bool begins(const std::string &name, const char *prefix) { return name.rfind(prefix, 0) == 0; }

bool isVcc(unsigned number) { return number == scalar::kVcc || number == scalar::kVcc + 1U; }

void add(const Operand &operand, std::vector<uint8_t> &to) {
  if (!operand.isScalarRegister())
    return;
  for (unsigned i = 0; i < operand.dwords; ++i) {
    const unsigned number = operand.index + i;
    if (number < scalar::kM0)
      to.push_back(static_cast<uint8_t>(number));
  }
}

} // namespace

ScalarFacts scalarFacts(const Instruction &inst) {
  ScalarFacts out;
  if (inst.opcode == nullptr)
    return out;
  const std::string &name = inst.opcode->name;
  const OpClass cls = inst.opcode->cls;
  out.leaves = leavesFunction(inst);
  out.memory = cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
               cls == OpClass::ScalarMemory;
  out.vectorAlu = begins(name, "v_");
  out.scalarAlu = begins(name, "s_") && cls != OpClass::ScalarMemory;
  if ((name == "s_waitcnt_depctr" || name == "s_wait_alu") && inst.immediateCount != 0) {
    const int64_t fields = inst.immediate[0];
    out.waitsScalar = (fields & 1) == 0;
    out.waitsVcc = (fields >> 1 & 1) == 0;
    out.waitsVector = (fields >> 9 & 7) == 0;
    out.scalarAlu = false;
    return out;
  }
  for (unsigned i = 0; i < inst.srcCount; ++i)
    add(inst.src[i], out.reads);
  for (unsigned i = 0; i < inst.dstCount; ++i)
    add(inst.dst[i], out.writes);
  Operand vcc;
  vcc.kind = OperandKind::Scalar;
  vcc.index = scalar::kVcc;
  vcc.dwords = 2;
  const bool divides = begins(name, "v_div_fmas");
  if (divides || begins(name, "s_cbranch_vcc"))
    add(vcc, out.reads);
  if (divides)
    add(vcc, out.masks);
  const bool carries = begins(name, "v_cndmask") || name.find("_co_ci_") != std::string::npos ||
                       begins(name, "v_addc_") || begins(name, "v_subb");
  if (carries && inst.srcCount != 0)
    add(inst.src[inst.srcCount - 1U], out.masks);
  return out;
}

void ScalarHazardWindow::settle(bool scalar, bool vector, bool vcc) {
  if (!anyPending_)
    return;
  anyPending_ = false;
  for (unsigned i = 0; i < kRegisters; ++i) {
    Pending &one = pending_[i];
    one.scalar &= !scalar;
    one.vector &= !(isVcc(i) ? vcc : vector);
    anyPending_ |= one.scalar || one.vector;
  }
}

void ScalarHazardWindow::check(const ScalarFacts &facts) {
  for (const uint8_t number : facts.reads) {
    Pending &one = pending_[number];
    if (found_.what != nullptr)
      return;
    if (one.scalar)
      found_ = {kScalarWrite, one.by};
    else if (one.vector && facts.vectorAlu)
      found_ = {isVcc(number) ? kVccWrite : kVectorWrite, one.by};
    if (found_.what != nullptr)
      one = {};
  }
}

/// gfx11, waves of 64.
void ScalarHazardWindow::stepMasks(const Instruction &inst, const ScalarFacts &facts) {
  const bool alu = facts.vectorAlu || facts.scalarAlu;
  if (alu && anyPending_)
    check(facts);
  bool hit = false;
  for (const uint8_t number : facts.writes)
    hit |= masks_[number];
  for (const uint8_t number : facts.writes) {
    masks_.reset(number);
    if (!hit || !alu)
      continue;
    Pending &one = pending_[number];
    (facts.scalarAlu ? one.scalar : one.vector) = true;
    one.by = &inst;
    anyPending_ = true;
  }
  for (const uint8_t number : facts.masks) // those that it writes itself, too
    masks_.set(number);
}

/// gfx12.
void ScalarHazardWindow::stepPairs(const Instruction &inst, const ScalarFacts &facts) {
  if (facts.memory) {
    settle(true, true, true);
    return;
  }
  if (!facts.vectorAlu && !facts.scalarAlu)
    return;
  if (facts.scalarAlu)
    for (const uint8_t number : facts.reads)
      settle(false, !isVcc(number), isVcc(number));
  if (anyPending_)
    check(facts);
  if (facts.vectorAlu)
    for (const uint8_t number : facts.reads)
      read_.set(number / 2U);
  for (const uint8_t number : facts.writes) {
    if (!read_[number / 2U])
      continue;
    Pending &one = pending_[number];
    one = {}; // what was written before does not matter any more
    (facts.scalarAlu ? one.scalar : one.vector) = true;
    one.by = &inst;
    anyPending_ = true;
  }
}

const ScalarHazard *ScalarHazardWindow::step(const Instruction &inst, const ScalarFacts &facts,
                                             uint32_t generation, uint32_t lanes) {
  const bool masks = generation == 11 && lanes == 64;
  if (!masks && generation != 12) // gfx1250 has none
    return nullptr;
  found_ = {};
  if (facts.waitsScalar || facts.waitsVector || facts.waitsVcc)
    settle(facts.waitsScalar, facts.waitsVector, facts.waitsVcc);
  if (masks)
    stepMasks(inst, facts);
  else
    stepPairs(inst, facts);
  if (facts.leaves) { // what a caller has read as a mask, LLVM does not know
    settle(true, true, true);
    masks_.reset();
  }
  return found_.what == nullptr ? nullptr : &found_;
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#include "predict/path_instruction.h"

#include <algorithm>

#include "device/architecture.h"
#include "execute/matrix_shape.h"
#include "execute/opcode.h"
#include "execute/program.h"

namespace flyemu {
namespace {

using Keeps = std::array<uint8_t, kWaitCounters>;

void keep(Keeps &keeps, WaitCounter counter, uint32_t count) {
  keeps[static_cast<size_t>(counter)] = static_cast<uint8_t>(count);
}

/// The fields of s_waitcnt: {first bit, bits} of vmcnt (its upper bits elsewhere on gfx9), lgkmcnt.
void keepByFields(Keeps &keeps, uint32_t simm, uint32_t generation) {
  const bool gfx9 = generation < 10;
  keep(keeps, WaitCounter::Load, gfx9 ? (simm & 0xfU) | (simm >> 14 & 3U) << 4 : simm >> 10 & 63U);
  keep(keeps, WaitCounter::Lds, gfx9 ? simm >> 8 & 0xfU : simm >> 4 & 63U);
}

Keeps keepsOf(const Instruction &inst, uint32_t generation) {
  Keeps keeps = {kNoWait, kNoWait, kNoWait, kNoWait};
  const std::string &name = inst.opcode->name;
  const auto simm = static_cast<uint32_t>(inst.immediate[0]);
  constexpr uint32_t kSix = 63;
  if (name == "s_waitcnt") {
    keepByFields(keeps, simm, generation);
  } else if (name == "s_wait_idle") {
    keeps = {0, 0, 0, 0};
  } else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt") {
    keep(keeps, WaitCounter::Load, simm & kSix);
  } else if (name == "s_waitcnt_vscnt" || name == "s_wait_storecnt") {
    keep(keeps, WaitCounter::Store, simm & kSix);
  } else if (name == "s_waitcnt_lgkmcnt" || name == "s_wait_dscnt") {
    keep(keeps, WaitCounter::Lds, simm & kSix);
  } else if (name == "s_wait_kmcnt") {
    keep(keeps, WaitCounter::Scalar, simm & kSix);
  } else if (name == "s_wait_loadcnt_dscnt" || name == "s_wait_storecnt_dscnt") {
    keep(keeps, name == "s_wait_loadcnt_dscnt" ? WaitCounter::Load : WaitCounter::Store,
         simm >> 8 & kSix);
    keep(keeps, WaitCounter::Lds, simm & kSix);
  }
  return keeps; // s_wait_expcnt and others: nothing that is modelled
}

uint8_t elementBitsOf(const Opcode &opcode) {
  MatrixShape shape;
  if (opcode.cls != OpClass::Matrix || !MatrixShape::parse(opcode.name, shape) || shape.anyFormat)
    return 0;
  return static_cast<uint8_t>(std::max(bitsOf(shape.a), bitsOf(shape.b)));
}

} // namespace

PathInstruction pathInstruction(const Program &program, const Instruction &inst) {
  const uint32_t generation = findArchitecture(program.object().arch())->generation;
  const OpClass cls = inst.opcode->cls;
  PathInstruction out;
  out.inst = &inst;
  out.cost = issueCost(program, inst);
  if (cls == OpClass::Wait)
    out.keeps = keepsOf(inst, generation);
  if (cls == OpClass::Lds)
    out.loads = out.stores = WaitCounter::Lds;
  else if (cls == OpClass::ScalarMemory)
    out.loads = generation < 12 ? WaitCounter::Lds : WaitCounter::Scalar;
  else if (generation >= 10)
    out.stores = WaitCounter::Store;
  out.elementBits = elementBitsOf(*inst.opcode);
  if (inst.opcode->name == "s_setprio")
    out.priority = static_cast<int8_t>(inst.immediate[0] & 3);
  return out;
}

} // namespace flyemu

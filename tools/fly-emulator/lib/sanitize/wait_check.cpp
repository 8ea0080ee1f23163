// SPDX-License-Identifier: Apache-2.0
#include "sanitize/wait_check.h"

#include <array>

#include "execute/lanes/lane_kernel.h"
#include "execute/opcode.h"
#include "sanitize/definedness.h"
#include "support/format.h"

namespace flyemu {
namespace {

bool overlaps(const Operand &a, const Operand &b) {
  return a.kind == b.kind && (a.isVector() || a.isScalarRegister()) &&
         a.index < b.index + b.dwords && b.index < a.index + a.dwords;
}

bool countsAsVector(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch;
}

bool begins(const std::string &name, const char *part) { return name.rfind(part, 0) == 0; }

/// Does it read VCC without naming it?
bool readsVcc(const Instruction &inst) {
  const Opcode &opcode = *inst.opcode;
  if (opcode.cls == OpClass::Branch)
    return begins(opcode.name, "s_cbranch_vcc");
  return opcode.lanes != nullptr && (opcode.lanes->flags & kReadsVcc) != 0;
}

Operand vccOf(const Wave &wave) {
  Operand vcc;
  vcc.kind = OperandKind::Scalar;
  vcc.index = scalar::kVcc;
  vcc.dwords = wave.lanes() == 64 ? 2 : 1;
  return vcc;
}

/// M0 moves the operands that it counts registers for (s_set_gpr_idx, s_movrels, s_movreld): those
/// are what is read and written. A destination among the sources (s_movreld) is a destination here.
struct Moved {
  std::array<Operand, 6> src;
  std::array<Operand, 2> dst;
  unsigned srcCount;
  unsigned dstCount;
};

bool movesRegisters(const Wave &wave, const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  if ((wave.mode & kIndexedRegisters) != 0 && cls == OpClass::VectorAlu)
    return true;
  return cls == OpClass::ScalarAlu && begins(inst.opcode->name, "s_movrel");
}

Moved movedOperands(const Wave &wave, const Instruction &inst) {
  Moved out{inst.src, inst.dst, inst.srcCount, inst.dstCount};
  const uint32_t m0 = wave.scalar[scalar::kM0];
  const auto move = [](Operand &operand, uint32_t by) {
    operand.index = static_cast<uint16_t>(operand.index + by);
  };
  if (inst.opcode->cls == OpClass::VectorAlu) {
    for (unsigned i = 0; i < 3 && i < inst.srcCount; ++i)
      if ((m0 >> (12 + i) & 1U) != 0 && out.src[i].isVector())
        move(out.src[i], m0 & 0xffU);
    if ((m0 >> 15 & 1U) != 0 && inst.dstCount != 0 && out.dst[0].isVector())
      move(out.dst[0], m0 & 0xffU);
  } else if (begins(inst.opcode->name, "s_movreld")) {
    out.dst[0] = inst.src[0];
    move(out.dst[0], m0);
    out.dstCount = 1;
    out.src[0] = inst.src[1];
    out.srcCount = 1;
  } else if (begins(inst.opcode->name, "s_movrels_")) {
    move(out.src[0], m0);
  }
  return out;
}

} // namespace

void WaitCheck::checkOperand(Wave &wave, const Instruction &inst, const Operand &operand,
                             const std::deque<Outstanding::Operation> &queue, Counter counter,
                             bool written) {
  for (const Outstanding::Operation &pending : queue)
    if (overlaps(operand, pending.dst)) {
      sink_.add({"wait", wave, inst, -1, pending.inst}, [&] {
        return format("a register is %s before the load into it has arrived: an %s is missing or "
                      "too weak",
                      written ? "overwritten" : "read", outstanding_.counters().wait(counter));
      });
      return;
    }
}

void WaitCheck::before(Wave &wave, const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  if (cls == OpClass::Wait)
    return;
  const auto &vector = outstanding_.vector(wave.index);
  const auto &local = outstanding_.local(wave.index);
  const auto &scalars = outstanding_.scalars(wave.index);
  if (vector.empty() && local.empty() && scalars.empty())
    return;
  const auto read = [&](const Operand &operand) {
    checkOperand(wave, inst, operand, vector, Counter::Load, false);
    checkOperand(wave, inst, operand, local, Counter::Local, false);
    checkOperand(wave, inst, operand, scalars, Counter::Scalar, false);
  };
  const auto written = [&](const Operand &operand) {
    // Loads of one kind arrive in order, so that a second one into the same register is fine.
    if (!countsAsVector(cls))
      checkOperand(wave, inst, operand, vector, Counter::Load, true);
    if (cls != OpClass::Lds)
      checkOperand(wave, inst, operand, local, Counter::Local, true);
    checkOperand(wave, inst, operand, scalars, Counter::Scalar, true);
  };
  const auto all = [&](const auto &operands) {
    for (unsigned i = 0; i < operands.srcCount; ++i) {
      // What a load of 16 bits leaves in the other half of its register is not read.
      if ((countsAsVector(cls) || cls == OpClass::Lds) && !Definedness::isRealSource(inst, i))
        written(operands.src[i]);
      else
        read(operands.src[i]);
    }
    for (unsigned i = 0; i < operands.dstCount; ++i)
      written(operands.dst[i]);
  };
  if (movesRegisters(wave, inst))
    all(movedOperands(wave, inst));
  else
    all(inst);
  if (readsVcc(inst))
    read(vccOf(wave));
}

} // namespace flyemu

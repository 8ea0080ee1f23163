// SPDX-License-Identifier: Apache-2.0
#include "sanitize/wait_check.h"

#include "execute/opcode.h"
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
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    checkOperand(wave, inst, inst.src[i], vector, Counter::Load, false);
    checkOperand(wave, inst, inst.src[i], local, Counter::Local, false);
    checkOperand(wave, inst, inst.src[i], scalars, Counter::Scalar, false);
  }
  for (unsigned i = 0; i < inst.dstCount; ++i) {
    // Loads of one kind arrive in order, so that a second one into the same register is fine.
    if (!countsAsVector(cls))
      checkOperand(wave, inst, inst.dst[i], vector, Counter::Load, true);
    if (cls != OpClass::Lds)
      checkOperand(wave, inst, inst.dst[i], local, Counter::Local, true);
    checkOperand(wave, inst, inst.dst[i], scalars, Counter::Scalar, true);
  }
}

} // namespace flyemu

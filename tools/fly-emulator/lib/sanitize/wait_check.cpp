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

/// Keep the youngest `count`; the older ones have arrived.
template <typename Queue> void retire(Queue &queue, size_t count) {
  while (queue.size() > count)
    queue.pop_front();
}

bool countsAsVector(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch;
}
bool countsAsLocal(OpClass cls) {
  return cls == OpClass::Lds || cls == OpClass::ScalarMemory || cls == OpClass::Flat;
}

} // namespace

void WaitCheck::checkOperand(Wave &wave, const Instruction &inst, const Operand &operand,
                             const std::deque<Pending> &queue, const char *counter, bool written) {
  for (const Pending &pending : queue)
    if (overlaps(operand, pending.dst)) {
      sink_.add("wait",
                format("a register is %s before the load into it has arrived: an s_waitcnt %s is "
                       "missing or too weak",
                       written ? "overwritten" : "read", counter),
                wave, inst, -1, pending.inst);
      return;
    }
}

void WaitCheck::before(Wave &wave, const Instruction &inst) {
  Counters &counters = waves_[wave.index];
  const OpClass cls = inst.opcode->cls;
  if (cls == OpClass::Wait) {
    const auto simm = static_cast<uint32_t>(inst.immediate[0]);
    const uint32_t vm = (simm & 0xfU) | (simm >> 14 & 3U) << 4;
    const uint32_t lgkm = simm >> 8 & 0xfU;
    constexpr uint32_t kVectorMost = 63;
    constexpr uint32_t kLocalMost = 15;
    if (vm < kVectorMost)
      retire(counters.vector, vm);
    if (lgkm == 0) {
      counters.local.clear();
    } else if (lgkm < kLocalMost) {
      bool ordered = true;
      for (const Pending &pending : counters.local)
        ordered &= !pending.scalar;
      if (ordered)
        retire(counters.local, lgkm);
    }
    return;
  }
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    checkOperand(wave, inst, inst.src[i], counters.vector, "vmcnt", false);
    checkOperand(wave, inst, inst.src[i], counters.local, "lgkmcnt", false);
  }
  for (unsigned i = 0; i < inst.dstCount; ++i) {
    // Loads of one kind arrive in order, so that a second one into the same register is fine.
    if (!countsAsVector(cls))
      checkOperand(wave, inst, inst.dst[i], counters.vector, "vmcnt", true);
    if (cls != OpClass::Lds)
      checkOperand(wave, inst, inst.dst[i], counters.local, "lgkmcnt", true);
  }
}

void WaitCheck::after(Wave &wave, const Instruction &inst) {
  Counters &counters = waves_[wave.index];
  const OpClass cls = inst.opcode->cls;
  Pending pending{inst.dstCount != 0 ? inst.dst[0] : Operand(), &inst,
                  cls == OpClass::ScalarMemory};
  if (countsAsVector(cls))
    counters.vector.push_back(pending);
  if (countsAsLocal(cls))
    counters.local.push_back(pending);
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#include "sanitize/wait_check.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr uint32_t kVectorMost = 63;
constexpr uint32_t kLocalMost = 15;

bool overlaps(const Operand &a, const Operand &b) {
  return a.kind == b.kind && (a.isVector() || a.isScalarRegister()) &&
         a.index < b.index + b.dwords && b.index < a.index + a.dwords;
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
      sink_.add({"wait", wave, inst, -1, pending.inst}, [&] {
        return format("a register is %s before the load into it has arrived: an s_waitcnt %s is "
                      "missing or too weak",
                      written ? "overwritten" : "read", counter);
      });
      return;
    }
}

void WaitCheck::retireVector(Counters &counters, size_t keep) {
  while (counters.vector.size() > keep) {
    if (counters.vector.front().lds.end != 0) {
      --counters.directPending;
      --directPending_;
    }
    counters.vector.pop_front();
  }
}

void WaitCheck::before(Wave &wave, const Instruction &inst) {
  Counters &counters = waves_[wave.index];
  const OpClass cls = inst.opcode->cls;
  if (cls == OpClass::Wait) {
    const auto simm = static_cast<uint32_t>(inst.immediate[0]);
    const uint32_t vm = (simm & 0xfU) | (simm >> 14 & 3U) << 4;
    const uint32_t lgkm = simm >> 8 & 0xfU;
    if (vm < kVectorMost)
      retireVector(counters, vm);
    if (lgkm == 0) {
      counters.local.clear();
    } else if (lgkm < kLocalMost) {
      bool ordered = true;
      for (const Pending &pending : counters.local)
        ordered &= !pending.scalar;
      if (ordered)
        while (counters.local.size() > lgkm)
          counters.local.pop_front();
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
  const Pending pending{inst.dstCount != 0 ? inst.dst[0] : Operand(), &inst,
                        cls == OpClass::ScalarMemory, counters.direct, epoch_};
  if (countsAsVector(cls)) {
    retireVector(counters, kVectorMost - 1); // the counter would overflow: hardware waits
    counters.vector.push_back(pending);
    if (counters.direct.end != 0) {
      ++counters.directPending;
      ++directPending_;
    }
  }
  if (countsAsLocal(cls)) {
    // The same, where returns are in order.
    while (counters.local.size() >= kLocalMost && !counters.local.front().scalar)
      counters.local.pop_front();
    counters.local.push_back(pending);
  }
  counters.direct = {};
}

void WaitCheck::ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const bool direct = inst.opcode->cls != OpClass::Lds && inst.opcode->cls != OpClass::Flat;
  if (directPending_ != 0)
    for (uint32_t w = 0; w < waves_.size(); ++w) {
      if (waves_[w].directPending == 0)
        continue;
      for (const Pending &pending : waves_[w].vector) {
        // Other waves' accesses between the same barriers are races, and reported as such. Loads
        // of one wave arrive in order.
        if (pending.lds.end == 0 || (w == wave.index ? direct : pending.epoch == epoch_))
          continue;
        bool found = false;
        forEachLane(access.lanes, [&](unsigned lane) {
          const uint64_t first = access.address[lane];
          if (found || first >= pending.lds.end || first + access.bytes <= pending.lds.begin)
            return;
          found = true;
          sink_.add({"wait", wave, inst, static_cast<int>(lane), pending.inst, true, first}, [&] {
            return format("LDS bytes from %llu on are %s before the load into LDS has arrived: an "
                          "s_waitcnt vmcnt is missing or too weak%s",
                          static_cast<unsigned long long>(first),
                          access.kind == AccessKind::Load ? "read" : "overwritten",
                          w == wave.index ? "" : ", in the wave that issued it");
          });
        });
      }
    }
  if (!direct)
    return;
  Span &span = waves_[wave.index].direct;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    span.begin = span.end == 0 ? first : std::min(span.begin, first);
    span.end = std::max(span.end, first + access.bytes);
  });
}

} // namespace flyemu

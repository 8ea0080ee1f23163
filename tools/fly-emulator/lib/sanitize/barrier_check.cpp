// SPDX-License-Identifier: Apache-2.0
#include "sanitize/barrier_check.h"

#include "execute/opcode.h"

namespace flyemu {

void BarrierCheck::before(Wave &wave, const Instruction &inst) {
  if (launched_[wave.index] == 0)
    launched_[wave.index] = wave.exec();
  if (inst.opcode->cls == OpClass::Barrier) {
    last_[wave.index] = &inst;
    const uint64_t missing = launched_[wave.index] & ~wave.exec();
    if (missing != 0 && (sanitizers_ & sanitizer::kBarrier) != 0)
      sink_.add({"barrier", wave, inst, __builtin_ctzll(missing)}, [] {
        return std::string("a barrier in divergent code: some lanes of the wave are switched off");
      });
    // A wave comes to a barrier after another one has ended without it.
    if (ended_ != nullptr)
      reportEnded(wave, inst, ended_);
  } else if (inst.opcode->cls == OpClass::Control && (sanitizers_ & sanitizer::kLint) != 0 &&
             inst.opcode->name == "s_endpgm") {
    for (uint32_t i = 0; i < wave.group->waveCount; ++i)
      if (wave.group->waves[i].state == WaveState::AtBarrier)
        reportEnded(wave, inst, last_[i]);
    ended_ = &inst;
  }
}

void BarrierCheck::passed(WorkGroup &group) {
  if ((sanitizers_ & sanitizer::kLint) == 0)
    return;
  const Instruction *first = nullptr;
  for (uint32_t i = 0; i < group.waveCount; ++i) {
    if (group.waves[i].state == WaveState::Ended || last_[i] == nullptr)
      continue;
    if (first == nullptr)
      first = last_[i];
    else if (last_[i] != first)
      sink_.add({"lint", group.waves[i], *last_[i], -1, first},
                [] { return std::string("waves of one workgroup wait at different barriers"); });
  }
}

void BarrierCheck::reportEnded(Wave &wave, const Instruction &inst, const Instruction *other) {
  sink_.add({"lint", wave, inst, -1, other}, [] {
    return std::string("a wave ends without a barrier that another one of its workgroup waits at: "
                       "it no longer counts there, so that the barrier lets the others pass");
  });
}

} // namespace flyemu

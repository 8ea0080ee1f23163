// SPDX-License-Identifier: Apache-2.0
#include "device/livelock.h"

#include <algorithm>
#include <cstring>

#include "execute/memory_access.h"

namespace flyemu {
namespace {

constexpr uint64_t kLdsSpace = uint64_t{1} << 63; ///< apart from host addresses
constexpr size_t kMostKnown = size_t{1} << 16;    ///< bytes: who writes more is at work
constexpr uint32_t kMostMissed = 1000;            ///< comparisons between two snapshots

} // namespace

void LivelockProbe::start(Observer *inner) {
  inner_ = inner;
  for (Watched &watched : waves_)
    watched = Watched();
}

void LivelockProbe::take(const Wave &wave, const Instruction &inst, Snapshot &out) const {
  out.next = &inst;
  out.changes = changes_.load();
  out.scalars.assign(wave.scalar, wave.scalar + scalar::kCount);
  out.vectors.assign(wave.vector, wave.vector + size_t{rowsOf(wave.launch->generation)} * kLanes);
  out.scratch.assign(wave.scratch, wave.scratch + size_t{kLanes} * wave.scratchBytes);
  out.scc = wave.scc;
  out.mode = wave.mode;
  out.ticket = wave.globalTicket;
}

bool LivelockProbe::isSame(const Wave &wave, const Snapshot &s) const {
  return wave.scc == s.scc && wave.mode == s.mode && wave.globalTicket == s.ticket &&
         std::equal(s.scalars.begin(), s.scalars.end(), wave.scalar) &&
         std::memcmp(s.vectors.data(), wave.vector, s.vectors.size() * sizeof(uint32_t)) == 0 &&
         (s.scratch.empty() || std::memcmp(s.scratch.data(), wave.scratch, s.scratch.size()) == 0);
}

void LivelockProbe::before(Wave &wave, const Instruction &inst) {
  if (inner_ != nullptr)
    inner_->before(wave, inst);
  Watched &watched = waves_[wave.index];
  if (cycles(wave))
    return;
  watched.cycles = false;
  if (&inst == watched.snapshot.next && watched.missed < kMostMissed) {
    if (changes_.load() == watched.snapshot.changes && isSame(wave, watched.snapshot)) {
      constexpr uint32_t kEnough = 3;
      watched.cycles = ++watched.rounds >= kEnough;
      watched.cycleChanges = watched.snapshot.changes;
      return;
    }
    watched.rounds = 0;
    ++watched.missed;
  }
  if (++watched.steps < watched.renew)
    return;
  watched.renew *= 2;
  watched.missed = watched.rounds = 0;
  take(wave, inst, watched.snapshot);
}

void LivelockProbe::written(uint64_t space, const uint8_t *memory, uint64_t address,
                            uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) {
    const auto [it, isNew] = known_.emplace((address + i) | space, memory[i]);
    if (!isNew && it->second == memory[i])
      continue;
    it->second = memory[i];
    ++changes_;
  }
  if (known_.size() > kMostKnown)
    known_.clear();
}

void LivelockProbe::globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  if (inner_ != nullptr)
    inner_->globalAccess(wave, inst, access);
  if (access.kind != AccessKind::Load)
    forEachLane(access.lanes, [&](unsigned lane) {
      const uint64_t address = access.address[lane];
      written(0, reinterpret_cast<const uint8_t *>(address), address, access.bytes);
    });
}

void LivelockProbe::ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  if (inner_ != nullptr)
    inner_->ldsAccess(wave, inst, access);
  const WorkGroup &group = *wave.group;
  if (access.kind != AccessKind::Load)
    forEachLane(access.lanes, [&](unsigned lane) {
      const uint64_t offset = access.address[lane];
      if (offset <= group.ldsBytes && access.bytes <= group.ldsBytes - offset)
        written(kLdsSpace, group.lds + offset, offset, access.bytes);
    });
}

} // namespace flyemu

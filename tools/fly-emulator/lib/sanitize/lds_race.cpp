// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lds_race.h"

#include <algorithm>
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "sanitize/lane_conflict.h"
#include "support/format.h"

namespace flyemu {

struct LdsRaceCheck::Touch {
  Wave &wave;
  const Instruction &inst;
  AccessKind kind;
  bool direct;
  bool early; ///< was outstanding at the barrier: it is noted once more, not checked again
  unsigned lane;
  bool polls = false;
  uint64_t sequence = 0; ///< among its wave's accesses of its counter

  LdsOrder::Kind orderKind() const {
    return direct                       ? LdsOrder::Kind::Direct
           : kind == AccessKind::Load   ? LdsOrder::Kind::Read
           : kind == AccessKind::Atomic ? LdsOrder::Kind::Update
                                        : LdsOrder::Kind::Write;
  }
  Waves self() const { return 1U << wave.index; }
};

LdsRaceCheck::LdsRaceCheck(ReportSink &sink, unsigned sanitizers, Outstanding &outstanding,
                           ReleaseOrder &global, const Polling &polling, const WorkGroup &group)
    : sink_(sink), sanitizers_(sanitizers), outstanding_(outstanding), group_(group),
      polling_(polling),
      order_(polling.any() ? std::make_unique<LdsOrder>(outstanding, global, group) : nullptr),
      cells_((group.ldsBytes + 3) / 4), published_(group.waveCount) {}

LdsRaceCheck::Cell &LdsRaceCheck::at(uint64_t dword) {
  Cell &cell = cells_[dword];
  if (cell.epoch != epoch_) {
    cell.epoch = epoch_;
    cell.readers = cell.writers = cell.updaters = cell.early = 0;
    cell.mixed = cell.split = false;
  }
  return cell;
}

/// From here to the next barrier, what touched the dword touched each of its bytes.
void LdsRaceCheck::split(Cell &cell, uint32_t value) {
  cell.split = true;
  if (cell.pieces == 0) {
    pieces_.emplace_back();
    cell.pieces = static_cast<uint32_t>(pieces_.size());
  }
  for (unsigned i = 0; i < 4; ++i) {
    Cell &piece = pieces_[cell.pieces - 1][i];
    piece = cell;
    piece.value = (cell.writers != 0 ? cell.value : value) >> (8 * i) & 0xffU;
  }
}

void LdsRaceCheck::visit(const Touch &touch, uint64_t first, uint32_t bytes) {
  if (first > group_.ldsBytes || bytes > group_.ldsBytes - first)
    return;
  for (uint64_t address = first; address < first + bytes;) {
    Cell &cell = at(address / 4);
    const bool whole = address % 4 == 0 && address + 4 <= first + bytes;
    uint32_t value = 0;
    std::memcpy(&value, group_.lds + address / 4 * 4,
                std::min<uint64_t>(4, group_.ldsBytes - address / 4 * 4));
    if (cell.direct.inst != nullptr && !touch.early)
      checkDirect(touch, cell.direct, address);
    if (whole && !cell.split) {
      this->touch(touch, cell, address, value);
      address += 4;
      continue;
    }
    if (!cell.split)
      split(cell, value);
    const uint64_t end = std::min(first + bytes, address / 4 * 4 + 4);
    for (; address < end; ++address)
      this->touch(touch, pieces_[cell.pieces - 1][address % 4], address,
                  value >> (8 * (address % 4)) & 0xffU);
  }
  if (touch.direct && touch.kind != AccessKind::Load)
    for (uint64_t dword = first / 4; dword * 4 < first + bytes; ++dword)
      cells_[dword].direct = {&touch.inst, outstanding_.issued(touch.wave.index) + 1, epoch_,
                              static_cast<uint8_t>(touch.wave.index)};
}

void LdsRaceCheck::touch(const Touch &touch, Cell &cell, uint64_t address, uint32_t value) {
  if (touch.polls)
    return;
  if (!touch.early)
    check(touch, cell, address, value);
  record(touch, cell, value);
  // What a copy to memory reads is in an order that nothing here follows.
  if (order_ != nullptr && !(touch.direct && touch.kind == AccessKind::Load))
    order_->note(touch.orderKind(), touch.wave.index, address / 4, touch.sequence);
}

LdsRaceCheck::Waves LdsRaceCheck::unordered(const Touch &touch, uint64_t address, Waves waves,
                                            LdsOrder::Kind kind) const {
  waves &= ~touch.self();
  if (waves == 0 || order_ == nullptr)
    return waves;
  const uint32_t self = touch.wave.index;
  Waves out = order_->unordered(kind, waves, self, address / 4);
  if (kind == LdsOrder::Kind::Write)
    out |= order_->unordered(LdsOrder::Kind::Direct, waves, self, address / 4);
  return out;
}

/// After the access has been looked at.
void LdsRaceCheck::makeOrder(const Touch &touch, const LaneAccess &access) {
  const bool updates = touch.kind == AccessKind::Atomic;
  const bool acquires = (updates && touch.inst.dstCount != 0) || touch.polls;
  const bool releases = updates || (touch.kind == AccessKind::Store && !touch.direct);
  std::vector<uint64_t> dwords;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (first > group_.ldsBytes || access.bytes > group_.ldsBytes - first)
      return;
    for (uint64_t dword = first / 4; dword * 4 < first + access.bytes; ++dword)
      if (std::find(dwords.begin(), dwords.end(), dword) == dwords.end())
        dwords.push_back(dword);
  });
  if (acquires)
    for (const uint64_t dword : dwords)
      order_->acquire(touch.wave.index, dword);
  if (releases)
    order_->release(touch.wave.index, dwords, updates);
}

/// Other waves' accesses between the same barriers are races, and reported as such. Loads of one
/// wave arrive in order.
void LdsRaceCheck::checkDirect(const Touch &touch, const Direct &direct, uint64_t address) {
  const bool own = direct.wave == touch.wave.index;
  if (own ? touch.direct || direct.sequence <= outstanding_.retiredDirect(direct.wave)
          : direct.epoch == epoch_ || direct.sequence <= published_[direct.wave])
    return;
  if ((sanitizers_ & sanitizer::kWait) == 0 || isRepeat(direct.inst, kLanes))
    return;
  sink_.add(
      {"wait", touch.wave, touch.inst, static_cast<int>(touch.lane), direct.inst, true, address},
      [&] {
        return format("LDS bytes from %llu on are %s before the load into LDS has arrived: "
                      "an %s is missing or too weak%s",
                      static_cast<unsigned long long>(address),
                      touch.kind == AccessKind::Load ? "read" : "overwritten",
                      outstanding_.counters().wait(copyCounter(*direct.inst)),
                      own ? "" : ", in the wave that issued it");
      });
}

void LdsRaceCheck::check(const Touch &touch, const Cell &cell, uint64_t address, uint32_t value) {
  using Kind = LdsOrder::Kind;
  const auto found = [&](Kind kind, Waves waves, const RecentAccesses &recent, const char *what,
                         bool seed = false) {
    waves = unordered(touch, address, waves, kind);
    if (waves == 0)
      return;
    const Instruction *other = recent.ofAnother(touch.wave.index);
    const Instruction *plainLoad = !seed                            ? nullptr
                                   : touch.kind == AccessKind::Load ? &touch.inst
                                                                    : other;
    const bool barrierBetween = (waves & ~cell.early) == 0;
    // What comes from memory arrives long after a read that was issued before the barrier.
    if (barrierBetween && touch.direct && kind == Kind::Read)
      lint(touch, address, other);
    else
      report(touch, address, other, barrierBetween, what, plainLoad);
  };
  switch (touch.kind) {
  case AccessKind::Load:
    // A wave that stored the value itself reads that, since all others stored the same: otherwise
    // the stores are a finding.
    if ((cell.writers & touch.self()) == 0)
      found(Kind::Write, cell.writers, cell.writes, "a wave reads what another one writes in");
    found(Kind::Update, cell.updaters, cell.updates,
          "a wave reads what another one updates atomically in", true);
    break;
  case AccessKind::Store:
    if (cell.mixed || cell.value != value)
      found(Kind::Write, cell.writers, cell.writes, "two waves write different values to");
    found(Kind::Update, cell.updaters, cell.updates,
          "a wave writes what another one updates atomically in");
    found(Kind::Read, cell.readers, cell.reads, "a wave overwrites what another one reads in");
    break;
  case AccessKind::Atomic:
    found(Kind::Write, cell.writers, cell.writes,
          "a wave updates atomically what another one writes in");
    found(Kind::Read, cell.readers, cell.reads,
          "a wave updates atomically what another one reads in", true);
    break;
  }
}

void LdsRaceCheck::record(const Touch &touch, Cell &cell, uint32_t value) {
  const Waves self = touch.self();
  if (touch.early)
    cell.early |= self;
  else
    cell.early &= ~self;
  switch (touch.kind) {
  case AccessKind::Load:
    if ((cell.writers & self) != 0)
      return;
    cell.readers |= self;
    cell.reads.note(touch.inst, touch.wave.index);
    return;
  case AccessKind::Store:
    cell.mixed |= cell.writers != 0 && cell.value != value;
    cell.writers |= self;
    cell.value = value;
    cell.writes.note(touch.inst, touch.wave.index);
    return;
  case AccessKind::Atomic:
    cell.updaters |= self;
    cell.updates.note(touch.inst, touch.wave.index);
    return;
  }
}

/// A finding counts once for each lane of an access (`lane` kLanes: once for all of them), not for
/// each byte.
bool LdsRaceCheck::isRepeat(const Instruction *other, unsigned lane) {
  const std::pair<const Instruction *, unsigned> news{other, lane};
  if (std::find(reported_.begin(), reported_.end(), news) != reported_.end())
    return true;
  reported_[reports_++ % reported_.size()] = news;
  return false;
}

void LdsRaceCheck::report(const Touch &touch, uint64_t address, const Instruction *other,
                          bool barrierBetween, const char *what, const Instruction *plainLoad) {
  if ((sanitizers_ & (barrierBetween ? sanitizer::kWait : sanitizer::kRace)) == 0 ||
      isRepeat(other, barrierBetween ? kLanes : touch.lane))
    return;
  const auto number = static_cast<unsigned long long>(address);
  const auto lane = static_cast<int>(touch.lane);
  if (barrierBetween)
    sink_.add({"wait", touch.wave, touch.inst, lane, other, true, address, plainLoad}, [&] {
      return format("%s LDS byte %llu after a barrier that the other access may reach unfinished: "
                    "an %s is missing before the %s, in the other wave",
                    what, number, outstanding_.counters().wait(Counter::Local),
                    outstanding_.counters().separateScalars() ? "s_barrier_signal" : "barrier");
    });
  else
    sink_.add({"race", touch.wave, touch.inst, lane, other, true, address, plainLoad}, [&] {
      return format("%s LDS byte %llu without a barrier between them", what, number);
    });
}

void LdsRaceCheck::lint(const Touch &touch, uint64_t address, const Instruction *other) {
  if ((sanitizers_ & sanitizer::kLint) == 0 || isRepeat(other, kLanes))
    return;
  sink_.add({"lint", touch.wave, touch.inst, static_cast<int>(touch.lane), other, true, address},
            [&] {
              return format("a load into LDS byte %llu is issued after a barrier while a read of "
                            "another wave from before it may be on its way: an s_waitcnt lgkmcnt "
                            "before the barrier, in the other wave, would make it certain",
                            static_cast<unsigned long long>(address));
            });
}

void LdsRaceCheck::access(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  reported_.fill({});
  reports_ = 0;
  const bool direct = Outstanding::isDirect(inst);
  if ((sanitizers_ & sanitizer::kRace) != 0 && !direct)
    checkLdsLanes(sink_, wave, inst, access,
                  outstanding_.parts(wave.index) == 0 ? nullptr
                                                      : &outstanding_.firstPart(wave.index));
  Touch touch{wave, inst, access.kind, direct, false, 0};
  touch.polls = polling_.polls(inst);
  touch.sequence =
      1 + (direct ? outstanding_.issued(wave.index) : outstanding_.localIssued(wave.index));
  forEachLane(access.lanes, [&](unsigned lane) {
    touch.lane = lane;
    visit(touch, access.address[lane], access.bytes);
  });
  if (order_ != nullptr)
    makeOrder(touch, access);
}

void LdsRaceCheck::barrier() {
  ++epoch_;
  if (order_ != nullptr)
    order_->barrier();
  for (uint32_t w = 0; w < group_.waveCount; ++w) {
    const Outstanding::Arrival &arrival = outstanding_.arrival(w);
    published_[w] = arrival.retiredDirect;
    for (const Outstanding::Operation &operation : arrival.unordered)
      for (const Outstanding::LdsPart &part : operation.lds) {
        Touch touch{group_.waves[w], *operation.inst, part.kind, false, true, 0};
        touch.polls = polling_.polls(*operation.inst);
        touch.sequence = operation.localSequence;
        forEachLane(part.lanes,
                    [&](unsigned lane) { visit(touch, part.address[lane], part.bytes); });
      }
  }
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#include "sanitize/global_race.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "sanitize/lane_conflict.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// The bytes of a dword that an access was allowed to touch; the others as zero.
uint32_t bytesAt(uint64_t address, uint8_t bytes) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    if ((bytes >> i & 1U) != 0)
      value |= uint32_t{*reinterpret_cast<const volatile uint8_t *>(address + i)} << (8 * i);
  return value;
}

uint32_t maskOf(uint8_t bytes) {
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    mask |= (bytes >> i & 1U) != 0 ? 0xffU << (8 * i) : 0U;
  return mask;
}

/// Is one of them found? It is the last that is looked at.
template <typename Touches, typename F> bool anyOf(const Touches &touches, F &&isFound) {
  return std::any_of(touches.begin(), touches.end(), isFound);
}

/// Workgroups next to each other have bits of their own.
uint64_t bitOf(uint64_t wave) { return uint64_t{1} << ((wave ^ wave >> 3) % 64); }

} // namespace

struct GlobalRaceCheck::Part {
  Wave &wave;
  const Instruction &inst;
  AccessKind kind;
  Scope scope;
  ReleaseOrder &order;
  bool either = false;
  unsigned lane = 0;
  uint64_t dword = 0;
  uint8_t bytes = 0;  ///< of the dword, one bit each
  uint32_t value = 0; ///< what a plain store puts there

  bool writes() const { return kind != AccessKind::Load; }
  bool plainLoad() const { return kind == AccessKind::Load && scope == Scope::None; }
  /// In no order, on the same bytes, and not both atomic?
  bool conflicts(const Touch &touch) const {
    if ((touch.bytes & bytes) == 0)
      return false;
    const Scope enough = order.isOwn(touch.wave) ? Scope::WorkGroup : Scope::Device;
    const bool atomic = scope >= enough && touch.scope >= enough && !(either && touch.either);
    return !atomic && !order.isBefore(touch, wave.index, plainLoad());
  }
  bool sameValue(const Cell &cell, const Touch &writer) const {
    return kind == AccessKind::Store && ((value ^ cell.value) & maskOf(bytes & writer.bytes)) == 0;
  }
  Touch touch() const {
    Touch now;
    now.wave = order.numberOf(wave.index);
    now.sequence = order.sequence(wave.index);
    // Behind its signal a wave is in no order any more with what the others do behind the barrier.
    now.epoch = order.epoch() + (wave.signalled ? 1 : 0);
    now.counted = countsAsStore(inst);
    now.store = writes();
    now.coherent = scope == Scope::Device;
    now.inst = &inst;
    now.scope = scope;
    now.either = either;
    now.bytes = bytes;
    return now;
  }
};

uint64_t GlobalRaceCheck::numberOf(const WorkGroup &group) {
  // 27 bits of x, with the five of the wave: more workgroups than that are never run.
  return (uint64_t{group.id[2]} << 43) | (uint64_t{group.id[1]} << 27) | group.id[0];
}

void GlobalRaceCheck::meet(uint32_t wave, ReleaseOrder &order) {
  const std::lock_guard<std::mutex> lock(meetingMutex_);
  order.acquire(wave, meeting_, true);
  order.release(wave, meeting_);
}

GlobalRaceCheck::Scope GlobalRaceCheck::scopeOf(const Instruction &inst, AccessKind kind) {
  if (kind == AccessKind::Atomic || inst.modifiers.sc1)
    return Scope::Device;
  return inst.modifiers.sc0 ? Scope::WorkGroup : Scope::None;
}

GlobalRaceCheck::Page &GlobalRaceCheck::pageOf(uint64_t number, Cache &cache) {
  auto &[cached, page] = cache.pages[number % cache.pages.size()];
  if (page == nullptr || cached != number) {
    Shard &shard = shards_[number % shards_.size()];
    const std::lock_guard<std::mutex> lock(shard.mutex);
    std::unique_ptr<Page> &slot = shard.pages[number];
    if (slot == nullptr)
      slot = std::make_unique<Page>();
    cached = number;
    page = slot.get();
  }
  return *page;
}

void GlobalRaceCheck::access(Wave &wave, const Instruction &inst, const LaneAccess &access,
                             ReleaseOrder &order, Cache &cache) {
  checkGlobalLanes(sink_, wave, inst, access);
  const StoredBytes data = storedToGlobal(wave, inst, access);
  const bool either = isEither(access.kind);
  Part part{wave,  inst,  access.kind, either ? Scope::Device : scopeOf(inst, access.kind),
            order, either};
  std::unique_lock<std::mutex> lock;
  uint64_t locked = ~uint64_t{0};
  Page *page = nullptr;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t begin = access.address[lane];
    const uint64_t end = begin + access.bytes;
    part.lane = lane;
    for (part.dword = begin / 4; part.dword * 4 < end; ++part.dword) {
      const uint64_t number = part.dword / kPageDwords;
      if (number != locked) {
        if (lock.owns_lock())
          lock.unlock();
        page = &pageOf(number, cache);
        lock = std::unique_lock<std::mutex>(page->mutex);
        locked = number;
      }
      part.bytes = 0;
      for (unsigned i = 0; i < 4; ++i)
        if (part.dword * 4 + i >= begin && part.dword * 4 + i < end)
          part.bytes |= static_cast<uint8_t>(1U << i);
      part.value = 0;
      // By the time that a store is looked at, another workgroup may have stored there too.
      if (access.kind == AccessKind::Store && !data.known())
        part.value = bytesAt(part.dword * 4, part.bytes);
      else if (access.kind == AccessKind::Store)
        for (unsigned i = 0; i < 4; ++i)
          if ((part.bytes >> i & 1U) != 0)
            part.value |= uint32_t{data.byte(part.dword * 4 + i - begin, lane)} << (8 * i);
      visit(part, *page);
    }
  });
}

void GlobalRaceCheck::visit(const Part &part, Page &page) {
  Cell &cell = page.cells[part.dword % kPageDwords];
  check(part, cell);
  record(part, cell);
  if (part.scope == Scope::None)
    return;
  // What does not return a value shows nothing of what came before.
  WaveTimes &times = page.released[part.dword];
  if (part.kind == AccessKind::Load || (part.kind == AccessKind::Atomic && part.inst.dstCount != 0))
    part.order.acquire(part.wave.index, times, false);
  if (part.writes())
    part.order.release(part.wave.index, times);
}

void GlobalRaceCheck::check(const Part &part, const Cell &cell) {
  // A place that the wave stored to, or somebody before it, holds that value: where others store
  // there too, they store the same, or that is a finding.
  bool known = false;
  if (part.kind == AccessKind::Load)
    for (const Touch &writer : cell.writers)
      known |= writer.plain() && (part.bytes & ~writer.bytes) == 0 &&
               part.order.isBefore(writer, part.wave.index, true);
  const auto isFound = [&](const Touch &writer) {
    const bool plain = writer.plain();
    if (!part.conflicts(writer) || (plain && (known || part.sameValue(cell, writer))))
      return false;
    const bool own = part.order.isOwn(writer.wave);
    const char *what = part.writes()
                           ? own ? "two waves of a workgroup write different values to the same "
                                   "memory without a barrier between them"
                                 : "two workgroups write different values to the same memory"
                       : own ? "a wave reads what another one of its workgroup writes without a "
                               "barrier between them"
                             : "a workgroup reads what another one writes";
    report(part, writer, what,
           !part.writes() && writer.scope == Scope::Device ? &part.inst : nullptr);
    return true;
  };
  if (anyOf(cell.writers, isFound) ||
      (cell.more != nullptr && anyOf(cell.more->writers.touches, isFound)))
    return;
  if (part.writes())
    checkReaders(part, cell);
  else if (part.inst.opcode->cls == OpClass::ScalarMemory)
    for (const Touch &writer : cell.writers)
      checkScalarCache(part, writer);
}

/// The scalar cache keeps what it has read: nothing that the kernel stores reaches it.
void GlobalRaceCheck::checkScalarCache(const Part &part, const Touch &writer) {
  if ((writer.bytes & part.bytes) == 0 || part.order.scalarCacheHas(writer, part.wave.index))
    return;
  sink_.add({"race", part.wave, part.inst, -1, writer.inst, true, part.dword * 4}, [&] {
    return "a scalar load reads what the kernel has stored, and the scalar cache may hold what was "
           "there before: the store has to be complete (s_waitcnt vmcnt), then an s_dcache_inv is "
           "missing before the load, at " +
           hex(part.dword * 4) + ": " + part.wave.launch->memory->describe(part.dword * 4, 4);
  });
}

void GlobalRaceCheck::checkReaders(const Part &part, const Cell &cell) {
  const auto isFound = [&](const Touch &reader) {
    if (!part.conflicts(reader))
      return false;
    // It read what it had stored itself, and this is the same value.
    bool stored = false;
    for (const Touch &writer : cell.writers)
      stored |= writer.wave == reader.wave && (reader.bytes & ~writer.bytes) == 0 &&
                part.sameValue(cell, writer);
    if (stored)
      return false;
    report(part, reader,
           part.order.isOwn(reader.wave)
               ? "a wave writes what another one of its workgroup reads without a barrier "
                 "between them"
               : "a workgroup writes what another one reads",
           part.kind == AccessKind::Atomic ? reader.inst : nullptr);
    return true;
  };
  if (!anyOf(cell.readers, isFound) && cell.more != nullptr)
    anyOf(cell.more->readers.touches, isFound);
}

void GlobalRaceCheck::report(const Part &part, const Touch &other, const char *what,
                             const Instruction *plainLoad) {
  const uint64_t address = part.dword * 4;
  const auto lane = static_cast<int>(part.lane);
  sink_.add({"race", part.wave, part.inst, lane, other.inst, true, address, plainLoad}, [&] {
    const bool own = part.order.isOwn(other.wave);
    return format("%s%s, at %s: %s", what,
                  own ? "" : part.order.missing(other, part.wave.index).c_str(),
                  hex(address).c_str(), part.wave.launch->memory->describe(address, 4).c_str());
  });
}

void GlobalRaceCheck::record(const Part &part, Cell &cell) {
  if (part.kind == AccessKind::Store) {
    const uint32_t mask = maskOf(part.bytes);
    cell.value = (cell.value & ~mask) | (part.value & mask);
  }
  Touch pushedOut;
  const bool full =
      part.writes() ? keep(cell.writers, part, pushedOut) : keep(cell.readers, part, pushedOut);
  if (cell.more == nullptr && (!full || !makesOrder_))
    return;
  if (cell.more == nullptr)
    cell.more = std::make_unique<More>();
  keepMore(part.writes() ? cell.more->writers : cell.more->readers, part,
           full ? &pushedOut : nullptr);
}

/// What happened before this access need not be remembered: whatever is in no order with that is in
/// none with this either. Of the others, those of two waves (three that read) have room here. True
/// if one was pushed out.
template <size_t Count>
bool GlobalRaceCheck::keep(std::array<Touch, Count> &touches, const Part &part, Touch &pushedOut) {
  const Touch now = part.touch();
  Touch *slot = nullptr;
  for (Touch &touch : touches) {
    if (touch.bytes == 0) {
      slot = slot == nullptr ? &touch : slot;
      continue;
    }
    if (touch.wave == now.wave) {
      // Bytes of one row are touched one by one.
      const bool together = touch.scope == now.scope && part.order.unreleased(touch);
      const auto bytes = static_cast<uint8_t>(touch.bytes | now.bytes);
      touch = now;
      touch.bytes = together ? bytes : now.bytes;
      return false;
    }
    if ((touch.bytes & ~now.bytes) == 0 && part.order.isBefore(touch, part.wave.index, true))
      slot = &touch;
  }
  const bool full = slot == nullptr;
  if (full)
    pushedOut = touches.back();
  *(full ? &touches.back() : slot) = now;
  return full;
}

/// The wave has a place in the cell now, and here the one that it pushed out of there.
void GlobalRaceCheck::keepMore(More::List &list, const Part &part, const Touch *pushedOut) {
  const uint64_t self = part.order.numberOf(part.wave.index);
  Touch *slot = nullptr;
  if ((list.waves & bitOf(self)) != 0)
    for (Touch &touch : list.touches)
      if (touch.wave == self && (touch.bytes & ~part.bytes) == 0) {
        touch.bytes = 0;
        slot = &touch;
      }
  if (pushedOut == nullptr)
    return;
  list.waves |= bitOf(pushedOut->wave);
  if (slot != nullptr) {
    *slot = *pushedOut;
  } else if (list.touches.size() < More::kMost && more_.fetch_add(1) < kMostMore) {
    if (list.touches.empty())
      list.touches.reserve(8);
    list.touches.push_back(*pushedOut);
  } else if (!list.touches.empty()) {
    list.touches[list.next % list.touches.size()] = *pushedOut;
    list.next = (list.next + 1) % list.touches.size();
  }
}

} // namespace flyemu

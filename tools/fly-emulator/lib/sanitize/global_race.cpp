// SPDX-License-Identifier: Apache-2.0
#include "sanitize/global_race.h"

#include "execute/memory_access.h"
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

} // namespace

void GlobalRaceCheck::access(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t begin = access.address[lane];
    const uint64_t end = begin + access.bytes;
    for (uint64_t dword = begin / 4; dword * 4 < end; ++dword) {
      uint8_t bytes = 0;
      for (unsigned i = 0; i < 4; ++i)
        if (dword * 4 + i >= begin && dword * 4 + i < end)
          bytes |= static_cast<uint8_t>(1U << i);
      check(wave, inst, access.kind, lane, dword, bytes);
    }
  });
}

void GlobalRaceCheck::check(Wave &wave, const Instruction &inst, AccessKind kind, unsigned lane,
                            uint64_t dword, uint8_t bytes) {
  const WorkGroup &group = *wave.group;
  const uint64_t self = (uint64_t{group.id[2]} << 42) | (uint64_t{group.id[1]} << 21) | group.id[0];
  Shard &shard = shards_[dword / 16 % shards_.size()];
  const std::lock_guard<std::mutex> lock(shard.mutex);
  Cell &cell = shard.cells[dword];
  const bool atomic = kind == AccessKind::Atomic;
  const uint32_t value = bytesAt(dword * 4, bytes); // after the access
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    mask |= (bytes & cell.writeBytes & (1U << i)) != 0 ? 0xffU << (8 * i) : 0U;
  const bool sameValue = kind == AccessKind::Store && ((value ^ cell.value) & mask) == 0;
  const Instruction *other = nullptr;
  const char *what = nullptr;
  if (cell.writer != kNobody && cell.writer != self && (cell.writeBytes & bytes) != 0 &&
      !(atomic && cell.atomic) && !sameValue) {
    other = cell.write;
    what = kind == AccessKind::Load ? "a workgroup reads what another one writes"
                                    : "two workgroups write different values to the same memory";
  } else if (kind != AccessKind::Load && (cell.readBytes & bytes) != 0 &&
             ((cell.reader != kNobody && cell.reader != self) || cell.otherReader != kNobody)) {
    other = cell.read;
    what = "a workgroup writes what another one reads";
  }
  if (what != nullptr)
    sink_.add({"race", wave, inst, static_cast<int>(lane), other, true, dword * 4}, [&] {
      return format("%s, at %s: %s", what, hex(dword * 4).c_str(),
                    wave.launch->memory->describe(dword * 4, 4).c_str());
    });
  if (kind == AccessKind::Load) {
    cell.readBytes |= bytes;
    cell.read = &inst;
    if (cell.reader == kNobody)
      cell.reader = self;
    else if (cell.reader != self)
      cell.otherReader = self;
  } else {
    for (unsigned i = 0; i < 4; ++i)
      if ((bytes >> i & 1U) != 0)
        cell.value = (cell.value & ~(0xffU << (8 * i))) | (value & 0xffU << (8 * i));
    cell.writeBytes |= bytes;
    cell.write = &inst;
    cell.writer = self;
    cell.atomic = atomic;
  }
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#include "sanitize/global_race.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"
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

/// The registers that a plain store takes its bytes from, and by how many bits they are shifted: by
/// the time that the store is looked at, another workgroup may have stored there too. Null where it
/// converts, or was cut at a bound.
const uint32_t *storedRows(const Wave &wave, const Instruction &inst, const LaneAccess &access,
                           unsigned &shift) {
  const std::string &name = inst.opcode->name;
  const bool buffer = name.rfind("buffer_store", 0) == 0;
  const bool plain =
      buffer || name.rfind("global_store", 0) == 0 || name.rfind("flat_store", 0) == 0;
  if (access.kind != AccessKind::Store || !plain || name.find("format") != std::string::npos)
    return nullptr;
  const Operand &data = inst.src[buffer ? 0 : 1];
  if (!data.isVector() || (access.bytes + 3) / 4 != data.dwords)
    return nullptr;
  shift = name.find("d16_hi") != std::string::npos ? 16 : 0;
  return wave.row(data.index);
}

uint32_t maskOf(uint8_t bytes) {
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    mask |= (bytes >> i & 1U) != 0 ? 0xffU << (8 * i) : 0U;
  return mask;
}

} // namespace

struct GlobalRaceCheck::Part {
  AccessKind kind;
  bool atomic; ///< or a load or store of a scope that other workgroups are in
  unsigned lane;
  uint64_t dword;
  uint8_t bytes;  ///< of the dword, one bit each
  uint32_t value; ///< of those bytes, after the access
};

uint64_t GlobalRaceCheck::numberOf(const WorkGroup &group) {
  return (uint64_t{group.id[2]} << 42) | (uint64_t{group.id[1]} << 21) | group.id[0];
}

void GlobalRaceCheck::meet(GroupClock &clock) {
  const std::lock_guard<std::mutex> lock(meetingMutex_);
  clock.synchronise(meeting_);
}

void GlobalRaceCheck::access(Wave &wave, const Instruction &inst, const LaneAccess &access,
                             GroupClock &clock) {
  Part part{access.kind, access.kind == AccessKind::Atomic || inst.modifiers.sc1, 0, 0, 0, 0};
  unsigned shift = 0;
  const uint32_t *rows = storedRows(wave, inst, access, shift);
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t begin = access.address[lane];
    const uint64_t end = begin + access.bytes;
    part.lane = lane;
    for (part.dword = begin / 4; part.dword * 4 < end; ++part.dword) {
      part.bytes = 0;
      for (unsigned i = 0; i < 4; ++i)
        if (part.dword * 4 + i >= begin && part.dword * 4 + i < end)
          part.bytes |= static_cast<uint8_t>(1U << i);
      part.value = rows == nullptr ? bytesAt(part.dword * 4, part.bytes) : 0;
      for (unsigned i = 0; i < 4 && rows != nullptr; ++i)
        if ((part.bytes >> i & 1U) != 0) {
          const uint64_t at = part.dword * 4 + i - begin;
          const uint32_t word = rows[at / 4 * kLanes + lane];
          part.value |= (word >> (8 * (at % 4) + shift) & 0xffU) << (8 * i);
        }
      check(wave, inst, part, clock);
    }
  });
}

void GlobalRaceCheck::check(Wave &wave, const Instruction &inst, const Part &part,
                            GroupClock &clock) {
  Shard &shard = shards_[part.dword / 16 % shards_.size()];
  const std::lock_guard<std::mutex> lock(shard.mutex);
  Cell &cell = shard.cells[part.dword];
  const bool writes = part.kind != AccessKind::Load;
  const uint32_t value = part.value;
  const auto concurrent = [&](const Touch &touch) {
    return (touch.bytes & part.bytes) != 0 && !clock.isAfter(touch.group, touch.time);
  };
  const auto sameValue = [&](const Touch &writer) {
    return part.kind == AccessKind::Store &&
           ((value ^ cell.value) & maskOf(part.bytes & writer.bytes)) == 0;
  };
  const Touch *other = nullptr;
  const char *what = nullptr;
  const Instruction *plainLoad = nullptr; // where the other side is atomic
  for (const Touch &writer : cell.writers)
    if (other == nullptr && concurrent(writer) && !(part.atomic && writer.atomic) &&
        !sameValue(writer)) {
      other = &writer;
      what = writes ? "two workgroups write different values to the same memory"
                    : "a workgroup reads what another one writes";
      plainLoad = !writes && writer.atomic ? &inst : nullptr;
    }
  for (const Touch &reader : cell.readers)
    if (other == nullptr && writes && concurrent(reader)) {
      other = &reader;
      what = "a workgroup writes what another one reads";
      plainLoad = part.atomic ? reader.inst : nullptr;
    }
  if (what != nullptr) {
    const uint64_t address = part.dword * 4;
    const auto lane = static_cast<int>(part.lane);
    sink_.add({"race", wave, inst, lane, other->inst, true, address, plainLoad}, [&] {
      return format("%s, at %s: %s", what, hex(address).c_str(),
                    wave.launch->memory->describe(address, 4).c_str());
    });
  }
  const Touch now{clock.self, clock.time, &inst, part.bytes, part.atomic};
  if (part.atomic)
    clock.synchronise(shard.atomics[part.dword]);
  if (!writes) {
    if (part.atomic)
      return; // does not race with atomic writes, and plain ones are found from their side
    record(cell.readers, now);
    return;
  }
  const uint32_t mask = maskOf(part.bytes);
  cell.value = (cell.value & ~mask) | (value & mask);
  for (Touch &writer : cell.writers)
    writer.bytes &= static_cast<uint8_t>(~part.bytes); // what it wrote there is gone
  record(cell.writers, now);
}

/// Keeps the newest touch of each of two groups; bytes that a group touched at an earlier time of
/// its clock are forgotten.
void GlobalRaceCheck::record(Touches &touches, const Touch &now) {
  Touch *place = &touches.back();
  for (Touch &touch : touches)
    if (touch.group == now.group) {
      const uint8_t earlier = touch.time == now.time ? touch.bytes : uint8_t{0};
      touch = now;
      touch.bytes |= earlier;
      return;
    }
  for (Touch &touch : touches)
    if (touch.bytes == 0) {
      place = &touch;
      break;
    }
  *place = now;
}

} // namespace flyemu

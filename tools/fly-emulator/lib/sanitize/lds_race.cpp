// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lds_race.h"

#include "execute/memory_access.h"
#include "support/format.h"

namespace flyemu {

LdsRaceCheck::LdsRaceCheck(ReportSink &sink, uint32_t bytes) : sink_(sink), cells_(bytes) {}

void LdsRaceCheck::access(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (first > cells_.size() || access.bytes > cells_.size() - first)
      return;
    for (uint32_t i = 0; i < access.bytes; ++i)
      check(wave, inst, access, lane, first + i);
  });
}

void LdsRaceCheck::check(Wave &wave, const Instruction &inst, const LaneAccess &access,
                         unsigned lane, uint64_t address) {
  Cell &cell = cells_[address];
  const bool reads = access.kind != AccessKind::Store;
  const bool writes = access.kind != AccessKind::Load;
  const bool atomic = access.kind == AccessKind::Atomic;
  const uint32_t self = 1U << wave.index;
  const uint8_t value = wave.group->lds[address]; // after the access
  const bool sameValue = access.kind == AccessKind::Store && cell.value == value;
  const char *what = nullptr;
  const Instruction *other = nullptr;
  if (cell.writeEpoch == epoch_ && cell.writer != wave.index && !(atomic && cell.atomic) &&
      !sameValue) {
    what =
        writes ? "two waves write different values to" : "a wave reads what another one writes in";
    other = cell.write;
  } else if (writes && !atomic && cell.readEpoch == epoch_ && (cell.readers & ~self) != 0) {
    what = "a wave overwrites what another one reads in";
    other = cell.read;
  }
  const Instruction *plainLoad = !writes && cell.atomic ? &inst : nullptr;
  if (what != nullptr)
    sink_.add({"race", wave, inst, static_cast<int>(lane), other, true, address, plainLoad}, [&] {
      return format("%s LDS byte %llu without a barrier between them", what,
                    static_cast<unsigned long long>(address));
    });
  if (reads && !atomic) {
    if (cell.readEpoch != epoch_)
      cell.readers = 0;
    cell.readEpoch = epoch_;
    cell.readers |= self;
    cell.read = &inst;
  }
  if (writes) {
    // Of several writers the first non-atomic one is the more telling; the latest will do.
    cell.writeEpoch = epoch_;
    cell.writer = static_cast<uint8_t>(wave.index);
    cell.value = value;
    cell.atomic = atomic;
    cell.write = &inst;
  }
}

} // namespace flyemu

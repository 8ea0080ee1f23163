// SPDX-License-Identifier: Apache-2.0
#include "execute/data_parallel.h"

#include <cstring>
#include <map>
#include <mutex>

#include "execute/lanes/lane_kernel.h"

namespace flyemu {
namespace {

/// The lane that a lane reads, or -1.
int sourceLane(const Dpp &dpp, int lane) {
  const int row = lane & ~15;
  const int inRow = lane & 15;
  const int n = static_cast<int>(dpp.argument);
  switch (dpp.control) {
  case DppControl::QuadPerm:
    return (lane & ~3) | ((n >> (2 * (lane & 3))) & 3);
  case DppControl::RowShl:
    return inRow + n < 16 ? lane + n : -1;
  case DppControl::RowShr:
    return inRow - n >= 0 ? lane - n : -1;
  case DppControl::RowRor:
    return row | ((inRow - n) & 15);
  case DppControl::WaveShl:
    return lane + 1 < 64 ? lane + 1 : -1;
  case DppControl::WaveRol:
    return (lane + 1) & 63;
  case DppControl::WaveShr:
    return lane - 1;
  case DppControl::WaveRor:
    return (lane - 1) & 63;
  case DppControl::RowMirror:
    return row | (15 - inRow);
  case DppControl::RowHalfMirror:
    return (lane & ~7) | (7 - (lane & 7));
  case DppControl::RowBcast15:
    return lane >= 16 ? row - 1 : -1;
  case DppControl::RowBcast31:
    return lane >= 32 ? 31 : -1;
  case DppControl::RowNewBcast:
    return row | n;
  case DppControl::RowXmask:
    return row | (inRow ^ n);
  case DppControl::Lanes8:
    return (lane & ~7) | (n >> (3 * (lane & 7)) & 7);
  }
  return -1;
}

} // namespace

const DppLanes &dppLanes(const Dpp &dpp) {
  static std::mutex mutex;
  static auto *tables = new std::map<uint64_t, DppLanes>;
  const uint64_t key = static_cast<uint64_t>(dpp.control) | uint64_t{dpp.argument} << 8 |
                       uint64_t{dpp.rowMask} << 32 | uint64_t{dpp.bankMask} << 36;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [it, isNew] = tables->try_emplace(key);
  DppLanes &table = it->second;
  if (!isNew)
    return table;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int source = sourceLane(dpp, static_cast<int>(lane));
    const uint64_t bit = uint64_t{1} << lane;
    table.source[lane] = static_cast<uint8_t>(source < 0 ? 0 : source);
    table.valid |= source < 0 ? 0 : bit;
    const bool row = ((dpp.rowMask >> (lane / 16)) & 1U) != 0;
    const bool bank = ((dpp.bankMask >> ((lane / 4) & 3U)) & 1U) != 0;
    table.enabled |= row && bank ? bit : 0;
  }
  return table;
}

namespace {

/// The lanes whose source lane exists and is active, or is read although it is not.
uint64_t validLanes(const DppLanes &table, uint64_t exec, bool fetchInactive) {
  if (exec == ~uint64_t{0} || fetchInactive)
    return table.valid;
  uint64_t active = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    active |= (exec >> table.source[lane] & 1U) << lane;
  return active & table.valid;
}

} // namespace

void dppRows(uint32_t *to, const uint32_t *from, unsigned dwords, const Dpp &dpp, uint64_t exec) {
  const DppLanes &table = *dpp.lanes;
  const uint64_t valid = validLanes(table, exec, dpp.fetchInactive);
  uint32_t copy[kLanes];
  for (unsigned i = 0; i < dwords; ++i, to += kLanes, from += kLanes) {
    const uint32_t *source = from;
    if (to == from) {
      std::memcpy(copy, from, sizeof copy);
      source = copy;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      to[lane] = source[table.source[lane]];
    for (uint64_t rest = ~valid; rest != 0; rest &= rest - 1) // few: the ends of rows
      to[__builtin_ctzll(rest)] = 0;
  }
}

uint64_t dppWrittenLanes(const Dpp &dpp, uint64_t exec) {
  const DppLanes &table = *dpp.lanes;
  return dpp.boundCtrl ? table.enabled : table.enabled & validLanes(table, exec, dpp.fetchInactive);
}

void sdwaSource(uint32_t *rows, SdwaSelect select, bool signExtend) {
  if (select == SdwaSelect::Dword)
    return;
  const bool word = select == SdwaSelect::Word0 || select == SdwaSelect::Word1;
  const unsigned shift =
      word ? (select == SdwaSelect::Word1 ? 16 : 0) : 8 * static_cast<unsigned>(select);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t value = rows[lane] >> shift;
    if (word)
      rows[lane] = signExtend ? static_cast<uint32_t>(int32_t{static_cast<int16_t>(value)})
                              : value & 0xffffU;
    else
      rows[lane] =
          signExtend ? static_cast<uint32_t>(int32_t{static_cast<int8_t>(value)}) : value & 0xffU;
  }
}

void sdwaResult(uint32_t *result, const uint32_t *old, const Sdwa &sdwa) {
  if (sdwa.dst == SdwaSelect::Dword)
    return; // a whole register: 16-bit results have zeros above
  const bool word = sdwa.dst == SdwaSelect::Word0 || sdwa.dst == SdwaSelect::Word1;
  const unsigned shift =
      word ? (sdwa.dst == SdwaSelect::Word1 ? 16 : 0) : 8 * static_cast<unsigned>(sdwa.dst);
  const uint32_t mask = word ? 0xffffU : 0xffU;
  const uint32_t sign = word ? 0x8000U : 0x80U;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t field = result[lane] & mask;
    uint32_t rest = 0;
    if (sdwa.unused == SdwaUnused::Preserve)
      rest = old[lane] & ~(mask << shift);
    else if (sdwa.unused == SdwaUnused::Sext && (field & sign) != 0)
      rest = shift + (word ? 16U : 8U) < 32 ? ~uint32_t{0} << (shift + (word ? 16U : 8U)) : 0U;
    result[lane] = field << shift | rest;
  }
}

} // namespace flyemu

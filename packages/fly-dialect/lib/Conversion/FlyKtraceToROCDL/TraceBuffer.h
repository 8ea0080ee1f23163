// SPDX-License-Identifier: Apache-2.0
//
// The trace buffer: 32-byte slots, of which the first few count launches and waves. Every wave
// claims a run of slots, one that describes it and one per event.
#ifndef FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEBUFFER_H
#define FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEBUFFER_H

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.h"

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace fly::ktrace {

/// Bytes of a slot, which is stored in two halves.
constexpr int32_t slotBytes = 32;
constexpr int32_t halfSlotBytes = slotBytes / 2;

/// The launches, counted by the first thread of the first block.
constexpr int32_t launchCounterByte = 4;
/// The waves of partition p are counted at byte (p + 1) * waveCounterStride: a cache line of its
/// own for each, so that partitions do not contend.
constexpr int32_t waveCounterStride = 256;

/// Slots that a wave claims. The first of them describes it.
constexpr int32_t slotsPerWave = 256;
constexpr int32_t eventsPerWave = slotsPerWave - 1;

/// The first slot that belongs to a wave.
constexpr int64_t firstWaveSlot(int64_t partitions) {
  return (partitions + 1) * waveCounterStride / slotBytes;
}

/// Of 64 MiB.
constexpr int64_t defaultSlots = (64LL << 20) / slotBytes;

/// Ids are bits 23:0 of a tag.
constexpr int32_t maxEventId = (1 << 24) - 1;

/// The number by which a tag names a type of payload.
inline std::optional<uint32_t> payloadTypeCode(llvm::StringRef type) {
  constexpr llvm::StringRef types[] = {"uint64", "int64", "float32", "float64", "bool"};
  for (uint32_t code = 0; code < std::size(types); ++code)
    if (types[code] == type)
      return code;
  return std::nullopt;
}

/// What an event is: payload present (bit 31), its type (30:27), kind (26:24), id (23:0).
inline uint32_t makeTag(bool hasPayload, uint32_t payloadType, EventKind kind, uint32_t id) {
  return uint32_t(hasPayload) << 31 | payloadType << 27 | uint32_t(kind) << 24 | id;
}

} // namespace fly::ktrace

#endif // FLY_LIB_CONVERSION_FLYKTRACETOROCDL_TRACEBUFFER_H

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitize/outstanding.h"
#include "sanitize/report.h"

namespace flyemu {

/// What a plain store leaves in memory.
struct StoredBytes {
  const uint32_t *rows = nullptr; ///< registers that hold it
  unsigned shift = 0;             ///< bits of them
  const uint8_t *bytes = nullptr; ///< of a store that converts: LaneAccess::stored

  bool known() const { return rows != nullptr || bytes != nullptr; }
  uint8_t byte(uint64_t index, unsigned lane) const {
    if (bytes != nullptr)
      return bytes[size_t{lane} * LaneAccess::kStoredBytes + index];
    return static_cast<uint8_t>(rows[index / 4 * kLanes + lane] >> (8 * (index % 4) + shift));
  }
};

/// Of a store to global memory; not known where it was cut at a bound.
StoredBytes storedToGlobal(const Wave &wave, const Instruction &inst, const LaneAccess &access);
/// Of a store to LDS, of its part number `part`.
StoredBytes storedToLds(const Wave &wave, const Instruction &inst, const LaneAccess &access,
                        size_t part);

/// Lanes of one store that write different values to the same place: which of them stays is not
/// defined. To be called when the store is done.
void checkGlobalLanes(ReportSink &sink, Wave &wave, const Instruction &inst,
                      const LaneAccess &access);
/// `first`: the first part of a paired store, of whose second part `access` is; null otherwise.
void checkLdsLanes(ReportSink &sink, Wave &wave, const Instruction &inst, const LaneAccess &access,
                   const Outstanding::LdsPart *first);

} // namespace flyemu

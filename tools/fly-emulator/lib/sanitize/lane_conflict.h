// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitize/outstanding.h"
#include "sanitize/report.h"

namespace flyemu {

/// The registers that a plain store of whole bytes takes its data from.
struct StoredRows {
  const uint32_t *rows = nullptr; ///< null where the data is not what registers hold
  unsigned shift = 0;             ///< bits

  uint8_t byte(uint64_t index, unsigned lane) const {
    return static_cast<uint8_t>(rows[index / 4 * kLanes + lane] >> (8 * (index % 4) + shift));
  }
};

/// Of a store to global memory; none where it converts, or was cut at a bound.
StoredRows storedToGlobal(const Wave &wave, const Instruction &inst, const LaneAccess &access);
/// Of a store to LDS, of its part number `part`.
StoredRows storedToLds(const Wave &wave, const Instruction &inst, const LaneAccess &access,
                       size_t part);

/// Lanes of one store that write different values to the same place: which of them stays is not
/// defined. To be called when the store is done.
void checkGlobalLanes(ReportSink &sink, Wave &wave, const Instruction &inst,
                      const LaneAccess &access);
/// `first`: the first part of a paired store, of whose second part `access` is; null otherwise.
void checkLdsLanes(ReportSink &sink, Wave &wave, const Instruction &inst, const LaneAccess &access,
                   const Outstanding::LdsPart *first);

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
//
// The two encodings that rearrange operands: DPP (lanes) and SDWA (bytes and words).
#pragma once

#include <cstdint>

#include "decode/instruction.h"

namespace flyemu {

/// What a DPP control means for each lane.
struct DppLanes {
  uint8_t source[64] = {}; ///< the lane that each lane reads
  uint64_t valid = 0;      ///< lanes that have one
  uint64_t enabled = 0;    ///< lanes that row_mask and bank_mask leave on
};

/// The table of a control; it lives as long as the process.
const DppLanes &dppLanes(const Dpp &dpp);

/// Rows as DPP sees them: each lane gets the value of the lane that the control names, or zero
/// where there is none (out of the row, or disabled by EXEC). `to` may be `from`.
void dppRows(uint32_t *to, const uint32_t *from, unsigned dwords, const Dpp &dpp, uint64_t exec);

/// The lanes that a DPP instruction writes: those that row_mask and bank_mask leave on and, without
/// bound_ctrl, that have a source lane.
uint64_t dppWrittenLanes(const Dpp &dpp, uint64_t exec);

/// Take the byte or word of a source, extended to 32 bits.
void sdwaSource(uint32_t *rows, SdwaSelect select, bool signExtend);

/// Put a result where dst_sel says, with the rest of the register as dst_unused says.
void sdwaResult(uint32_t *result, const uint32_t *old, const Sdwa &sdwa);

} // namespace flyemu

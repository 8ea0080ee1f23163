// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace flyemu {

/// How an LDS access of one wave goes through the banks.
struct LdsCost {
  uint32_t phases = 0;    ///< without conflicts, one cycle each
  uint32_t conflicts = 0; ///< cycles beyond: more than one dword of a bank within a phase
};

/// `address` of 64 lanes, LDS offsets; `banks` is 32 (gfx942) or 64 (gfx950). The phases of gfx950
/// were measured on hardware by others (reads of 16, 12 and 8 bytes, writes of 8); the rest, and
/// all of gfx942's, are assumed to be consecutive lanes.
LdsCost ldsCost(const uint64_t *address, uint64_t lanes, uint32_t bytes, bool load, uint32_t banks);

/// Is the phase pattern of an access measured (not assumed)?
bool phasesAreMeasured(uint32_t bytes, bool load, uint32_t banks);

/// Segments of 64 bytes that a wave's access touches.
uint64_t memorySegments(const uint64_t *address, uint64_t lanes, uint32_t bytes);

} // namespace flyemu

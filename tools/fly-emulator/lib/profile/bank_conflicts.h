// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "device/architecture.h"

namespace flyemu {

/// How an LDS access of one wave goes through the banks.
struct LdsCost {
  uint32_t phases = 0;    ///< without conflicts, one cycle each
  uint32_t conflicts = 0; ///< cycles beyond: more than one dword of a bank within a phase
};

/// `address` of 64 lanes, LDS offsets. The phases of gfx950
/// were measured on hardware by others (reads of 16, 12 and 8 bytes, writes of 8), those of gfx942
/// for 16 bytes are published by AMD ("Avoiding LDS bank conflicts", on CK-Tile); the rest are
/// assumed to be consecutive lanes.
LdsCost ldsCost(const Architecture &architecture, const uint64_t *address, uint64_t lanes,
                uint32_t bytes, bool load);

/// Is the phase pattern of an access measured or published (not assumed)?
bool phasesAreKnown(const Architecture &architecture, uint32_t bytes, bool load);

/// Segments of 64 bytes that a wave's access touches.
uint64_t memorySegments(const uint64_t *address, uint64_t lanes, uint32_t bytes);

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "execute/opcode.h"

namespace flyemu {

constexpr size_t kOpClasses = static_cast<size_t>(OpClass::Control) + 1;

/// What one instruction, one source line or one kernel did. All numbers are of emulated execution;
/// `issueCycles` is an estimate.
struct Counters {
  uint64_t instructions = 0; ///< wave instructions
  uint64_t lanes = 0;        ///< active lanes, summed
  uint64_t bytesLoaded = 0;  ///< by lanes, global and buffer memory
  uint64_t bytesStored = 0;
  uint64_t transactions = 0; ///< 64-byte segments touched, for each wave instruction
  uint64_t ldsBytes = 0;
  uint64_t ldsAccesses = 0;
  uint64_t ldsConflictCycles = 0; ///< more than one access to a bank within a phase
  uint64_t issueCycles = 0;

  void add(const Counters &other);
};

/// Bank conflicts of one LDS access: cycles beyond the first of each phase.
uint64_t ldsConflicts(const uint64_t *address, uint64_t lanes, uint32_t bytes, bool load,
                      uint32_t banks);

/// Segments of 64 bytes that a wave's access touches.
uint64_t memorySegments(const uint64_t *address, uint64_t lanes, uint32_t bytes);

/// Cycles that a wave instruction keeps its unit busy, by class; `estimate` for all but MFMA, whose
/// passes AMD publishes.
uint64_t issueCycles(const Instruction &inst);

} // namespace flyemu

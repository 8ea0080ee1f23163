// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

/// What one instruction, one source line, one loop or one kernel did. All numbers are of emulated
/// execution; `issueCycles` and what follows it are estimates of the issue model.
struct Counters {
  uint64_t instructions = 0; ///< wave instructions
  uint64_t lanes = 0;        ///< active lanes, summed
  uint64_t bytesLoaded = 0;  ///< by lanes, global and buffer memory; atomics count twice
  uint64_t bytesStored = 0;
  uint64_t scalarBytes = 0;  ///< by scalar loads, kernel arguments aside
  uint64_t transactions = 0; ///< 64-byte segments touched, for each wave instruction
  uint64_t ldsBytes = 0;
  uint64_t ldsAccesses = 0;
  uint64_t ldsConflictCycles = 0; ///< more than one dword of a bank within a phase
  uint64_t flops = 0;             ///< of matrix instructions
  uint64_t issueCycles = 0;       ///< each wave by itself, nothing overlaps
  uint64_t matrixCycles = 0;      ///< the part of matrix instructions
  uint64_t slotCycles = 0;        ///< issueCycles, with one issue slot for a matrix instruction

  void add(const Counters &other);
  /// matrixCycles / issueCycles: how dense matrix work is in the code.
  double matrixShare() const;
  /// The share of a matrix unit that one wave could use if everything else were issued in its
  /// shadow.
  double matrixBound() const;
  /// The counters as a JSON object.
  std::string json() const;
};

} // namespace flyemu

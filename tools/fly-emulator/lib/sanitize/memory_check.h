// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sanitize/report.h"

namespace flyemu {

/// Accesses that leave the tensor that their base address points into, and unaligned ones: LDS
/// to dwords (or the access, if it is smaller), scalar loads to dwords, and global and buffer
/// memory to the elements of the tensor, where those are known. Wider alignment is not asked of
/// global memory: the hardware runs in unaligned mode.
class MemoryCheck {
public:
  explicit MemoryCheck(ReportSink &sink) : sink_(sink) {}

  void global(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void lds(Wave &wave, const Instruction &inst, const LaneAccess &access);

private:
  void requireAligned(Wave &wave, const Instruction &inst, const LaneAccess &access, uint64_t base,
                      uint32_t unit, const MemoryRange *range);
  void requireBase(Wave &wave, const Instruction &inst, const LaneAccess &access);

  ReportSink &sink_;
};

} // namespace flyemu

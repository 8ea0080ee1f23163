// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sanitize/provenance.h"
#include "sanitize/report.h"

namespace flyemu {

/// Accesses that leave the tensor of the argument that their address is made from (where that is
/// not known, the one that their base address points into), and unaligned ones: LDS to dwords (or
/// the access, if it is smaller), scalar loads to dwords, and global and buffer memory to the
/// elements of the tensor, where those are known; reads of more arguments than the kernel declares;
/// and what lies between the elements of a strided tensor. Wider alignment is not asked of global
/// memory: the hardware runs in unaligned mode.
class MemoryCheck {
public:
  MemoryCheck(ReportSink &sink, const WorkGroup &group) : sink_(sink), provenance_(group) {}

  void global(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void lds(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void after(const Wave &wave, const Instruction &inst) { provenance_.after(wave, inst); }

private:
  void requireDeclared(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void requireElements(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void requireAligned(Wave &wave, const Instruction &inst, const LaneAccess &access, uint64_t base,
                      uint32_t unit, const MemoryRange *range);
  uint64_t baseOf(const Wave &wave, const Instruction &inst) const;
  void requireBase(Wave &wave, const Instruction &inst, const LaneAccess &access);

  ReportSink &sink_;
  Provenance provenance_;
};

} // namespace flyemu

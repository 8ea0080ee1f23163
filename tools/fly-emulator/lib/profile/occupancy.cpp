// SPDX-License-Identifier: Apache-2.0
#include "profile/occupancy.h"

#include <algorithm>

namespace flyemu {
namespace {

uint32_t roundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

Occupancy occupancyOf(const Architecture &architecture, const CodeObject &object,
                      const KernelMetadata &kernel, uint32_t threads, uint64_t ldsBytes) {
  constexpr uint32_t kMostWaves = 8;
  constexpr uint32_t kVectorRegisters = 512;
  constexpr uint32_t kScalarRegisters = 800;
  constexpr uint32_t kReservedScalars = 6; // VCC, FLAT_SCRATCH, XNACK_MASK
  constexpr uint32_t kMostGroups = 16;     // of more than one wave: barriers of a compute unit
  const uint32_t vector = std::max(8U, (object.descriptor(kernel).vgprGranules() + 1) * 8);
  const uint32_t scalar = std::max(16U, roundUp(kernel.sgprCount + kReservedScalars, 16));
  const uint32_t waves = std::max(1U, (threads + 63) / 64);
  Occupancy out;
  out.byVectorRegisters = std::min(kMostWaves, kVectorRegisters / vector);
  out.byScalarRegisters = std::min(kMostWaves, kScalarRegisters / scalar);
  const uint32_t perSimd = std::min(out.byVectorRegisters, out.byScalarRegisters);
  // A workgroup lies on one compute unit, its waves spread over the SIMDs.
  uint32_t groups = perSimd * kSimds / waves;
  if (waves > 1)
    groups = std::min(groups, kMostGroups);
  const uint64_t lds = (ldsBytes + architecture.ldsGranularity - 1) / architecture.ldsGranularity *
                       architecture.ldsGranularity;
  out.byLds = kMostWaves;
  if (lds != 0) {
    const auto fit = static_cast<uint32_t>(std::min<uint64_t>(64, architecture.ldsBytes / lds));
    out.byLds = std::min(kMostWaves, (fit * waves + kSimds - 1) / kSimds);
    if (fit < groups) {
      groups = fit;
      out.limit = "lds";
    }
  }
  out.groups = groups;
  out.waves = std::min(kMostWaves, (groups * waves + kSimds - 1) / kSimds);
  if (*out.limit == '\0')
    out.limit = perSimd == kMostWaves                            ? "slots"
                : out.byVectorRegisters <= out.byScalarRegisters ? "vgpr"
                                                                 : "sgpr";
  return out;
}

} // namespace flyemu

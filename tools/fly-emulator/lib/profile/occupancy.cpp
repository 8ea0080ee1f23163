// SPDX-License-Identifier: Apache-2.0
#include "profile/occupancy.h"

#include <algorithm>

namespace flyemu {
namespace {

uint32_t roundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

/// Of a SIMD, and of the four of them that share LDS.
struct Resources {
  uint32_t waves;
  uint32_t vectorRegisters; ///< a lane
  uint32_t vectorGranule;
  uint32_t scalarRegisters;
  uint32_t groups; ///< of more than one wave: barriers
  uint64_t ldsBytes;
};

/// RDNA (LLVM: 1.5 times as many VGPRs as the first): the workgroup processor's two halves of LDS.
/// Its waves have all SGPRs there are.
Resources resourcesOf(const Architecture &architecture, const KernelDescriptor &descriptor) {
  if (architecture.generation < 10)
    return {8, 512, 8, 800, 16, architecture.ldsBytes};
  // LLVM: as many VGPRs as one wave can have, and a compute unit's barriers; there is no mode of
  // workgroup processors.
  if (architecture.generation >= 13)
    return {16, 1024, 16, ~0U, 16, architecture.ldsBytes};
  const uint32_t half = descriptor.wave32() ? 1 : 2;
  return {16, 1536 / half, 24 / half, ~0U, 32, uint64_t{2} * architecture.ldsBytes};
}

} // namespace

Occupancy occupancyOf(const Architecture &architecture, const CodeObject &object,
                      const KernelMetadata &kernel, uint32_t threads, uint64_t dynamicLds) {
  const uint64_t ldsBytes = kernel.groupSegmentSize + dynamicLds;
  constexpr uint32_t kReservedScalars = 6; // VCC, FLAT_SCRATCH, XNACK_MASK
  const Resources has = resourcesOf(architecture, object.descriptor(kernel));
  const uint32_t vector = std::max(
      has.vectorGranule, roundUp(object.descriptor(kernel).vectorRegisters(architecture.generation),
                                 has.vectorGranule));
  const uint32_t scalar = std::max(16U, roundUp(kernel.sgprCount + kReservedScalars, 16));
  const uint32_t lanes = object.descriptor(kernel).lanes();
  const uint32_t waves = std::max(1U, (threads + lanes - 1) / lanes);
  Occupancy out;
  out.byVectorRegisters = std::min(has.waves, has.vectorRegisters / vector);
  out.byScalarRegisters = std::min(has.waves, has.scalarRegisters / scalar);
  const uint32_t perSimd = std::min(out.byVectorRegisters, out.byScalarRegisters);
  // A workgroup lies on one compute unit, its waves spread over the SIMDs.
  uint32_t groups = perSimd * kSimds / waves;
  if (waves > 1)
    groups = std::min(groups, has.groups);
  const uint64_t lds = (ldsBytes + architecture.ldsGranularity - 1) / architecture.ldsGranularity *
                       architecture.ldsGranularity;
  out.byLds = has.waves;
  if (lds != 0) {
    const auto fit = static_cast<uint32_t>(std::min<uint64_t>(64, has.ldsBytes / lds));
    out.byLds = std::min(has.waves, (fit * waves + kSimds - 1) / kSimds);
    if (fit < groups) {
      groups = fit;
      out.limit = "lds";
    }
  }
  out.groups = groups;
  out.waves = std::min(has.waves, (groups * waves + kSimds - 1) / kSimds);
  if (*out.limit == '\0')
    out.limit = perSimd == has.waves                             ? "slots"
                : out.byVectorRegisters <= out.byScalarRegisters ? "vgpr"
                                                                 : "sgpr";
  return out;
}

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "code_object/code_object.h"
#include "device/architecture.h"

namespace flyemu {

/// How many waves of a kernel fit a SIMD (four a compute unit, or a workgroup processor of RDNA),
/// by each resource, and what comes out.
struct Occupancy {
  uint32_t byVectorRegisters = 0; ///< waves a SIMD; of gfx9 512 registers a lane, eight at a time
  uint32_t byScalarRegisters = 0; ///< waves a SIMD; of gfx9 800 registers, sixteen at a time
  uint32_t byLds = 0;             ///< waves a SIMD
  uint32_t groups = 0;            ///< workgroups resident on a compute unit
  uint32_t waves = 0;             ///< waves on the fullest SIMD; at most 8 (RDNA: 16)
  const char *limit = "";         ///< what holds it down: "vgpr", "sgpr", "lds" or "slots"
};

constexpr uint32_t kSimds = 4;

/// `threads` of a workgroup, and its LDS beyond what the kernel has of its own.
Occupancy occupancyOf(const Architecture &architecture, const CodeObject &object,
                      const KernelMetadata &kernel, uint32_t threads, uint64_t dynamicLds);

} // namespace flyemu

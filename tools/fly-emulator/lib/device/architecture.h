// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

/// What is fixed by an architecture, of the product that it is best known for.
struct Architecture {
  const char *name;    ///< "gfx942"
  const char *family;  ///< the generic target whose code objects it runs too
  const char *product; ///< shown with "(emulated)" behind it
  uint32_t generation; ///< of the instruction set: 9, 11, 12; 13 is gfx1250, HIP's 12.5
  uint32_t lanes;      ///< of a wave, where compilers have the choice (HIP's warp size)
  uint32_t ldsBytes;   ///< a workgroup's most
  uint32_t ldsBanks;
  uint32_t ldsGranularity; ///< bytes
  uint32_t computeUnits;   ///< of four SIMDs; of RDNA workgroup processors, which HIP counts, too
  uint64_t memoryBytes;    ///< reported as the device's
  uint32_t clockKHz;
  uint32_t memoryClockKHz;
  uint32_t memoryBusBits;
  uint32_t l2Bytes;
  bool ocpFloat8;
};

/// Null for an architecture that the emulator does not execute.
const Architecture *findArchitecture(const std::string &name);

/// "gfx942, gfx950"
std::string architectureNames();

/// Does an architecture run code objects for that target? Its own, and those for the generic target
/// of its family.
bool runsCodeFor(const std::string &name, const std::string &target);

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace flyemu {

/// The 64-byte amdhsa kernel descriptor (LLVM's AMDGPUUsage, "Kernel Descriptor").
struct KernelDescriptor {
  uint32_t groupSegmentSize;
  uint32_t privateSegmentSize;
  uint32_t kernargSize;
  uint32_t reserved0;
  int64_t entryOffset; ///< of the code, from the descriptor's own address
  uint8_t reserved1[20];
  uint32_t computePgmRsrc3;
  uint32_t computePgmRsrc1;
  uint32_t computePgmRsrc2;
  uint16_t codeProperties;
  uint16_t kernargPreload;
  uint32_t reserved2;

  // What the fields count depends on the generation of the instruction set (9, 11, 12; 13 is
  // gfx1250).

  /// Lanes of a wave.
  uint32_t lanes() const { return wave32() ? 32 : 64; }
  /// VGPRs of a lane, AccVGPRs (of gfx9) among them.
  uint32_t vectorRegisters(uint32_t generation) const {
    const uint32_t granule = generation >= 13 ? 16 : generation >= 10 && !wave32() ? 4 : 8;
    return (vgprGranules() + 1) * granule;
  }
  /// Those of them that are VGPRs proper.
  uint32_t plainVectorRegisters(uint32_t generation) const {
    const uint32_t total = vectorRegisters(generation);
    return generation >= 10 ? total : std::min(total, accumOffset());
  }
  /// SGPRs; every wave of RDNA has all of them.
  uint32_t scalarRegisters(uint32_t generation) const {
    return generation >= 10 ? 106 : (sgprGranules() / 2 + 1) * 16;
  }
  /// The MODE register that a wave begins with. gfx12 has no IEEE mode and always clamps NaNs.
  uint32_t initialMode(uint32_t generation) const {
    const bool dx10 = generation >= 12 || dx10Clamp();
    const bool ieee = generation < 12 && ieeeMode();
    return floatMode() | (dx10 ? 1U << 8 : 0U) | (ieee ? 1U << 9 : 0U) |
           (fp16Overflow() ? 1U << 23 : 0U);
  }

  // compute_pgm_rsrc1
  uint32_t vgprGranules() const { return computePgmRsrc1 & 0x3f; }
  uint32_t sgprGranules() const { return (computePgmRsrc1 >> 6) & 0xf; }
  /// MODE[7:0]: round mode 32, round mode 16/64, denormal mode 32, denormal mode 16/64.
  uint32_t floatMode() const { return (computePgmRsrc1 >> 12) & 0xff; }
  bool dx10Clamp() const { return ((computePgmRsrc1 >> 21) & 1) != 0; }
  bool ieeeMode() const { return ((computePgmRsrc1 >> 23) & 1) != 0; }
  bool fp16Overflow() const { return ((computePgmRsrc1 >> 26) & 1) != 0; }

  // compute_pgm_rsrc2
  bool enablePrivateSegment() const { return (computePgmRsrc2 & 1) != 0; }
  uint32_t userSgprCount(uint32_t generation) const {
    return (computePgmRsrc2 >> 1) & (generation >= 13 ? 0x3f : 0x1f);
  }
  bool workgroupIdX() const { return ((computePgmRsrc2 >> 7) & 1) != 0; }
  bool workgroupIdY() const { return ((computePgmRsrc2 >> 8) & 1) != 0; }
  bool workgroupIdZ() const { return ((computePgmRsrc2 >> 9) & 1) != 0; }
  bool workgroupInfo() const { return ((computePgmRsrc2 >> 10) & 1) != 0; }
  uint32_t workitemId() const { return (computePgmRsrc2 >> 11) & 3; }

  // compute_pgm_rsrc3 of gfx90a and later gfx9
  uint32_t accumOffset() const { return ((computePgmRsrc3 & 0x3f) + 1) * 4; }

  /// compute_pgm_rsrc3 of gfx1250: named barriers of a workgroup, in fours.
  uint32_t namedBarriers() const { return ((computePgmRsrc3 >> 14) & 7) * 4; }

  // kernel_code_properties
  bool sgprPrivateSegmentBuffer() const { return (codeProperties & 1) != 0; }
  bool sgprDispatchPtr() const { return (codeProperties & 2) != 0; }
  bool sgprQueuePtr() const { return (codeProperties & 4) != 0; }
  bool sgprKernargPtr() const { return (codeProperties & 8) != 0; }
  bool sgprDispatchId() const { return (codeProperties & 16) != 0; }
  bool sgprFlatScratchInit() const { return (codeProperties & 32) != 0; }
  bool sgprPrivateSegmentSize() const { return (codeProperties & 64) != 0; }
  bool wave32() const { return (codeProperties & (1 << 10)) != 0; }
  bool usesDynamicStack() const { return (codeProperties & (1 << 11)) != 0; }

  uint32_t preloadLength() const { return kernargPreload & 0x7f; } ///< in SGPRs
  uint32_t preloadOffset() const { return kernargPreload >> 7; }   ///< in dwords
};

static_assert(sizeof(KernelDescriptor) == 64, "the descriptor is 64 bytes");

} // namespace flyemu

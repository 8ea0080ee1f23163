// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace flyemu {

struct Wave;
struct Instruction;
struct Opcode;
struct DppLanes;

/// Executes one decoded instruction on one wave.
using Handler = void (*)(Wave &, const Instruction &);

enum class OperandKind : uint8_t {
  None,
  Vector,   ///< rows of the vector register file; gfx9's AccVGPRs follow its 256 VGPRs
  Scalar,   ///< the scalar register file, with VCC, M0 and EXEC at their hardware numbers
  Constant, ///< inline constant or literal, as the bits that the instruction sees
  Special,  ///< SpecialSource
};

/// Scalar sources that are no registers.
enum class SpecialSource : uint16_t {
  SharedBase,
  SharedLimit,
  PrivateBase,
  PrivateLimit,
  PopsExitingWaveId,
  Vccz,
  Execz,
  Scc,
  LdsDirect,
  FlatScratchBase,     ///< of gfx1250: its low half, or both
  FlatScratchBaseHigh, ///< its high half
};

namespace scalar {
constexpr uint16_t kFlatScratch = 102;
constexpr uint16_t kXnackMask = 104;
constexpr uint16_t kVcc = 106;
constexpr uint16_t kTtmp = 108;
constexpr uint16_t kM0 = 124;
constexpr uint16_t kExec = 126;
constexpr uint16_t kNull = 128;  ///< the NULL of RDNA: reads zero, and what is written is lost
constexpr uint16_t kCount = 144; ///< with room for the widest load into NULL
} // namespace scalar

constexpr uint16_t kFirstAccVgpr = 256;
constexpr uint16_t kVectorRows = 1024; ///< of any architecture: gfx1250's
/// Of the vector registers of one generation of the instruction set.
constexpr uint16_t rowsOf(uint32_t generation) { return generation >= 13 ? kVectorRows : 512; }
/// Is a row an AccVGPR? They are gfx9's.
constexpr bool isAccVgpr(uint16_t row, uint32_t generation) {
  return generation < 10 && row >= kFirstAccVgpr;
}

/// Source modifiers, one bit each, as LLVM's SISrcMods numbers them.
namespace modifier {
constexpr uint8_t kNeg = 1;
constexpr uint8_t kAbs = 2;     ///< the second negation (neg_hi) of a packed operand
constexpr uint8_t kOpSel = 4;   ///< high half; for packed operands: of the low lane
constexpr uint8_t kOpSelHi = 8; ///< packed: high half for the high lane; src0: write high half
constexpr uint8_t kSext = 16;   ///< SDWA integer sign extension
constexpr uint8_t kHigh = 32;   ///< of parseRegister: the high half of a register is named
} // namespace modifier

struct Operand {
  OperandKind kind = OperandKind::None;
  uint8_t dwords = 0;
  uint8_t modifiers = 0;
  uint8_t halves = 3; ///< of a register of 32 bits, those that are named: bit 0 the low one
  uint16_t index = 0; ///< register number, row or SpecialSource
  uint64_t constant = 0;

  bool isVector() const { return kind == OperandKind::Vector; }
  bool isScalarRegister() const { return kind == OperandKind::Scalar; }
};

enum class Encoding : uint8_t { Plain, Dpp, Sdwa };

enum class DppControl : uint8_t {
  QuadPerm,
  RowShl,
  RowShr,
  RowRor,
  WaveShl,
  WaveRol,
  WaveShr,
  WaveRor,
  RowMirror,
  RowHalfMirror,
  RowBcast15,
  RowBcast31,
  RowNewBcast, ///< or RDNA's row_share
  RowXmask,
  Lanes8, ///< DPP8
};

enum class SdwaSelect : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };
enum class SdwaUnused : uint8_t { Pad, Sext, Preserve };

struct Dpp {
  DppControl control = DppControl::QuadPerm;
  uint32_t argument = 0; ///< shift, lane, packed quad_perm or the eight lanes of DPP8
  uint8_t rowMask = 0xf;
  uint8_t bankMask = 0xf;
  bool boundCtrl = false;
  bool fetchInactive = false;      ///< lanes that EXEC turns off are read too
  const DppLanes *lanes = nullptr; ///< made when the instruction is decoded
};

struct Sdwa {
  SdwaSelect dst = SdwaSelect::Dword;
  SdwaUnused unused = SdwaUnused::Preserve;
  std::array<SdwaSelect, 2> src = {SdwaSelect::Dword, SdwaSelect::Dword};
};

/// What an instruction carries besides registers.
struct Modifiers {
  Encoding encoding = Encoding::Plain;
  bool clamp = false;
  uint8_t outputModifier = 0; ///< 0 none, 1 mul:2, 2 mul:4, 3 div:2
  bool sc0 = false;
  bool sc1 = false;
  bool nt = false;
  bool lds = false;
  bool gds = false;
  bool offen = false;
  bool idxen = false;
  bool tfe = false;
  uint8_t cbsz = 0;
  // What only gfx1250 has shares its byte with what it has not, or not in the same instruction: an
  // Instruction of another size costs every architecture time.
  union {
    uint8_t abid = 0;
    uint8_t scaleFormatA; ///< matrix_a_scale_fmt: 0 E8M0, 1 E5M3, 2 E4M3
  };
  uint8_t blgp = 0;
  uint8_t negLo = 0; ///< as printed, one bit a source
  union {
    uint8_t scaleSelect = 0; ///< op_sel of a scaled MFMA
    uint8_t scaleRowA;       ///< matrix_a_scale of a scaled WMMA: which half of the lanes
  };
  union {
    uint8_t scaleSelectHi = 0; ///< op_sel_hi of a scaled MFMA
    uint8_t scaleRowB;
  };
  union {
    uint8_t bitOp3 = 0;
    uint8_t offsetScale; ///< gfx1250: vector offsets are signed, and multiplied by this
  };
  uint8_t byteSelect = 0; ///< byte_sel of fp8 conversions (gfx12)
  union {
    uint8_t indexKey = 0; ///< of SWMMAC: which set of indices
    uint8_t scaleFormatB;
  };
  int32_t offset = 0;
  uint8_t offset0 = 0;
  uint8_t offset1 = 0;
  uint8_t bufferFormat = 0;
  Dpp dpp;
  Sdwa sdwa;
};

/// A decoded instruction: what to call and what it works on.
struct Instruction {
  Handler execute = nullptr;
  const Opcode *opcode = nullptr;
  const void *lanes = nullptr;         ///< the lane kernel of a vector instruction
  uint64_t address = 0;                ///< of the instruction, a host address
  const Instruction *target = nullptr; ///< of a direct branch
  uint16_t llvmOpcode = 0;
  uint8_t size = 0;
  uint8_t dstCount = 0;
  uint8_t srcCount = 0;
  uint8_t immediateCount = 0;
  bool simple = false;     ///< a vector instruction without modifiers, on whole dwords
  bool mergesHalf = false; ///< a 16-bit result leaves the other half of its register as it is
  const Instruction *parts = nullptr; ///< the two operations of a dual one (VOPD)
  std::array<Operand, 2> dst;
  std::array<Operand, 6> src;
  std::array<int64_t, 4> immediate = {};
  Modifiers modifiers;
};

} // namespace flyemu

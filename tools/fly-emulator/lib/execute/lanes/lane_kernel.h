// SPDX-License-Identifier: Apache-2.0
//
// What a lane kernel is: the arithmetic of one vector instruction over all 64 lanes, without
// operand fetch, EXEC and write-back, which are the same for all (execute/vector_alu.cpp).
//
// The kernels are compiled once per instruction set of the host, each time into another namespace
// (FLYEMU_LANES). Nothing here may use an inline function of another header: the linker would keep
// one copy of it, perhaps the one with instructions that the machine lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyemu {

constexpr unsigned kLanes = 64;

/// How the bits of an operand are to be read: decides its width and what modifiers mean.
enum class Type : uint8_t {
  None,
  B16,
  U16,
  I16,
  F16,
  BF16,
  B32,
  U32,
  I32,
  F32,
  B64,
  U64,
  I64,
  F64,
  PkB16, ///< two 16-bit integers
  PkF16,
  PkBF16,
  PkB32, ///< two 32-bit integers in 64 bits
  PkF32,
  B96,
  B128,
  Mask, ///< one bit a lane, in scalar registers
};

/// How closely an opcode is modelled, for the fidelity report.
enum class Fidelity : uint8_t {
  Exact,   ///< the bits that the architecture defines
  Bounded, ///< within the error that the architecture states
  Assumed, ///< a choice where the architecture's documents leave one
};

struct LaneArguments {
  uint32_t *d;          ///< result rows; never the register file itself
  const uint32_t *s[4]; ///< source rows of 64 lanes, one for each dword
  uint64_t exec;
  uint64_t maskIn;   ///< VCC or the SGPR pair of a Mask source
  uint64_t maskOut;  ///< carry out, or the result of a comparison
  const char *fault; ///< what the kernel refuses to compute, or null
  bool clamp;
  bool ieee;         ///< MODE.IEEE
  bool ocp;          ///< fp8 in the OCP encodings (gfx950 and later), else FNUZ
  bool fp16Overflow; ///< MODE.FP16_OVFL
  bool flushHalves;  ///< MODE: denormal halves are zeros as sources (for kernels with kOwnOpSel)
  // The modifiers as encoded, one bit a source, for kernels with kOwnOpSel.
  uint8_t opSel;
  uint8_t opSelHi;
  uint8_t neg;
  uint8_t abs;        ///< or neg_hi
  uint8_t bitOp3;     ///< truth table of v_bitop3
  uint8_t byteSelect; ///< which byte of a source or result (gfx12)
  uint8_t generation; ///< of the instruction set: 9, 11, 12
};

using LaneFunction = void (*)(LaneArguments &);

/// Flags of a lane kernel.
enum LaneFlag : uint16_t {
  kCompare = 1,            ///< the result is a mask: VOPC
  kCompareExec = 2,        ///< and is also written to EXEC: VOPCX
  kCarryOut = 4,           ///< a second destination, a mask (VCC if the encoding has none)
  kCarryIn = 8,            ///< the last source is a mask (VCC if the encoding has none)
  kReadsVcc = 16,          ///< reads VCC as a mask, whatever the encoding
  kPreservesHigh = 32,     ///< a 16-bit result leaves the other half of the register as it is
  kOwnOpSel = 64,          ///< sources come as they are: the kernel applies the modifiers itself
  kOwnClamp = 128,         ///< the kernel looks at clamp itself (saturating integers)
  kReadsDst = 256,         ///< the old value of the destination is the last source
  kWritesHigh = 1024,      ///< the 16-bit result goes to the high half
  kFlushesDenormals = 512, ///< transcendental: its own denormal behaviour, whatever MODE says
  kAsBits = 2048,          ///< float sources as they are: a class test sees denormals in any mode
  kHandsOn = 4096,         ///< sources reach the result past the host's arithmetic, which flushes
};

struct LaneRow {
  const char *name;
  LaneFunction function;
  Type dst;
  Type src[4];
  uint8_t srcCount;
  uint16_t flags;
  Fidelity fidelity;
};

/// A list of rows; the tables of one instruction set.
struct LaneRows {
  const LaneRow *rows;
  size_t count;
};

/// Per-host-instruction-set helpers that are no instructions.
struct LaneHelpers {
  /// d[lane] = exec has lane ? t[lane] : d[lane], for `rows` rows.
  void (*blend)(uint32_t *d, const uint32_t *t, uint64_t exec, unsigned rows);
  void (*splat)(uint32_t *d, uint32_t value);
  /// D = C + A * B on dense row-major f32 operands: a is [k][m], b is [k][n], c is [m][n].
  void (*matmulF32)(float *c, const float *a, const float *b, unsigned m, unsigned n, unsigned k);
  void (*matmulF64)(double *c, const double *a, const double *b, unsigned m, unsigned n,
                    unsigned k);
  void (*matmulI32)(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n,
                    unsigned k);
  /// Widen f16 / bf16 bits to f32, `count` a multiple of 16.
  void (*widenF16)(float *out, const uint16_t *in, unsigned count);
  void (*widenBf16)(float *out, const uint16_t *in, unsigned count);
  /// The 2^bits numbers of a small format (fp8, bf8, fp6, bf6, fp4 by MatrixElement's order).
  float (*decodeSmall)(uint32_t code, unsigned format, bool ocp);
  /// A number to a small format (fp8 and bf8 in the OCP encodings): to nearest even, or rounded by
  /// random bits. Formats without specials always saturate.
  uint32_t (*encodeSmall)(float value, unsigned format, bool saturate, bool stochastic,
                          uint32_t random);
  uint16_t (*narrowF16)(float value);
  uint16_t (*narrowBf16)(float value);
  bool halfRounding; ///< narrowing to f16 follows the host's rounding mode
};

/// All kernels for one host instruction set.
struct LaneTable {
  const LaneRows *groups;
  size_t groupCount;
  LaneHelpers helpers;
};

} // namespace flyemu

// SPDX-License-Identifier: Apache-2.0
//
// 32-bit and 24-bit integer arithmetic, logic, shifts and bit fields.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

#define UN(NAME, ...) FLYEMU_ROW1(NAME, B32, B32, 0, kExact, __VA_ARGS__)
#define BIN(NAME, ...) FLYEMU_ROW2(NAME, U32, U32, U32, 0, kExact, __VA_ARGS__)
#define BINS(NAME, ...) FLYEMU_ROW2(NAME, I32, I32, I32, 0, kExact, __VA_ARGS__)
#define TRI(NAME, ...) FLYEMU_ROW3(NAME, U32, U32, U32, U32, 0, kExact, __VA_ARGS__)
#define TRIS(NAME, ...) FLYEMU_ROW3(NAME, I32, I32, I32, I32, 0, kExact, __VA_ARGS__)

inline uint32_t addUnsigned(uint32_t a, uint32_t b, bool clamp) {
  const uint32_t r = a + b;
  return clamp && r < a ? 0xffffffffU : r;
}
inline uint32_t subUnsigned(uint32_t a, uint32_t b, bool clamp) {
  return clamp && b > a ? 0U : a - b;
}
inline int32_t saturate32(int64_t v) {
  return static_cast<int32_t>(bounded<int64_t>(v, INT32_MIN, INT32_MAX));
}
inline int32_t addSigned(int32_t a, int32_t b, bool clamp) {
  const int64_t wide = int64_t{a} + b;
  return clamp ? saturate32(wide) : static_cast<int32_t>(wide);
}
inline int32_t subSigned(int32_t a, int32_t b, bool clamp) {
  const int64_t wide = int64_t{a} - b;
  return clamp ? saturate32(wide) : static_cast<int32_t>(wide);
}
inline int32_t sext24(int32_t v) {
  return static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8;
}
inline uint32_t mask24(uint32_t v) { return v & 0xffffffU; }

inline uint32_t reverse(uint32_t v) { return __builtin_bitreverse32(v); }
inline uint32_t findFirstHighUnsigned(uint32_t v) {
  return v == 0 ? 0xffffffffU : static_cast<uint32_t>(__builtin_clz(v));
}
inline uint32_t findFirstHighSigned(uint32_t v) {
  const uint32_t differing = (v >> 31) != 0 ? ~v : v;
  return findFirstHighUnsigned(differing);
}
inline uint32_t findFirstLow(uint32_t v) {
  return v == 0 ? 0xffffffffU : static_cast<uint32_t>(__builtin_ctz(v));
}
inline uint32_t bfeUnsigned(uint32_t a, uint32_t offset, uint32_t width) {
  return (a >> (offset & 31U)) & ((1U << (width & 31U)) - 1U);
}
inline int32_t bfeSigned(int32_t a, uint32_t offset, uint32_t width) {
  const uint32_t bits = width & 31U;
  const auto field = static_cast<uint32_t>(a >> (offset & 31U)) & ((1U << bits) - 1U);
  const uint32_t sign = bits == 0 ? 0U : 1U << (bits - 1U);
  return static_cast<int32_t>((field ^ sign) - sign);
}
/// Byte of {a, b} that a selector names; 8 to 11 are signs, 12 is zero, 13 and up are ones.
inline uint32_t permByte(uint64_t data, uint32_t select) {
  if (select >= 13)
    return 0xff;
  if (select == 12)
    return 0;
  if (select >= 8)
    return ((data >> ((select - 8) * 16 + 15)) & 1U) != 0 ? 0xff : 0;
  return static_cast<uint32_t>(data >> (select * 8)) & 0xffU;
}
inline uint32_t perm(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t data = (uint64_t{a} << 32) | b;
  return permByte(data, selectors & 0xffU) | permByte(data, (selectors >> 8) & 0xffU) << 8 |
         permByte(data, (selectors >> 16) & 0xffU) << 16 | permByte(data, selectors >> 24) << 24;
}
template <typename T> inline T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}
inline uint32_t bitOp3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (((table >> i) & 1U) != 0)
      r |= ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
  return r;
}
/// The pseudo-random generator of v_prng_b32: a Galois LFSR step.
inline uint32_t prng(uint32_t v) { return (v << 1) ^ ((v >> 31) != 0 ? 197U : 0U); }

void conditionalMask(LaneArguments &x) {
  const uint64_t mask = x.maskIn;
  FLYEMU_FOR_LANES x.d[lane] = ((mask >> lane) & 1U) != 0 ? x.s[1][lane] : x.s[0][lane];
}

const LaneRow kRows[] = {
    UN("v_mov_b32", a),
    UN("v_not_b32", ~a),
    UN("v_bfrev_b32", reverse(a)),
    UN("v_ffbh_u32", findFirstHighUnsigned(a)),
    UN("v_ffbh_i32", findFirstHighSigned(a)),
    UN("v_ffbl_b32", findFirstLow(a)),
    UN("v_prng_b32", prng(a)),
    FLYEMU_ROW2("v_add_u32", U32, U32, U32, kOwnClamp, kExact, addUnsigned(a, b, x.clamp)),
    FLYEMU_ROW2("v_sub_u32", U32, U32, U32, kOwnClamp, kExact, subUnsigned(a, b, x.clamp)),
    FLYEMU_ROW2("v_subrev_u32", U32, U32, U32, kOwnClamp, kExact, subUnsigned(b, a, x.clamp)),
    FLYEMU_ROW2("v_add_i32", I32, I32, I32, kOwnClamp, kExact, addSigned(a, b, x.clamp)),
    FLYEMU_ROW2("v_sub_i32", I32, I32, I32, kOwnClamp, kExact, subSigned(a, b, x.clamp)),
    BIN("v_and_b32", a &b),
    BIN("v_or_b32", a | b),
    BIN("v_xor_b32", a ^ b),
    BIN("v_xnor_b32", ~(a ^ b)),
    BIN("v_min_u32", smaller(a, b)),
    BIN("v_max_u32", larger(a, b)),
    BINS("v_min_i32", smaller(a, b)),
    BINS("v_max_i32", larger(a, b)),
    BIN("v_lshlrev_b32", b << (a & 31U)),
    BIN("v_lshrrev_b32", b >> (a & 31U)),
    FLYEMU_ROW2("v_ashrrev_i32", I32, U32, I32, 0, kExact, b >> (a & 31U)),
    BIN("v_mul_lo_u32", a *b),
    BIN("v_mul_lo_i32", a *b),
    BIN("v_mul_hi_u32", static_cast<uint32_t>((uint64_t{a} * b) >> 32)),
    BINS("v_mul_hi_i32", static_cast<int32_t>((int64_t{a} * b) >> 32)),
    BIN("v_mul_u32_u24", mask24(a) * mask24(b)),
    FLYEMU_ROW2("v_mul_i32_i24", U32, I32, I32, 0, kExact,
                static_cast<uint32_t>(sext24(a)) * static_cast<uint32_t>(sext24(b))),
    BIN("v_mul_hi_u32_u24",
        static_cast<uint32_t>((uint64_t{mask24(a)} * uint64_t{mask24(b)}) >> 32)),
    BINS("v_mul_hi_i32_i24", static_cast<int32_t>((int64_t{sext24(a)} * sext24(b)) >> 32)),
    BIN("v_bfm_b32", ((1U << (a & 31U)) - 1U) << (b & 31U)),
    BIN("v_bcnt_u32_b32", static_cast<uint32_t>(__builtin_popcount(a)) + b),
    // The lower (upper) 32 lanes before this one, counted in the mask that src0 holds.
    BIN("v_mbcnt_lo_u32_b32", b + static_cast<uint32_t>(__builtin_popcount(
                                      a & (lane < 32 ? (1U << lane) - 1U : 0xffffffffU)))),
    BIN("v_mbcnt_hi_u32_b32", b + static_cast<uint32_t>(__builtin_popcount(
                                      a & (lane < 32 ? 0U : (1U << (lane - 32)) - 1U)))),
    TRI("v_add3_u32", a + b + c),
    TRI("v_lshl_add_u32", (a << (b & 31U)) + c),
    TRI("v_add_lshl_u32", (a + b) << (c & 31U)),
    TRI("v_lshl_or_b32", (a << (b & 31U)) | c),
    TRI("v_and_or_b32", (a & b) | c),
    TRI("v_or3_b32", a | b | c),
    TRI("v_xad_u32", (a ^ b) + c),
    TRI("v_bfi_b32", (a & b) | (~a & c)),
    TRI("v_bfe_u32", bfeUnsigned(a, b, c)),
    FLYEMU_ROW3("v_bfe_i32", I32, I32, U32, U32, 0, kExact, bfeSigned(a, b, c)),
    // The shift is of 16 bits: from gfx11 on either half of a register.
    FLYEMU_ROW3("v_alignbit_b32", U32, U32, U32, U16, 0, kExact,
                static_cast<uint32_t>(((uint64_t{a} << 32) | b) >> (c & 31U))),
    FLYEMU_ROW3("v_alignbyte_b32", U32, U32, U32, U16, 0, kExact,
                static_cast<uint32_t>(((uint64_t{a} << 32) | b) >> (8U * (c & 3U)))),
    TRI("v_perm_b32", perm(a, b, c)),
    TRI("v_min3_u32", smaller(smaller(a, b), c)),
    TRI("v_max3_u32", larger(larger(a, b), c)),
    TRI("v_med3_u32", median(a, b, c)),
    TRIS("v_min3_i32", smaller(smaller(a, b), c)),
    TRIS("v_max3_i32", larger(larger(a, b), c)),
    TRIS("v_med3_i32", median(a, b, c)),
    FLYEMU_ROW3("v_mad_u32_u24", U32, U32, U32, U32, kOwnClamp, kExact,
                addUnsigned(mask24(a) * mask24(b), c, x.clamp)),
    FLYEMU_ROW3("v_mad_i32_i24", I32, I32, I32, I32, kOwnClamp, kExact,
                addSigned(static_cast<int32_t>(static_cast<uint32_t>(sext24(a)) *
                                               static_cast<uint32_t>(sext24(b))),
                          c, x.clamp)),
    TRI("v_bitop3_b32", bitOp3(a, b, c, x.bitOp3)),
    FLYEMU_ROW3("v_bitop3_b16", B16, B16, B16, B16, kPreservesHigh, kExact,
                bitOp3(a, b, c, x.bitOp3)),
    // The sources are floats for the sake of their modifiers.
    {"v_cndmask_b32",
     conditionalMask,
     Type::B32,
     {Type::F32, Type::F32, Type::Mask, Type::None},
     2,
     kCarryIn | kAsBits,
     kExact},
};

} // namespace

extern const LaneRows kInteger32Rows;
const LaneRows kInteger32Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

// SPDX-License-Identifier: Apache-2.0
//
// Comparisons (v_cmp, and v_cmpx which also writes EXEC) and class tests.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

/// Both forms of one comparison.
#define BOTH(SUFFIX, T, B, ...)                                                                    \
  FLYEMU_COMPARE("v_cmp_" SUFFIX, T, B, kCompare, __VA_ARGS__),                                    \
      FLYEMU_COMPARE("v_cmpx_" SUFFIX, T, B, kCompare | kCompareExec, __VA_ARGS__)

#define INTEGERS(NAME, T)                                                                          \
  BOTH("f_" NAME, T, T, a != a), BOTH("lt_" NAME, T, T, a < b), BOTH("eq_" NAME, T, T, a == b),    \
      BOTH("le_" NAME, T, T, a <= b), BOTH("gt_" NAME, T, T, a > b),                               \
      BOTH("ne_" NAME, T, T, a != b), BOTH("ge_" NAME, T, T, a >= b),                              \
      BOTH("t_" NAME, T, T, a == a)

#define FLOATS(NAME, T)                                                                            \
  BOTH("f_" NAME, T, T, lane >= kLanes), BOTH("lt_" NAME, T, T, a < b),                            \
      BOTH("eq_" NAME, T, T, a == b), BOTH("le_" NAME, T, T, a <= b),                              \
      BOTH("gt_" NAME, T, T, a > b), BOTH("lg_" NAME, T, T, a<b || a> b),                          \
      BOTH("ge_" NAME, T, T, a >= b), BOTH("o_" NAME, T, T, !isNan(a) && !isNan(b)),               \
      BOTH("u_" NAME, T, T, isNan(a) || isNan(b)), BOTH("nge_" NAME, T, T, !(a >= b)),             \
      BOTH("nlg_" NAME, T, T, !(a < b || a > b)), BOTH("ngt_" NAME, T, T, !(a > b)),               \
      BOTH("nle_" NAME, T, T, !(a <= b)), BOTH("neq_" NAME, T, T, !(a == b)),                      \
      BOTH("nlt_" NAME, T, T, !(a < b)), BOTH("tru_" NAME, T, T, lane < kLanes)

#define CLASS(SUFFIX, T, B, BIT)                                                                   \
  FLYEMU_COMPARE("v_cmp_class_" SUFFIX, T, B, kCompare | kAsBits, ((BIT) & b) != 0),               \
      FLYEMU_COMPARE("v_cmpx_class_" SUFFIX, T, B, kCompare | kCompareExec | kAsBits,              \
                     ((BIT) & b) != 0)

/// Bit of a class mask that a float belongs to: signalling NaN, quiet NaN, -infinity, -normal,
/// -denormal, -0, +0, +denormal, +normal, +infinity.
inline uint32_t classBit(bool negative, bool nan, bool quietNan, bool infinite, bool zero,
                         bool denormal) {
  if (nan)
    return quietNan ? 1U << 1 : 1U;
  const unsigned magnitude = infinite ? 0 : zero ? 3 : denormal ? 2 : 1; // from -infinity inwards
  return negative ? 1U << (2 + magnitude) : 1U << (9 - magnitude);
}

inline uint32_t classOf(uint32_t sign, uint64_t exponent, uint64_t maxExponent, uint64_t mantissa,
                        uint64_t quietBit) {
  const bool top = exponent == maxExponent;
  return classBit(sign != 0, top && mantissa != 0, (mantissa & quietBit) != 0, top && mantissa == 0,
                  exponent == 0 && mantissa == 0, exponent == 0 && mantissa != 0);
}
inline uint32_t class16(uint32_t v) {
  return classOf(v >> 15 & 1U, v >> 10 & 0x1fU, 0x1f, v & 0x3ffU, 0x200);
}
inline uint32_t class32(uint32_t v) {
  return classOf(v >> 31, v >> 23 & 0xffU, 0xff, v & 0x7fffffU, 0x400000);
}
inline uint32_t class64(uint64_t v) {
  return classOf(static_cast<uint32_t>(v >> 63), v >> 52 & 0x7ffU, 0x7ff, v & 0xfffffffffffffULL,
                 0x8000000000000ULL);
}

// Class tests look at bits, after the sources' float modifiers.
struct F16Bits : U16 {
  static constexpr Type kType = Type::F16;
};
struct F32Bits : U32 {
  static constexpr Type kType = Type::F32;
};
struct F64Bits : U64 {
  static constexpr Type kType = Type::F64;
};

const LaneRow kRows[] = {
    FLOATS("f16", F16),
    FLOATS("f32", F32),
    FLOATS("f64", F64),
    INTEGERS("i16", I16),
    INTEGERS("u16", U16),
    INTEGERS("i32", I32),
    INTEGERS("u32", U32),
    INTEGERS("i64", I64),
    INTEGERS("u64", U64),
    CLASS("f16", F16Bits, U16, class16(a)),
    CLASS("f32", F32Bits, U32, class32(a)),
    CLASS("f64", F64Bits, U32, class64(a)),
};

} // namespace

extern const LaneRows kCompareRows;
const LaneRows kCompareRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

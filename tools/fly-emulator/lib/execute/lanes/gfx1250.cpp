// SPDX-License-Identifier: Apache-2.0
//
// Vector instructions that gfx1250 has and no architecture before it. There is no public document
// of them: names and operands are LLVM's. bf16 rounds once; what a sum saturates to, and the
// hyperbolic tangent, are assumed.
#include "execute/lanes/small_float.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;
constexpr Fidelity kBounded = Fidelity::Bounded;
constexpr Fidelity kAssumed = Fidelity::Assumed;

// --- integers ------------------------------------------------------------------------------------

inline int32_t addSigned(int32_t a, int32_t b, bool clamp) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>(clamp ? bounded<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
}
inline uint32_t addUnsigned(uint32_t a, uint32_t b, bool clamp) {
  const uint32_t sum = a + b;
  return clamp && sum < a ? ~0U : sum;
}

/// A product of two 32-bit integers and a 64-bit addend; T is int32_t or uint32_t.
template <typename T> inline uint64_t multiplyAdd64(uint32_t a, uint32_t b, uint64_t c) {
  if constexpr (static_cast<T>(-1) < 0)
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) + c;
  else
    return uint64_t{a} * b + c;
}

template <typename T> inline T wordOf(uint32_t v, unsigned half) {
  const uint32_t bits = v >> (16 * half) & 0xffffU;
  if constexpr (static_cast<T>(-1) < 0)
    return static_cast<int16_t>(bits);
  else
    return static_cast<T>(bits);
}
inline int32_t saturated(int32_t v, bool clamp) { return clamp ? bounded(v, -32768, 32767) : v; }
inline uint32_t saturated(uint32_t v, bool clamp) { return clamp ? smaller(v, 0xffffU) : v; }
/// What is left of a sum in 16 bits.
inline int32_t wrapped(int32_t v) { return static_cast<int16_t>(v); }
inline uint32_t wrapped(uint32_t v) { return v & 0xffffU; }

template <typename T, typename F> inline void eachWord(LaneArguments &x, F &&f) {
  FLYEMU_FOR_LANES {
    uint32_t out = 0;
    for (unsigned half = 0; half < 2; ++half)
      out |= (static_cast<uint32_t>(f(wordOf<T>(x.s[0][lane], half), wordOf<T>(x.s[1][lane], half),
                                      wordOf<T>(x.s[2][lane], half))) &
              0xffffU)
             << (16 * half);
    x.d[lane] = out;
  }
}
#define WORDS3(NAME, T, FIDELITY, ...)                                                             \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          const bool clamp = x.clamp;                                                              \
          (void)clamp;                                                                             \
          eachWord<T>(x, [clamp](T p, T q, T r) {                                                  \
            (void)clamp;                                                                           \
            return __VA_ARGS__;                                                                    \
          });                                                                                      \
        },                                                                                         \
        Type::PkB16, {Type::PkB16, Type::PkB16, Type::PkB16, Type::None}, 3, kOwnClamp, FIDELITY   \
  }

/// v_dual_bitop2_b32: the truth table of v_bitop3_b32 with a third source of zeros.
inline uint32_t bitOp2(uint32_t a, uint32_t b, uint32_t table) {
  const auto term = [&](unsigned index) { return (table >> index & 1U) != 0 ? ~0U : 0U; };
  return (~a & ~b & term(0)) | (~a & b & term(2)) | (a & ~b & term(4)) | (a & b & term(6));
}

/// Four bytes to four nibbles that saturate, in the low half.
template <bool isSigned> inline uint32_t saturateNibbles(uint32_t v) {
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const int32_t byte = isSigned ? static_cast<int32_t>(static_cast<int8_t>(v >> (8 * i)))
                                  : static_cast<int32_t>(v >> (8 * i) & 0xffU);
    const int32_t limited = isSigned ? bounded(byte, -8, 7) : bounded(byte, 0, 15);
    out |= (static_cast<uint32_t>(limited) & 0xfU) << (4 * i);
  }
  return out;
}

// --- bf16 ----------------------------------------------------------------------------------------

/// What changes no sum, a zero of either sign included.
constexpr double kNothing = -0.0;

/// The exact sum of a product of two bf16 numbers and a third, rounded once to bf16.
inline uint32_t fmaBf16(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const float r = doubleToFloatOdd(sumToOdd(product, static_cast<double>(c), kNothing));
  return floatToBf16(nanRule(r, a, b, c));
}
inline uint32_t addBf16(float a, float b) {
  const float r =
      doubleToFloatOdd(sumToOdd(static_cast<double>(a), static_cast<double>(b), kNothing));
  return floatToBf16(nanRule(r, a, b));
}
/// Exact in a float but for numbers below its range, where a double has it.
inline uint32_t mulBf16(float a, float b) {
  const float r = doubleToFloatOdd(static_cast<double>(a) * static_cast<double>(b));
  return floatToBf16(nanRule(r, a, b));
}

template <typename F> inline void eachBf16(LaneArguments &x, F &&f) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t out = 0;
    for (unsigned half = 0; half < 2; ++half)
      out |= f(half, lane) << (16 * half);
    x.d[lane] = out;
  }
}
inline float bf16At(const LaneArguments &x, unsigned source, unsigned half, unsigned lane) {
  return bf16ToFloat(x.s[source][lane] >> (16 * half));
}
#define BF16S2(NAME, ...)                                                                          \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          eachBf16(x, [&x](unsigned half, unsigned lane) {                                         \
            const float p = bf16At(x, 0, half, lane);                                              \
            const float q = bf16At(x, 1, half, lane);                                              \
            return __VA_ARGS__;                                                                    \
          });                                                                                      \
        },                                                                                         \
        Type::PkBF16, {Type::PkBF16, Type::PkBF16, Type::None, Type::None}, 2, 0, kExact           \
  }

void pkFmaBf16(LaneArguments &x) {
  eachBf16(x, [&x](unsigned half, unsigned lane) {
    return fmaBf16(bf16At(x, 0, half, lane), bf16At(x, 1, half, lane), bf16At(x, 2, half, lane));
  });
}

/// A source of v_fma_mix_*_bf16: f32, or the bf16 half that op_sel names.
inline float mixSource(const LaneArguments &x, unsigned i, unsigned lane) {
  const uint32_t bits = x.s[i][lane];
  const bool half = (x.opSelHi >> i & 1U) != 0;
  const bool upper = (x.opSel >> i & 1U) != 0;
  float v = half ? bf16ToFloat(upper ? bits >> 16 : bits) : bitCast<float>(bits);
  v = (x.abs >> i & 1U) != 0 ? absolute(v) : v;
  return (x.neg >> i & 1U) != 0 ? -v : v;
}
inline float mixFma(const LaneArguments &x, unsigned lane) {
  const float a = mixSource(x, 0, lane);
  const float b = mixSource(x, 1, lane);
  const float c = mixSource(x, 2, lane);
  return nanRule(fma(a, b, c), a, b, c);
}
void mixF32(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    F32::store(x.d, lane, mixFma(x, lane));
}
/// Rounded to f32 and then to bf16: LLVM selects it for a truncated sum of f32, whatever flags that
/// has.
void mixBf16(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    x.d[lane] = floatToBf16(mixFma(x, lane));
}

/// Of three halves, each pair by minimumNumber or maximumNumber.
template <bool largest> void extremeHalves(LaneArguments &x) {
  const auto choose = [](float p, float q) { return largest ? maxNumber(p, q) : minNumber(p, q); };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto of = [&](unsigned source, unsigned half) {
      return halfToFloatSignalling(x.s[source][lane] >> (16 * half) & 0xffffU);
    };
    const auto result = [&](unsigned half) {
      return floatToHalf(choose(choose(of(0, half), of(1, half)), of(2, half)));
    };
    x.d[lane] = result(0) | result(1) << 16;
  }
}

// --- transcendental ------------------------------------------------------------------------------

inline double exp2Of(float a) { return __builtin_exp2(static_cast<double>(a)); }
inline double log2Of(float a) { return __builtin_log2(static_cast<double>(a)); }
inline double sineOf(float a, bool cosine) {
  constexpr double kTurn = 6.28318530717958647693;
  const double t = static_cast<double>(a) - __builtin_roundeven(static_cast<double>(a));
  if (absolute(a) > 256.0F)
    return cosine ? 1.0 : 0.0;
  return cosine ? __builtin_cos(t * kTurn) : __builtin_sin(t * kTurn);
}
inline uint32_t bf16Of(double value, float a) {
  return floatToBf16(nanRule(doubleToFloatOdd(value), a));
}
#define BF16_ROW(NAME, ...)                                                                        \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          for (unsigned lane = 0; lane < kLanes; ++lane) {                                         \
            const float a = BF16::load(x.s[0], lane);                                              \
            x.d[lane] = bf16Of((__VA_ARGS__), a);                                                  \
          }                                                                                        \
        },                                                                                         \
        Type::BF16, {Type::BF16, Type::None, Type::None, Type::None}, 1, 0, kBounded               \
  }

// --- conversions ---------------------------------------------------------------------------------

inline const SmallFormat &formatOf(bool narrow) { return narrow ? kBf8Ocp : kFp8Ocp; }

template <bool narrow> void widenByte(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    x.d[lane] =
        floatToHalf(decodeSmall(x.s[0][lane] >> (8 * x.byteSelect) & 0xffU, formatOf(narrow)));
}
template <bool narrow> void widenBytes(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    x.d[lane] = floatToHalf(decodeSmall(x.s[0][lane] & 0xffU, formatOf(narrow))) |
                floatToHalf(decodeSmall(x.s[0][lane] >> 8 & 0xffU, formatOf(narrow))) << 16;
}
template <bool narrow> void narrowHalves(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto code = [&](unsigned half) {
      return encodeSmall(halfToFloat(x.s[0][lane] >> (16 * half) & 0xffffU), formatOf(narrow),
                         x.fp16Overflow, false, 0);
    };
    x.d[lane] = code(0) | code(1) << 8;
  }
}

inline uint32_t stochasticBf16(float v, uint32_t random) {
  const uint32_t bits = bitCast<uint32_t>(v);
  if ((bits & 0x7fffffffU) >= 0x7f800000U)
    return floatToBf16(v);
  return (bits + (random >> 16)) >> 16;
}
constexpr SmallFormat kHalf = {5, 10, 15, SmallFormat::Specials::Ieee};

#define MAX_MIN(NAME, T, F) FLYEMU_ROW2(NAME, T, T, T, 0, kExact, F(a, b))

const LaneRow kRows[] = {
    FLYEMU_ROW2("v_add_nc_u64", U64, U64, U64, 0, kExact, a + b),
    FLYEMU_ROW2("v_sub_nc_u64", U64, U64, U64, 0, kExact, a - b),
    FLYEMU_ROW2("v_mul_u64", U64, U64, U64, 0, kExact, a *b),
    MAX_MIN("v_max_u64", U64, larger),
    MAX_MIN("v_min_u64", U64, smaller),
    MAX_MIN("v_max_i64", I64, larger),
    MAX_MIN("v_min_i64", I64, smaller),
    FLYEMU_ROW3("v_mad_u32", U32, U32, U32, U32, 0, kExact, a *b + c),
    FLYEMU_ROW3("v_mad_nc_u64_u32", U64, U32, U32, U64, 0, kExact,
                multiplyAdd64<uint32_t>(a, b, c)),
    FLYEMU_ROW3("v_mad_nc_i64_i32", U64, U32, U32, U64, 0, kExact, multiplyAdd64<int32_t>(a, b, c)),
    FLYEMU_ROW3("v_add_max_i32", I32, I32, I32, I32, kOwnClamp, kAssumed,
                larger(addSigned(a, b, x.clamp), c)),
    FLYEMU_ROW3("v_add_min_i32", I32, I32, I32, I32, kOwnClamp, kAssumed,
                smaller(addSigned(a, b, x.clamp), c)),
    FLYEMU_ROW3("v_add_max_u32", U32, U32, U32, U32, kOwnClamp, kAssumed,
                larger(addUnsigned(a, b, x.clamp), c)),
    FLYEMU_ROW3("v_add_min_u32", U32, U32, U32, U32, kOwnClamp, kAssumed,
                smaller(addUnsigned(a, b, x.clamp), c)),
    WORDS3("v_pk_add_max_i16", int32_t, kAssumed, larger(wrapped(saturated(p + q, clamp)), r)),
    WORDS3("v_pk_add_min_i16", int32_t, kAssumed, smaller(wrapped(saturated(p + q, clamp)), r)),
    WORDS3("v_pk_add_max_u16", uint32_t, kAssumed, larger(wrapped(saturated(p + q, clamp)), r)),
    WORDS3("v_pk_add_min_u16", uint32_t, kAssumed, smaller(wrapped(saturated(p + q, clamp)), r)),
    WORDS3("v_pk_max3_i16", int32_t, kExact, larger(larger(p, q), r)),
    WORDS3("v_pk_min3_i16", int32_t, kExact, smaller(smaller(p, q), r)),
    WORDS3("v_pk_max3_u16", uint32_t, kExact, larger(larger(p, q), r)),
    WORDS3("v_pk_min3_u16", uint32_t, kExact, smaller(smaller(p, q), r)),
    FLYEMU_ROW2("v_bitop2_b32", U32, U32, U32, 0, kExact, bitOp2(a, b, x.bitOp3)),
    FLYEMU_ROW1("v_sat_pk4_i4_i8", B16, U32, 0, kAssumed, saturateNibbles<true>(a)),
    FLYEMU_ROW1("v_sat_pk4_u4_u8", B16, U32, 0, kAssumed, saturateNibbles<false>(a)),
    BF16S2("v_pk_add_bf16", addBf16(p, q)),
    BF16S2("v_pk_mul_bf16", mulBf16(p, q)),
    BF16S2("v_pk_min_num_bf16", floatToBf16(minNumber(p, q))),
    BF16S2("v_pk_max_num_bf16", floatToBf16(maxNumber(p, q))),
    {"v_pk_min3_num_f16",
     extremeHalves<false>,
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::PkF16, Type::None},
     3,
     0,
     kExact},
    {"v_pk_max3_num_f16",
     extremeHalves<true>,
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::PkF16, Type::None},
     3,
     0,
     kExact},
    {"v_pk_fma_bf16",
     pkFmaBf16,
     Type::PkBF16,
     {Type::PkBF16, Type::PkBF16, Type::PkBF16, Type::None},
     3,
     0,
     kExact},
    {"v_fma_mix_f32_bf16",
     mixF32,
     Type::F32,
     {Type::B32, Type::B32, Type::B32, Type::None},
     3,
     kOwnOpSel,
     kExact},
    {"v_fma_mixlo_bf16",
     mixBf16,
     Type::BF16,
     {Type::B32, Type::B32, Type::B32, Type::None},
     3,
     kOwnOpSel | kPreservesHigh,
     kExact},
    {"v_fma_mixhi_bf16",
     mixBf16,
     Type::BF16,
     {Type::B32, Type::B32, Type::B32, Type::None},
     3,
     kOwnOpSel | kPreservesHigh | kWritesHigh,
     kExact},
    FLYEMU_ROW3("v_fmaak_f64", F64, F64, F64, F64, 0, kExact, nanRule(fma(a, b, c), a, b, c)),
    FLYEMU_ROW3("v_fmamk_f64", F64, F64, F64, F64, 0, kExact, nanRule(fma(a, b, c), a, b, c)),
    FLYEMU_ROW1("v_tanh_f32", F32, F32, 0, kBounded,
                nanRule(static_cast<float>(__builtin_tanh(static_cast<double>(a))), a)),
    FLYEMU_ROW1("v_tanh_f16", F16, F16, 0, kBounded,
                nanRule(doubleToFloatOdd(__builtin_tanh(static_cast<double>(a))), a)),
    BF16_ROW("v_tanh_bf16", __builtin_tanh(static_cast<double>(a))),
    BF16_ROW("v_exp_bf16", exp2Of(a)),
    BF16_ROW("v_log_bf16", log2Of(a)),
    BF16_ROW("v_rcp_bf16", 1.0 / static_cast<double>(a)),
    BF16_ROW("v_rsq_bf16", 1.0 / __builtin_sqrt(static_cast<double>(a))),
    BF16_ROW("v_sqrt_bf16", __builtin_sqrt(static_cast<double>(a))),
    BF16_ROW("v_sin_bf16", sineOf(a, false)),
    BF16_ROW("v_cos_bf16", sineOf(a, true)),
    {"v_cvt_f16_fp8", widenByte<false>, Type::B16, {Type::U32}, 1, 0, kExact},
    {"v_cvt_f16_bf8", widenByte<true>, Type::B16, {Type::U32}, 1, 0, kExact},
    {"v_cvt_pk_f16_fp8", widenBytes<false>, Type::B32, {Type::B16}, 1, 0, kExact},
    {"v_cvt_pk_f16_bf8", widenBytes<true>, Type::B32, {Type::B16}, 1, 0, kExact},
    {"v_cvt_pk_fp8_f16", narrowHalves<false>, Type::B16, {Type::B32}, 1, 0, kExact},
    {"v_cvt_pk_bf8_f16", narrowHalves<true>, Type::B16, {Type::B32}, 1, 0, kExact},
    FLYEMU_ROW2("v_cvt_pk_f16_f32", B32, F32, F32, 0, kExact,
                floatToHalf(a) | floatToHalf(b) << 16),
    FLYEMU_ROW3("v_cvt_sr_pk_bf16_f32", B32, F32, F32, U32, 0, kAssumed,
                stochasticBf16(a, c) | stochasticBf16(b, c) << 16),
    FLYEMU_ROW3("v_cvt_sr_pk_f16_f32", B32, F32, F32, U32, 0, kAssumed,
                encodeSmall(a, kHalf, x.fp16Overflow, true, c) |
                    encodeSmall(b, kHalf, x.fp16Overflow, true, c) << 16),
};

} // namespace

extern const LaneRows kGfx1250Rows;
const LaneRows kGfx1250Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

// SPDX-License-Identifier: Apache-2.0
//
// Vector instructions that RDNA (gfx11, gfx12) has and gfx9 has not.
#include "execute/lanes/small_float.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;
constexpr Fidelity kAssumed = Fidelity::Assumed;

#define F32S2(NAME, ...) FLYEMU_ROW2(NAME, F32, F32, F32, kHandsOn, kExact, __VA_ARGS__)
#define F32S3(NAME, ...) FLYEMU_ROW3(NAME, F32, F32, F32, F32, kHandsOn, kExact, __VA_ARGS__)
#define F64S2(NAME, ...) FLYEMU_ROW2(NAME, F64, F64, F64, kHandsOn, kExact, __VA_ARGS__)
#define F16S2(NAME, ...)                                                                           \
  FLYEMU_ROW2(NAME, F16, F16Signalling, F16Signalling, 0, kExact, __VA_ARGS__)
#define F16S3(NAME, ...)                                                                           \
  FLYEMU_ROW3(NAME, F16, F16Signalling, F16Signalling, F16Signalling, 0, kExact, __VA_ARGS__)

/// IEEE 754-2019 minimum and maximum: NaN wins, -0 is below +0.
template <typename T> inline T minimum(T a, T b) {
  const T r = minimumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}
template <typename T> inline T maximum(T a, T b) {
  const T r = maximumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}
inline float median(float a, float b, float c) {
  const float high = maximumNumber(maximumNumber(a, b), c);
  const float r =
      high == a ? maximumNumber(b, c) : (high == b ? maximumNumber(a, c) : maximumNumber(a, b));
  return isNan(a) || isNan(b) || isNan(c) ? minNumber(minNumber(a, b), c) : r;
}

/// Zero times anything is zero.
inline float dx9Fma(float a, float b, float c) {
  return a == 0.0F || b == 0.0F ? nanRule(0.0F + c, c) : nanRule(fma(a, b, c), a, b, c);
}
/// Of lighting: a specular term without a light is the lowest number.
inline float mullit(float a, float b, float c) {
  constexpr float kLowest = -3.402823466e+38F;
  return !(b > kLowest) || !(c > 0.0F) ? kLowest : nanRule(a * b, a, b);
}

inline uint32_t word(float v, float low, float high) {
  return isNan(v) ? 0U
                  : static_cast<uint32_t>(static_cast<int32_t>(bounded(v, low, high))) & 0xffffU;
}

/// v_dot4_i32_iu8, v_dot8_i32_iu4: the negation bit of a source says that its elements are signed.
template <unsigned bits> void dotMixedSigns(LaneArguments &x) {
  const auto element = [](uint32_t v, unsigned i, bool isSigned) {
    const uint32_t field = v << (32 - bits - bits * i);
    return isSigned ? static_cast<int32_t>(field) >> (32 - bits)
                    : static_cast<int32_t>(field >> (32 - bits));
  };
  FLYEMU_FOR_LANES {
    int64_t sum = I32::load(x.s[2], lane);
    for (unsigned i = 0; i < 32 / bits; ++i)
      sum += int64_t{element(x.s[0][lane], i, (x.neg & 1U) != 0)} *
             element(x.s[1][lane], i, (x.neg & 2U) != 0);
    const int64_t limited = bounded<int64_t>(sum, INT32_MIN, INT32_MAX);
    x.d[lane] = static_cast<uint32_t>(x.clamp ? limited : sum);
  }
}

/// Four products of fp8 or bf8 and an addend, rounded once.
template <bool narrowA, bool narrowB> void dotBytes(LaneArguments &x) {
  const SmallFormat &formatA = narrowA ? kBf8Ocp : kFp8Ocp;
  const SmallFormat &formatB = narrowB ? kBf8Ocp : kFp8Ocp;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    double sum = static_cast<double>(F32::load(x.s[2], lane));
    for (unsigned i = 0; i < 4; ++i)
      sum += static_cast<double>(decodeSmall(x.s[0][lane] >> (8 * i) & 0xffU, formatA)) *
             static_cast<double>(decodeSmall(x.s[1][lane] >> (8 * i) & 0xffU, formatB));
    const auto r = static_cast<float>(sum);
    F32::store(x.d, lane, nanRule(r, r));
  }
}

/// v_dot2_f16_f16, v_dot2_bf16_bf16: both products and the addend, rounded once.
template <typename T> void dotPairs(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto half = [](uint32_t bits) {
      return T::kType == Type::F16 ? halfToFloat(bits & 0xffffU) : bf16ToFloat(bits);
    };
    const uint32_t a = x.s[0][lane];
    const uint32_t b = x.s[1][lane];
    const double sum = sumToOdd(static_cast<double>(half(a)) * half(b),
                                static_cast<double>(half(a >> 16)) * half(b >> 16),
                                static_cast<double>(half(x.s[2][lane])));
    const float r = doubleToFloatOdd(sum);
    T::store(x.d, lane, nanRule(r, r));
  }
}

void chooseHalf(LaneArguments &x) {
  const uint64_t mask = x.maskIn;
  FLYEMU_FOR_LANES x.d[lane] = (((mask >> lane) & 1U) != 0 ? x.s[1][lane] : x.s[0][lane]) & 0xffffU;
}

#define DOT(NAME, FUNCTION, FLAGS, FIDELITY)                                                       \
  {NAME, FUNCTION, Type::B32, {Type::B32, Type::B32, Type::B32, Type::None}, 3, FLAGS, FIDELITY}

const LaneRow kRows[] = {
    FLYEMU_ROW3("v_xor3_b32", U32, U32, U32, U32, 0, kExact, a ^ b ^ c),
    FLYEMU_ROW3("v_maxmin_u32", U32, U32, U32, U32, 0, kExact, smaller(larger(a, b), c)),
    FLYEMU_ROW3("v_minmax_u32", U32, U32, U32, U32, 0, kExact, larger(smaller(a, b), c)),
    FLYEMU_ROW3("v_maxmin_i32", I32, I32, I32, I32, 0, kExact, smaller(larger(a, b), c)),
    FLYEMU_ROW3("v_minmax_i32", I32, I32, I32, I32, 0, kExact, larger(smaller(a, b), c)),
    F32S3("v_maxmin_f32", minMode(maxMode(a, b, x.ieee), c, x.ieee)),
    F32S3("v_minmax_f32", maxMode(minMode(a, b, x.ieee), c, x.ieee)),
    F16S3("v_maxmin_f16", minMode(maxMode(a, b, x.ieee), c, x.ieee)),
    F16S3("v_minmax_f16", maxMode(minMode(a, b, x.ieee), c, x.ieee)),
    F32S2("v_min_num_f32", minNumber(a, b)),
    F32S2("v_max_num_f32", maxNumber(a, b)),
    F64S2("v_min_num_f64", minNumber(a, b)),
    F64S2("v_max_num_f64", maxNumber(a, b)),
    F16S2("v_min_num_f16", minNumber(a, b)),
    F16S2("v_max_num_f16", maxNumber(a, b)),
    F32S3("v_min3_num_f32", minNumber(minNumber(a, b), c)),
    F32S3("v_max3_num_f32", maxNumber(maxNumber(a, b), c)),
    F16S3("v_min3_num_f16", minNumber(minNumber(a, b), c)),
    F16S3("v_max3_num_f16", maxNumber(maxNumber(a, b), c)),
    F32S3("v_med3_num_f32", median(a, b, c)),
    F16S3("v_med3_num_f16", median(a, b, c)),
    F32S3("v_maxmin_num_f32", minNumber(maxNumber(a, b), c)),
    F32S3("v_minmax_num_f32", maxNumber(minNumber(a, b), c)),
    F16S3("v_maxmin_num_f16", minNumber(maxNumber(a, b), c)),
    F16S3("v_minmax_num_f16", maxNumber(minNumber(a, b), c)),
    F32S2("v_minimum_f32", minimum(a, b)),
    F32S2("v_maximum_f32", maximum(a, b)),
    F64S2("v_minimum_f64", minimum(a, b)),
    F64S2("v_maximum_f64", maximum(a, b)),
    F16S2("v_minimum_f16", minimum(a, b)),
    F16S2("v_maximum_f16", maximum(a, b)),
    F16S3("v_minimum3_f16", minimum(minimum(a, b), c)),
    F16S3("v_maximum3_f16", maximum(maximum(a, b), c)),
    F32S3("v_maximumminimum_f32", minimum(maximum(a, b), c)),
    F32S3("v_minimummaximum_f32", maximum(minimum(a, b), c)),
    F16S3("v_maximumminimum_f16", minimum(maximum(a, b), c)),
    F16S3("v_minimummaximum_f16", maximum(minimum(a, b), c)),
    FLYEMU_ROW3("v_fma_dx9_zero_f32", F32, F32, F32, F32, 0, kExact, dx9Fma(a, b, c)),
    FLYEMU_ROW3("v_fmac_dx9_zero_f32", F32, F32, F32, F32, 0, kExact, dx9Fma(a, b, c)),
    F32S3("v_mullit_f32", mullit(a, b, c)),
    FLYEMU_ROW3("v_fmac_f16", F16, F16, F16, F16, 0, kExact, nanRule(fmaHalf(a, b, c), a, b, c)),
    FLYEMU_ROW3("v_fmaak_f16", F16, F16, F16, F16, 0, kExact, nanRule(fmaHalf(a, b, c), a, b, c)),
    FLYEMU_ROW3("v_fmamk_f16", F16, F16, F16, F16, 0, kExact, nanRule(fmaHalf(a, b, c), a, b, c)),
    FLYEMU_ROW1("v_mov_b16", B16, B16, 0, kExact, a),
    FLYEMU_ROW1("v_not_b16", B16, B16, 0, kExact, ~a),
    FLYEMU_ROW2("v_and_b16", B16, B16, B16, 0, kExact, a &b),
    FLYEMU_ROW2("v_or_b16", B16, B16, B16, 0, kExact, a | b),
    FLYEMU_ROW2("v_xor_b16", B16, B16, B16, 0, kExact, a ^ b),
    FLYEMU_ROW1("v_cvt_i32_i16", I32, I16, 0, kExact, a),
    FLYEMU_ROW1("v_cvt_u32_u16", U32, U16, 0, kExact, a),
    FLYEMU_ROW2("v_cvt_pk_i16_f32", B32, F32, F32, 0, kExact,
                word(a, -32768.0F, 32767.0F) | word(b, -32768.0F, 32767.0F) << 16),
    FLYEMU_ROW2("v_cvt_pk_u16_f32", B32, F32, F32, 0, kExact,
                word(a, 0.0F, 65535.0F) | word(b, 0.0F, 65535.0F) << 16),
    // The sources are halves for the sake of their modifiers.
    {"v_cndmask_b16",
     chooseHalf,
     Type::B16,
     {Type::F16, Type::F16, Type::Mask, Type::None},
     2,
     kCarryIn | kAsBits,
     kExact},
    DOT("v_dot4_i32_iu8", dotMixedSigns<8>, kOwnOpSel | kOwnClamp, kExact),
    DOT("v_dot8_i32_iu4", dotMixedSigns<4>, kOwnOpSel | kOwnClamp, kExact),
    {"v_dot4_f32_fp8_fp8",
     (dotBytes<false, false>),
     Type::F32,
     {Type::B32, Type::B32, Type::F32, Type::None},
     3,
     0,
     kAssumed},
    {"v_dot4_f32_fp8_bf8",
     (dotBytes<false, true>),
     Type::F32,
     {Type::B32, Type::B32, Type::F32, Type::None},
     3,
     0,
     kAssumed},
    {"v_dot4_f32_bf8_fp8",
     (dotBytes<true, false>),
     Type::F32,
     {Type::B32, Type::B32, Type::F32, Type::None},
     3,
     0,
     kAssumed},
    {"v_dot4_f32_bf8_bf8",
     (dotBytes<true, true>),
     Type::F32,
     {Type::B32, Type::B32, Type::F32, Type::None},
     3,
     0,
     kAssumed},
    {"v_dot2_f16_f16",
     dotPairs<F16>,
     Type::F16,
     {Type::B32, Type::B32, Type::F16, Type::None},
     3,
     0,
     kAssumed},
    {"v_dot2_bf16_bf16",
     dotPairs<BF16>,
     Type::BF16,
     {Type::B32, Type::B32, Type::BF16, Type::None},
     3,
     0,
     kAssumed},
};

} // namespace

extern const LaneRows kRdnaRows;
const LaneRows kRdnaRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

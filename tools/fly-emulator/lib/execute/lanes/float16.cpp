// SPDX-License-Identifier: Apache-2.0
//
// Half-precision arithmetic. Values are held as floats: every operation but the fused ones is
// exact or correctly rounded in float with bits to spare, so that one more rounding is harmless.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

#define UN(NAME, ...) FLYEMU_ROW1(NAME, F16, F16, 0, kExact, __VA_ARGS__)
#define BIN(NAME, ...) FLYEMU_ROW2(NAME, F16, F16, F16, 0, kExact, __VA_ARGS__)
#define MINMAX2(NAME, ...)                                                                         \
  FLYEMU_ROW2(NAME, F16, F16Signalling, F16Signalling, 0, kExact, __VA_ARGS__)
#define MINMAX3(NAME, ...)                                                                         \
  FLYEMU_ROW3(NAME, F16, F16Signalling, F16Signalling, F16Signalling, kPreservesHigh, kExact,      \
              __VA_ARGS__)
#define TRI(NAME, FLAGS, ...) FLYEMU_ROW3(NAME, F16, F16, F16, F16, FLAGS, kExact, __VA_ARGS__)

inline float fract(float a) {
  const float r = nanRule(a - __builtin_floorf(a), a);
  constexpr float kBelowOne = 0.99951171875F; // the largest half
  return r > kBelowOne ? kBelowOne : r;
}

inline float med3(float a, float b, float c, bool ieee) {
  const float low = minMode(minMode(a, b, ieee), c, ieee);
  const float high = maximumNumber(maximumNumber(a, b), c);
  const float r =
      high == a ? maximumNumber(b, c) : (high == b ? maximumNumber(a, c) : maximumNumber(a, b));
  return isNan(a) || isNan(b) || isNan(c) ? low : r;
}

inline float ldexpHalf(float a, int32_t exponent) {
  const int64_t n = bounded(exponent, -100, 100);
  const double scale = bitCast<double>(static_cast<uint64_t>(n + 1023) << 52);
  return nanRule(doubleToFloatOdd(static_cast<double>(a) * scale), a);
}

inline int32_t frexpExponent(float a) {
  int exponent = 0;
  if (a == 0.0F || isNan(a) || absolute(a) == __builtin_inff())
    return 0;
  (void)__builtin_frexpf(a, &exponent);
  return exponent;
}

inline float frexpMantissa(float a) {
  int exponent = 0;
  if (isNan(a) || absolute(a) == __builtin_inff())
    return nanRule(a, a);
  return __builtin_frexpf(a, &exponent);
}

inline float divFixup(float quotient, float denominator, float numerator) {
  const float infinity = __builtin_inff();
  const bool negative =
      (__builtin_signbit(denominator) != 0) != (__builtin_signbit(numerator) != 0);
  const float sign = negative ? -1.0F : 1.0F;
  if (isNan(numerator))
    return quiet(numerator);
  if (isNan(denominator))
    return quiet(denominator);
  const bool denominatorInfinite = absolute(denominator) == infinity;
  const bool numeratorInfinite = absolute(numerator) == infinity;
  if ((denominator == 0.0F && numerator == 0.0F) || (denominatorInfinite && numeratorInfinite))
    return bitCast<float>(0xffc00000U);
  if (denominator == 0.0F || numeratorInfinite)
    return copySign(infinity, sign);
  if (denominatorInfinite || numerator == 0.0F)
    return copySign(0.0F, sign);
  return copySign(isNan(quotient) ? infinity : quotient, sign);
}

const LaneRow kRows[] = {
    BIN("v_add_f16", nanRule(a + b, a, b)),
    BIN("v_sub_f16", nanRule(a - b, a, b)),
    BIN("v_subrev_f16", nanRule(b - a, b, a)),
    BIN("v_mul_f16", nanRule(a *b, a, b)),
    MINMAX2("v_min_f16", minMode(a, b, x.ieee)),
    MINMAX2("v_max_f16", maxMode(a, b, x.ieee)),
    TRI("v_fma_f16", kPreservesHigh, nanRule(fmaHalf(a, b, c), a, b, c)),
    TRI("v_fma_legacy_f16", 0, nanRule(fmaHalf(a, b, c), a, b, c)),
    MINMAX3("v_min3_f16", minMode(minMode(a, b, x.ieee), c, x.ieee)),
    MINMAX3("v_max3_f16", maxMode(maxMode(a, b, x.ieee), c, x.ieee)),
    MINMAX3("v_med3_f16", med3(a, b, c, x.ieee)),
    TRI("v_div_fixup_f16", kPreservesHigh, divFixup(a, b, c)),
    TRI("v_div_fixup_legacy_f16", 0, divFixup(a, b, c)),
    UN("v_floor_f16", nanRule(__builtin_floorf(a), a)),
    UN("v_ceil_f16", nanRule(__builtin_ceilf(a), a)),
    UN("v_trunc_f16", nanRule(__builtin_truncf(a), a)),
    UN("v_rndne_f16", nanRule(__builtin_roundevenf(a), a)),
    UN("v_fract_f16", fract(a)),
    UN("v_frexp_mant_f16", frexpMantissa(a)),
    FLYEMU_ROW1("v_frexp_exp_i16_f16", I16, F16, 0, kExact, frexpExponent(a)),
    FLYEMU_ROW2("v_ldexp_f16", F16, F16, I16, 0, kExact, ldexpHalf(a, b)),
    // Multiply-add with a rounding after the product.
    TRI("v_mad_f16", kPreservesHigh, nanRule(halfToFloat(floatToHalf(a *b)) + c, a, b, c)),
    TRI("v_mad_legacy_f16", 0, nanRule(halfToFloat(floatToHalf(a *b)) + c, a, b, c)),
    TRI("v_mac_f16", 0, nanRule(halfToFloat(floatToHalf(a *b)) + c, a, b, c)),
    TRI("v_madak_f16", 0, nanRule(halfToFloat(floatToHalf(a *b)) + c, a, b, c)),
    TRI("v_madmk_f16", 0, nanRule(halfToFloat(floatToHalf(a *b)) + c, a, b, c)),
};

} // namespace

extern const LaneRows kFloat16Rows;
const LaneRows kFloat16Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

// SPDX-License-Identifier: Apache-2.0
//
// Reciprocals, roots, exponentials, logarithms, sine and cosine: computed in double and rounded
// once, which lies within the error that the architecture states (1 ulp for f32). The f32 forms
// flush denormal inputs and results, as the hardware's do whatever MODE says.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kBounded = Fidelity::Bounded;
constexpr float kSmallestNormal = 1.17549435e-38F;

inline float flush(float v) { return absolute(v) < kSmallestNormal ? copySign(0.0F, v) : v; }

/// 2^x: the fraction by the exponential series up to the eleventh power (error below 2e-13).
inline double exp2Double(double v) {
  const double x = bounded(v, -1000.0, 1000.0);
  const double n = __builtin_roundeven(x);
  const double t = (x - n) * 0.69314718055994530942;
  double p = 2.50521083854417187751e-08;
  p = p * t + 2.75573192239858906526e-07;
  p = p * t + 2.75573192239858925110e-06;
  p = p * t + 2.48015873015873015873e-05;
  p = p * t + 1.98412698412698412698e-04;
  p = p * t + 1.38888888888888888889e-03;
  p = p * t + 8.33333333333333333333e-03;
  p = p * t + 4.16666666666666666667e-02;
  p = p * t + 1.66666666666666666667e-01;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  const uint64_t exponent = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  return p * bitCast<double>(exponent);
}

/// log2(x) of a positive normal double: exponent, and the mantissa by the series of atanh.
inline double log2Double(double x) {
  const uint64_t bits = bitCast<uint64_t>(x);
  // Bring the mantissa into [sqrt(1/2), sqrt(2)).
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcdULL;
  const auto exponent = static_cast<int64_t>(shifted) >> 52;
  const double m = bitCast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double q = s * s;
  double p = 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  p = p * q + 1.0;
  return static_cast<double>(exponent) + s * p * 2.88539008177792681472;
}

inline float exp2Single(float a) {
  const float in = flush(a);
  const auto r = static_cast<float>(exp2Double(in));
  return isNan(a) ? quiet(a) : flush(r);
}

inline float log2Of(float in, float a) {
  const float infinity = __builtin_inff();
  const auto r = static_cast<float>(log2Double(static_cast<double>(in)));
  float special = in == 0.0F ? -infinity : defaultNan(a);
  special = in == infinity ? infinity : special;
  special = isNan(a) ? quiet(a) : special;
  return in > 0.0F && in < infinity ? r : special;
}

inline float rcpSingle(float a) { return nanRule(flush(1.0F / flush(a)), a); }

inline float rsqSingle(float a) {
  const float in = flush(a);
  return nanRule(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(in))), a);
}

inline float sqrtSingle(float a) { return nanRule(__builtin_sqrtf(flush(a)), a); }

/// sin(2 pi a); the argument counts whole turns. On gfx9 the result beyond 256 of them is that of
/// zero; RDNA takes any. Reduced to a quarter of a turn, where zeros are exact.
inline double turns(float a, bool cosine, bool limited) {
  constexpr double kTurn = 6.28318530717958647693;
  const double t = static_cast<double>(a) - __builtin_roundeven(static_cast<double>(a));
  if (limited && absolute(a) > 256.0F)
    return cosine ? 1.0 : 0.0;
  if (cosine)
    return __builtin_sin((0.25 - absolute(t)) * kTurn);
  const double mirrored = __builtin_copysign(0.5, t) - t;
  return __builtin_sin((absolute(t) > 0.25 ? mirrored : t) * kTurn);
}

inline float sinTurns(float a, bool cosine, bool limited) {
  if (isNan(a) || absolute(a) == __builtin_inff())
    return isNan(a) ? quiet(a) : defaultNan(a);
  return static_cast<float>(turns(a, cosine, limited));
}

#define F32_ROW(NAME, ...) FLYEMU_ROW1(NAME, F32, F32, kFlushesDenormals, kBounded, __VA_ARGS__)
#define F16_ROW(NAME, ...) FLYEMU_ROW1(NAME, F16, F16, 0, kBounded, __VA_ARGS__)
#define F64_ROW(NAME, ...) FLYEMU_ROW1(NAME, F64, F64, 0, kBounded, __VA_ARGS__)

const LaneRow kRows[] = {
    F32_ROW("v_exp_f32", exp2Single(a)),
    F32_ROW("v_exp_legacy_f32", exp2Single(a)),
    F32_ROW("v_log_f32", log2Of(flush(a), a)),
    F32_ROW("v_log_legacy_f32", log2Of(flush(a), a)),
    F32_ROW("v_rcp_f32", rcpSingle(a)),
    F32_ROW("v_rcp_iflag_f32", rcpSingle(a)),
    F32_ROW("v_rsq_f32", rsqSingle(a)),
    F32_ROW("v_sqrt_f32", sqrtSingle(a)),
    F32_ROW("v_sin_f32", sinTurns(flush(a), false, x.generation < 10)),
    F32_ROW("v_cos_f32", sinTurns(flush(a), true, x.generation < 10)),
    F16_ROW("v_exp_f16", isNan(a) ? quiet(a) : static_cast<float>(exp2Double(a))),
    F16_ROW("v_log_f16", log2Of(a, a)),
    F16_ROW("v_rcp_f16", nanRule(1.0F / a, a)),
    F16_ROW("v_rsq_f16",
            nanRule(doubleToFloatOdd(1.0 / __builtin_sqrt(static_cast<double>(a))), a)),
    F16_ROW("v_sqrt_f16", nanRule(__builtin_sqrtf(a), a)),
    F16_ROW("v_sin_f16", sinTurns(a, false, x.generation < 10)),
    F16_ROW("v_cos_f16", sinTurns(a, true, x.generation < 10)),
    F64_ROW("v_rcp_f64", nanRule(1.0 / a, a)),
    F64_ROW("v_rsq_f64", nanRule(1.0 / __builtin_sqrt(a), a)),
    F64_ROW("v_sqrt_f64", nanRule(__builtin_sqrt(a), a)),
};

} // namespace

extern const LaneRows kTranscendentalRows;
const LaneRows kTranscendentalRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

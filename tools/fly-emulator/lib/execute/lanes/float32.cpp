// SPDX-License-Identifier: Apache-2.0
//
// Single-precision arithmetic: add, multiply, fused multiply-add, minimum and maximum, rounding.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

#define UN(NAME, ...) FLYEMU_ROW1(NAME, F32, F32, 0, kExact, __VA_ARGS__)
#define BIN(NAME, ...) FLYEMU_ROW2(NAME, F32, F32, F32, 0, kExact, __VA_ARGS__)
#define TRI(NAME, ...) FLYEMU_ROW3(NAME, F32, F32, F32, F32, 0, kExact, __VA_ARGS__)
#define CHOOSE2(NAME, ...) FLYEMU_ROW2(NAME, F32, F32, F32, kHandsOn, kExact, __VA_ARGS__)
#define CHOOSE3(NAME, ...) FLYEMU_ROW3(NAME, F32, F32, F32, F32, kHandsOn, kExact, __VA_ARGS__)

inline float fract(float a) {
  const float r = nanRule(a - __builtin_floorf(a), a);
  // The largest float below one: a tiny negative number would round up to one.
  const float limit = bitCast<float>(0x3f7fffffU);
  return r > limit ? limit : r;
}

inline float med3(float a, float b, float c, bool ieee) {
  const float low = minMode(minMode(a, b, ieee), c, ieee);
  const float high = maximumNumber(maximumNumber(a, b), c);
  float r =
      high == a ? maximumNumber(b, c) : (high == b ? maximumNumber(a, c) : maximumNumber(a, b));
  return isNan(a) || isNan(b) || isNan(c) ? low : r;
}

/// IEEE 754-2019 minimum and maximum: NaN wins, -0 is below +0.
inline float minimum(float a, float b) {
  const float r = minimumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}
inline float maximum(float a, float b) {
  const float r = maximumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}

inline float legacyMultiply(float a, float b) {
  return a == 0.0F || b == 0.0F ? 0.0F : nanRule(a * b, a, b);
}

inline float ldexp(float a, int32_t exponent) {
  // Exact in double; one rounding to float.
  const int64_t n = bounded(exponent, -400, 400);
  const double scale = bitCast<double>(static_cast<uint64_t>(n + 1023) << 52);
  return nanRule(static_cast<float>(static_cast<double>(a) * scale), a);
}

inline int32_t frexpExponent(float a) {
  int exponent = 0;
  const uint32_t magnitude = bitCast<uint32_t>(a) & 0x7fffffffU;
  if (magnitude >= 0x7f800000U || magnitude == 0)
    return 0;
  (void)__builtin_frexpf(a, &exponent);
  return exponent;
}

inline float frexpMantissa(float a) {
  int exponent = 0;
  const uint32_t magnitude = bitCast<uint32_t>(a) & 0x7fffffffU;
  if (magnitude >= 0x7f800000U)
    return magnitude == 0x7f800000U ? a : quiet(a);
  return __builtin_frexpf(a, &exponent);
}

/// Cube maps: the face that a direction points to (0 to 5: +x, -x, +y, -y, +z, -z), twice its major
/// component, and the coordinates on that face.
enum class Major { X, Y, Z };
inline Major majorAxis(float x, float y, float z) {
  const float ax = absolute(x);
  const float ay = absolute(y);
  const float az = absolute(z);
  return az >= ax && az >= ay ? Major::Z : (ay >= ax ? Major::Y : Major::X);
}
inline float cubeFace(float x, float y, float z) {
  const Major major = majorAxis(x, y, z);
  const float first = major == Major::X ? 0.0F : (major == Major::Y ? 2.0F : 4.0F);
  const float component = major == Major::X ? x : (major == Major::Y ? y : z);
  return component < 0.0F ? first + 1.0F : first;
}
inline float cubeMajor(float x, float y, float z) {
  const Major major = majorAxis(x, y, z);
  const float component = major == Major::X ? x : (major == Major::Y ? y : z);
  return nanRule(2.0F * component, component);
}
inline float cubeS(float x, float y, float z) {
  const Major major = majorAxis(x, y, z);
  const float onX = x < 0.0F ? z : -z;
  const float onZ = z < 0.0F ? -x : x;
  return major == Major::X ? onX : (major == Major::Y ? x : onZ);
}
inline float cubeT(float x, float y, float z) {
  const float onY = y < 0.0F ? -z : z;
  return majorAxis(x, y, z) == Major::Y ? onY : -y;
}

const LaneRow kRows[] = {
    CHOOSE3("v_cubeid_f32", cubeFace(a, b, c)),
    CHOOSE3("v_cubema_f32", cubeMajor(a, b, c)),
    CHOOSE3("v_cubesc_f32", cubeS(a, b, c)),
    CHOOSE3("v_cubetc_f32", cubeT(a, b, c)),
    BIN("v_add_f32", nanRule(a + b, a, b)),
    BIN("v_sub_f32", nanRule(a - b, a, b)),
    BIN("v_subrev_f32", nanRule(b - a, b, a)),
    BIN("v_mul_f32", nanRule(a *b, a, b)),
    BIN("v_mul_legacy_f32", legacyMultiply(a, b)),
    CHOOSE2("v_min_f32", minMode(a, b, x.ieee)),
    CHOOSE2("v_max_f32", maxMode(a, b, x.ieee)),
    TRI("v_fma_f32", nanRule(fma(a, b, c), a, b, c)),
    TRI("v_fmac_f32", nanRule(fma(a, b, c), a, b, c)),
    TRI("v_fmaak_f32", nanRule(fma(a, b, c), a, b, c)),
    TRI("v_fmamk_f32", nanRule(fma(a, b, c), a, b, c)),
    CHOOSE3("v_min3_f32", minMode(minMode(a, b, x.ieee), c, x.ieee)),
    CHOOSE3("v_max3_f32", maxMode(maxMode(a, b, x.ieee), c, x.ieee)),
    CHOOSE3("v_med3_f32", med3(a, b, c, x.ieee)),
    CHOOSE3("v_minimum3_f32", minimum(minimum(a, b), c)),
    CHOOSE3("v_maximum3_f32", maximum(maximum(a, b), c)),
    UN("v_floor_f32", nanRule(__builtin_floorf(a), a)),
    UN("v_ceil_f32", nanRule(__builtin_ceilf(a), a)),
    UN("v_trunc_f32", nanRule(__builtin_truncf(a), a)),
    UN("v_rndne_f32", nanRule(__builtin_roundevenf(a), a)),
    UN("v_fract_f32", fract(a)),
    FLYEMU_ROW1("v_frexp_mant_f32", F32, F32, kHandsOn, kExact, frexpMantissa(a)),
    FLYEMU_ROW1("v_frexp_exp_i32_f32", I32, F32, kHandsOn, kExact, frexpExponent(a)),
    FLYEMU_ROW2("v_ldexp_f32", F32, F32, I32, 0, kExact, ldexp(a, b)),
};

} // namespace

extern const LaneRows kFloat32Rows;
const LaneRows kFloat32Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

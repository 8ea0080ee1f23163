// SPDX-License-Identifier: Apache-2.0
//
// Conversions between integers and floats of 16, 32 and 64 bits, and their packed forms.
// (fp8 and the scaled formats: convert_small.cpp.)
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;
constexpr Fidelity kAssumed = Fidelity::Assumed;

#define UN(NAME, D, A, ...) FLYEMU_ROW1(NAME, D, A, 0, kExact, __VA_ARGS__)

/// Truncate and saturate; NaN gives zero.
inline int32_t toI32(double v) {
  return isNan(v)             ? 0
         : v <= -2147483648.0 ? INT32_MIN
                              : (v >= 2147483647.0 ? INT32_MAX : static_cast<int32_t>(v));
}
inline uint32_t toU32(double v) {
  return isNan(v) || v <= 0.0
             ? 0U
             : (v >= 4294967295.0 ? 0xffffffffU : static_cast<uint32_t>(static_cast<int64_t>(v)));
}
inline int32_t toI16(float v) {
  return isNan(v) ? 0 : static_cast<int32_t>(bounded(v, -32768.0F, 32767.0F));
}
inline uint32_t toU16(float v) {
  return isNan(v) ? 0U : static_cast<uint32_t>(bounded(v, 0.0F, 65535.0F));
}
/// Normalised integers: scale, round to nearest even, saturate.
inline uint32_t snorm16(float v) {
  const float s = isNan(v) ? 0.0F : bounded(v, -1.0F, 1.0F);
  return static_cast<uint32_t>(static_cast<int32_t>(__builtin_roundevenf(s * 32767.0F))) & 0xffffU;
}
inline uint32_t unorm16(float v) {
  const float s = isNan(v) ? 0.0F : bounded(v, 0.0F, 1.0F);
  return static_cast<uint32_t>(__builtin_roundevenf(s * 65535.0F));
}
inline uint32_t packI16(int32_t a, int32_t b) {
  return (static_cast<uint32_t>(bounded(a, -32768, 32767)) & 0xffffU) |
         static_cast<uint32_t>(bounded(b, -32768, 32767)) << 16;
}
inline uint32_t packU16(uint32_t a, uint32_t b) {
  return smaller(a, 0xffffU) | smaller(b, 0xffffU) << 16;
}
/// Insert the float as byte b of c. AMD's documents leave open how it is rounded and what is out of
/// range: to the nearest, ties to even, and saturated is assumed.
inline uint32_t packU8(float a, uint32_t b, uint32_t c) {
  const float rounded = isNan(a) ? 0.0F : bounded(__builtin_roundevenf(a), 0.0F, 255.0F);
  const uint32_t shift = 8 * (b & 3U);
  return (c & ~(0xffU << shift)) | static_cast<uint32_t>(rounded) << shift;
}
/// f32 to f16 towards zero: overflow stays finite.
inline uint32_t halfTowardsZero(float v) {
  const uint32_t bits = bitCast<uint32_t>(v);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x7f800000U)
    return sign | (magnitude > 0x7f800000U ? 0x7e00U | (magnitude >> 13 & 0x3ffU) : 0x7c00U);
  if (magnitude >= 0x47800000U)
    return sign | 0x7bffU;
  if (magnitude < 0x38800000U) {
    const float units = absolute(v) * 16777216.0F; // of 2^-24, exactly
    return sign | static_cast<uint32_t>(units);
  }
  return sign | ((magnitude >> 13) - (112U << 10));
}
/// Four-bit signed fractions of 16: -8/16 ... 7/16.
inline float offsetI4(uint32_t v) {
  const int32_t n = static_cast<int32_t>(v << 28) >> 28;
  return static_cast<float>(n) * 0.0625F;
}
inline float doubleToFloat(double v) { return static_cast<float>(v); }
inline uint32_t halfOf(float v, bool saturate) {
  const uint32_t h = floatToHalf(v);
  return saturate && (h & 0x7fffU) == 0x7c00U && absolute(v) != __builtin_inff()
             ? (h & 0x8000U) | 0x7bffU
             : h;
}

// The result of a conversion that is computed as bits.
struct HalfBits : U16 {
  static constexpr Type kType = Type::F16;
};

const LaneRow kRows[] = {
    UN("v_cvt_f32_i32", F32, I32, static_cast<float>(a)),
    UN("v_cvt_f32_u32", F32, U32, static_cast<float>(a)),
    UN("v_cvt_i32_f32", I32, F32, toI32(static_cast<double>(a))),
    UN("v_cvt_u32_f32", U32, F32, toU32(static_cast<double>(a))),
    UN("v_cvt_rpi_i32_f32", I32, F32, toI32(__builtin_floor(static_cast<double>(a) + 0.5))),
    UN("v_cvt_flr_i32_f32", I32, F32, toI32(__builtin_floor(static_cast<double>(a)))),
    UN("v_cvt_f64_i32", F64, I32, static_cast<double>(a)),
    UN("v_cvt_f64_u32", F64, U32, static_cast<double>(a)),
    UN("v_cvt_i32_f64", I32, F64, toI32(a)),
    UN("v_cvt_u32_f64", U32, F64, toU32(a)),
    UN("v_cvt_f32_f64", F32, F64, nanRule(doubleToFloat(a), doubleToFloat(a))),
    UN("v_cvt_f64_f32", F64, F32, nanRule(static_cast<double>(a), static_cast<double>(a))),
    UN("v_cvt_f32_f16", F32, F16, nanRule(a, a)),
    UN("v_cvt_f16_f32", HalfBits, F32, halfOf(nanRule(a, a), x.fp16Overflow)),
    UN("v_cvt_f32_bf16", F32, BF16, nanRule(a, a)),
    UN("v_cvt_f16_i16", F16, I16, static_cast<float>(a)),
    UN("v_cvt_f16_u16", F16, U16, static_cast<float>(a)),
    UN("v_cvt_i16_f16", I16, F16, toI16(a)),
    UN("v_cvt_u16_f16", U16, F16, toU16(a)),
    UN("v_cvt_norm_i16_f16", B16, F16, snorm16(a)),
    UN("v_cvt_norm_u16_f16", B16, F16, unorm16(a)),
    UN("v_cvt_f32_ubyte0", F32, U32, static_cast<float>(a & 0xffU)),
    UN("v_cvt_f32_ubyte1", F32, U32, static_cast<float>(a >> 8 & 0xffU)),
    UN("v_cvt_f32_ubyte2", F32, U32, static_cast<float>(a >> 16 & 0xffU)),
    UN("v_cvt_f32_ubyte3", F32, U32, static_cast<float>(a >> 24)),
    UN("v_cvt_off_f32_i4", F32, U32, offsetI4(a)),
    FLYEMU_ROW2("v_cvt_pkrtz_f16_f32", B32, F32, F32, kHandsOn, kExact,
                halfTowardsZero(a) | halfTowardsZero(b) << 16),
    FLYEMU_ROW2("v_cvt_pk_f16_f32", B32, F32, F32, 0, kExact,
                halfOf(nanRule(a, a), x.fp16Overflow) | halfOf(nanRule(b, b), x.fp16Overflow)
                                                            << 16),
    FLYEMU_ROW2("v_cvt_pk_bf16_f32", B32, F32, F32, 0, kExact,
                floatToBf16(a) | floatToBf16(b) << 16),
    FLYEMU_ROW2("v_cvt_pknorm_i16_f32", B32, F32, F32, 0, kExact, snorm16(a) | snorm16(b) << 16),
    FLYEMU_ROW2("v_cvt_pknorm_u16_f32", B32, F32, F32, 0, kExact, unorm16(a) | unorm16(b) << 16),
    FLYEMU_ROW2("v_cvt_pknorm_i16_f16", B32, F16, F16, 0, kExact, snorm16(a) | snorm16(b) << 16),
    FLYEMU_ROW2("v_cvt_pknorm_u16_f16", B32, F16, F16, 0, kExact, unorm16(a) | unorm16(b) << 16),
    FLYEMU_ROW2("v_cvt_pk_i16_i32", B32, I32, I32, 0, kExact, packI16(a, b)),
    FLYEMU_ROW2("v_cvt_pk_u16_u32", B32, U32, U32, 0, kExact, packU16(a, b)),
    FLYEMU_ROW3("v_cvt_pk_u8_f32", B32, F32, U32, U32, 0, kAssumed, packU8(a, b, c)),
    FLYEMU_ROW3("v_cvt_pkaccum_u8_f32", B32, F32, U32, U32, kReadsDst, kAssumed, packU8(a, b, c)),
};

} // namespace

extern const LaneRows kConvertRows;
const LaneRows kConvertRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

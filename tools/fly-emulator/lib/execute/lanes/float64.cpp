// SPDX-License-Identifier: Apache-2.0
//
// Double-precision arithmetic.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

#define UN(NAME, ...) FLYEMU_ROW1(NAME, F64, F64, 0, kExact, __VA_ARGS__)
#define BIN(NAME, ...) FLYEMU_ROW2(NAME, F64, F64, F64, 0, kExact, __VA_ARGS__)
#define TRI(NAME, ...) FLYEMU_ROW3(NAME, F64, F64, F64, F64, 0, kExact, __VA_ARGS__)

inline double fract(double a) {
  const double r = nanRule(a - __builtin_floor(a), a);
  const double limit = bitCast<double>(uint64_t{0x3fefffffffffffffULL});
  return r > limit ? limit : r;
}

inline bool isFinite(double a) { return absolute(a) <= 1.7976931348623157e308; }

inline int32_t frexpExponent(double a) {
  const uint64_t bits = bitCast<uint64_t>(a) & 0x7fffffffffffffffULL;
  const auto biased = static_cast<int32_t>(bits >> 52);
  if (bits == 0 || biased == 0x7ff)
    return 0;
  // A subnormal number has as many leading zeros more as its exponent is lower.
  return biased != 0 ? biased - 1022 : -1010 - __builtin_clzll(bits);
}

inline double frexpMantissa(double a) {
  int exponent = 0;
  return isFinite(a) ? __builtin_frexp(a, &exponent) : nanRule(a, a);
}

inline double ldexp(double a, int32_t exponent) {
  return nanRule(scaleDouble(a, bounded(exponent, -5000, 5000)), a);
}

/// Two digits of 2/pi, for the reduction of large arguments: 53 bits at 53 * segment, and further
/// along for large exponents.
inline double trigPreop(double a, int32_t segment) {
  // 2/pi in binary, 1201 bits after the point.
  static const uint32_t digits[] = {
      0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U, 0xfe5163abU,
      0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU, 0xfe1deb1cU, 0xb129a73eU,
      0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U, 0x835339f4U, 0x9c845f8bU,
      0xbdf9283bU, 0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU, 0x6d367ecfU, 0x27cb09b7U,
      0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U, 0x8a5292eaU, 0x6bfb5fb1U,
      0x1f8d5d08U, 0x56033046U, 0xfc7b6babU};
  const auto exponent = static_cast<int32_t>((bitCast<uint64_t>(a) >> 52) & 0x7ffU);
  int32_t shift = (segment & 31) * 53;
  if (exponent > 1077)
    shift += exponent - 1077;
  uint64_t bits = 0;
  for (int i = 0; i < 53; ++i) {
    const int position = shift + i;
    const bool bit = position < 38 * 32 && ((digits[position / 32] >> (31 - position % 32)) & 1U);
    bits = bits << 1 | (bit ? 1U : 0U);
  }
  const int32_t scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return scaleDouble(static_cast<double>(bits), scale);
}

const LaneRow kRows[] = {
    BIN("v_add_f64", nanRule(a + b, a, b)),
    BIN("v_mul_f64", nanRule(a *b, a, b)),
    FLYEMU_ROW2("v_min_f64", F64, F64, F64, kHandsOn, kExact, minMode(a, b, x.ieee)),
    FLYEMU_ROW2("v_max_f64", F64, F64, F64, kHandsOn, kExact, maxMode(a, b, x.ieee)),
    TRI("v_fma_f64", nanRule(fma(a, b, c), a, b, c)),
    TRI("v_fmac_f64", nanRule(fma(a, b, c), a, b, c)),
    UN("v_floor_f64", nanRule(__builtin_floor(a), a)),
    UN("v_ceil_f64", nanRule(__builtin_ceil(a), a)),
    UN("v_trunc_f64", nanRule(__builtin_trunc(a), a)),
    UN("v_rndne_f64", nanRule(__builtin_roundeven(a), a)),
    UN("v_fract_f64", fract(a)),
    FLYEMU_ROW1("v_frexp_mant_f64", F64, F64, kHandsOn, kExact, frexpMantissa(a)),
    FLYEMU_ROW1("v_frexp_exp_i32_f64", I32, F64, kHandsOn, kExact, frexpExponent(a)),
    FLYEMU_ROW2("v_ldexp_f64", F64, F64, I32, 0, kExact, ldexp(a, b)),
    FLYEMU_ROW2("v_trig_preop_f64", F64, F64, I32, 0, kExact, trigPreop(a, b)),
};

} // namespace

extern const LaneRows kFloat64Rows;
const LaneRows kFloat64Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

// SPDX-License-Identifier: Apache-2.0
//
// Floats of 4, 6 and 8 bits: fp8 (e4m3) and bf8 (e5m2) in the OCP and FNUZ encodings, fp6 (e2m3),
// bf6 (e3m2) and fp4 (e2m1).
#pragma once

#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {

struct SmallFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  enum class Specials : uint8_t {
    None, ///< every code is a number
    Fnuz, ///< one NaN, the code of -0; no infinities
    Nan,  ///< the code of all ones is NaN; no infinities (e4m3)
    Ieee, ///< infinities and NaNs in the top exponent (e5m2)
  } specials;

  constexpr unsigned bits() const { return 1 + exponentBits + mantissaBits; }
};

constexpr SmallFormat kFp8Ocp = {4, 3, 7, SmallFormat::Specials::Nan};
constexpr SmallFormat kBf8Ocp = {5, 2, 15, SmallFormat::Specials::Ieee};
constexpr SmallFormat kFp8Fnuz = {4, 3, 8, SmallFormat::Specials::Fnuz};
constexpr SmallFormat kBf8Fnuz = {5, 2, 16, SmallFormat::Specials::Fnuz};
constexpr SmallFormat kFp6 = {2, 3, 1, SmallFormat::Specials::None};
constexpr SmallFormat kBf6 = {3, 2, 3, SmallFormat::Specials::None};
constexpr SmallFormat kFp4 = {2, 1, 1, SmallFormat::Specials::None};

[[gnu::always_inline]] inline float decodeSmall(uint32_t code, const SmallFormat &f) {
  const unsigned m = f.mantissaBits;
  const uint32_t negative = code >> (f.bits() - 1) & 1U;
  const uint32_t exponent = code >> m & ((1U << f.exponentBits) - 1U);
  const uint32_t mantissa = code & ((1U << m) - 1U);
  const uint32_t top = (1U << f.exponentBits) - 1U;
  using Specials = SmallFormat::Specials;
  if (f.specials == Specials::Fnuz && negative != 0 && exponent == 0 && mantissa == 0)
    return bitCast<float>(0x7fc00000U);
  if (f.specials == Specials::Nan && exponent == top && mantissa == (1U << m) - 1U)
    return bitCast<float>(0x7fc00000U | negative << 31);
  if (f.specials == Specials::Ieee && exponent == top)
    return bitCast<float>(negative << 31 | 0x7f800000U |
                          (mantissa != 0 ? 0x00400000U | mantissa << (23 - m) : 0U));
  float magnitude = 0;
  if (exponent == 0) {
    const float unit =
        bitCast<float>(static_cast<uint32_t>(127 + 1 - f.bias - static_cast<int>(m)) << 23);
    magnitude = static_cast<float>(mantissa) * unit;
  } else {
    magnitude =
        bitCast<float>(static_cast<uint32_t>(static_cast<int>(exponent) - f.bias + 127) << 23 |
                       mantissa << (23 - m));
  }
  return negative != 0 ? -magnitude : magnitude;
}

/// Round a float into the format. `random` (32 bits) adds below the last place for stochastic
/// rounding; otherwise to nearest, ties to even. Overflow: to the largest number where `saturate`
/// is set or the format has no specials, else to NaN or infinity.
[[gnu::always_inline]] inline uint32_t encodeSmall(float value, const SmallFormat &f, bool saturate,
                                                   bool stochastic, uint32_t random) {
  using Specials = SmallFormat::Specials;
  const unsigned m = f.mantissaBits;
  const uint32_t input = bitCast<uint32_t>(value);
  const uint32_t negative = input >> 31;
  const uint32_t magnitude = input & 0x7fffffffU;
  const uint32_t signBit = negative << (f.bits() - 1);
  const uint32_t all = (1U << (f.bits() - 1)) - 1U;
  const uint32_t infinity = ((1U << f.exponentBits) - 1U) << m;
  const uint32_t largest = f.specials == Specials::Nan    ? all - 1U
                           : f.specials == Specials::Ieee ? infinity - 1U
                                                          : all;
  const uint32_t nanCode = f.specials == Specials::Fnuz   ? 1U << (f.bits() - 1)
                           : f.specials == Specials::None ? signBit | largest
                                                          : signBit | all;
  if (magnitude > 0x7f800000U)
    return nanCode;
  const uint32_t overflow = saturate || f.specials == Specials::None ? signBit | largest
                            : f.specials == Specials::Ieee           ? signBit | infinity
                                                                     : nanCode;
  if (magnitude == 0x7f800000U)
    return overflow;
  // mantissa * 2^(exponent - 23), with the implicit bit.
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint64_t mantissa = magnitude & 0x7fffffU;
  if (magnitude >> 23 == 0)
    exponent = -126;
  else
    mantissa |= 0x800000U;
  int target = exponent + f.bias; // biased exponent in the format
  unsigned shift = 23 - m;
  if (target < 1) {
    // What lies more than a word below the last place is only there to be added to.
    constexpr int kMost = 40;
    const int extra = 1 - target;
    if (extra > kMost)
      mantissa >>= extra - kMost > 63 ? 63 : extra - kMost;
    shift += static_cast<unsigned>(extra > kMost ? kMost : extra);
    target = 1;
  }
  const uint64_t unit = uint64_t{1} << shift;
  uint64_t rounded = 0;
  if (stochastic) {
    const uint64_t addend = shift <= 32 ? random >> (32 - shift) : uint64_t{random} << (shift - 32);
    rounded = (mantissa + addend) >> shift;
  } else {
    const uint64_t half = unit >> 1;
    rounded = (mantissa + half - 1 + (mantissa >> shift & 1U)) >> shift;
  }
  // With an implicit bit the code counts up through exponents; without, it is subnormal.
  const uint64_t code = (static_cast<uint64_t>(target - 1) << m) + rounded;
  if (code > largest)
    return overflow;
  if (f.specials == Specials::Fnuz && code == 0)
    return 0;
  return signBit | static_cast<uint32_t>(code);
}

} // namespace flyemu::FLYEMU_LANES

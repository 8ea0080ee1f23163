// SPDX-License-Identifier: Apache-2.0
//
// The three steps of IEEE division: v_div_scale, v_div_fmas, v_div_fixup.
#include <type_traits>

#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

template <typename T> struct Format;
template <> struct Format<float> {
  using Tag = F32;
  static constexpr int kBias = 127;
  static constexpr int kScale = 64;         ///< of div_scale
  static constexpr int kNearOverflow = 96;  ///< exponent difference that needs scaling
  static constexpr int kTinyNumerator = 23; ///< biased exponent
  static constexpr int kUnderflow = -150;
  static constexpr double kNearlyZero = 0x1p-150;              ///< the most that rounds to zero
  static constexpr double kNearlyNormal = 0x1p-126 - 0x1p-150; ///< the least that rounds to normal
  static int exponent(float v) { return static_cast<int>((bitCast<uint32_t>(v) >> 23) & 0xffU); }
  static float invalid() { return bitCast<float>(0xffc00000U); }
  static float infinity() { return __builtin_inff(); }
  static float scale(float v, int n) { return scaleFloat(v, n); }
  /// (a * b + c) * 2^n with one rounding, which may be to a denormal number.
  static float scaledFma(float a, float b, float c, int n) {
    return static_cast<float>(scaleDouble(
        fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)), n));
  }
  static float sign(float magnitude, bool negative) {
    return copySign(magnitude, negative ? -1.0F : 1.0F);
  }
};
template <> struct Format<double> {
  using Tag = F64;
  static constexpr int kBias = 1023;
  static constexpr int kScale = 128;
  static constexpr int kNearOverflow = 768;
  static constexpr int kTinyNumerator = 53;
  static constexpr int kUnderflow = -1075;
  static constexpr long double kNearlyZero = 0x1p-1075L;
  static constexpr long double kNearlyNormal = 0x1p-1022L - 0x1p-1075L;
  static int exponent(double v) { return static_cast<int>((bitCast<uint64_t>(v) >> 52) & 0x7ffU); }
  static double invalid() { return bitCast<double>(uint64_t{0xfff8000000000000ULL}); }
  static double infinity() { return __builtin_inf(); }
  static double scale(double v, int n) { return scaleDouble(v, n); }
  static double scaledFma(double a, double b, double c, int n) {
    constexpr double kSmallestNormal = 2.2250738585072014e-308;
    const double r = scaleDouble(fma(a, b, c), n);
    // Scaling is exact but for denormal results, which the wider format rounds once.
    return absolute(r) >= kSmallestNormal
               ? r
               : static_cast<double>(__builtin_ldexpl(__builtin_fmal(a, b, c), n));
  }
  static double sign(double magnitude, bool negative) {
    return __builtin_copysign(magnitude, negative ? -1.0 : 1.0);
  }
};

template <typename T> bool isDenormal(T v) { return v != 0 && Format<T>::exponent(v) == 0; }

/// Whether c / b rounds to a denormal number, whatever MODE makes of those: by a wider format.
template <typename T> bool isQuotientDenormal(T c, T b) {
  using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
  const Wide quotient = static_cast<Wide>(c) / static_cast<Wide>(b);
  const Wide magnitude = quotient < 0 ? -quotient : quotient;
  return magnitude > Format<T>::kNearlyZero && magnitude < Format<T>::kNearlyNormal;
}

/// a is the operand to scale (one of the others), b the denominator, c the numerator.
/// `byExponents`: gfx11's flag, as programs for it expect: set with a zero operand, and wherever
/// the exponents leave it open whether the quotient is denormal. Neither changes a quotient
/// (assumed: AMD's documents do not say it).
template <typename T> T divScale(T a, T b, T c, bool byExponents, bool &flag) {
  using F = Format<T>;
  flag = byExponents;
  if (b == 0 || c == 0)
    return F::sign(defaultNan(a), false);
  flag = false;
  if (F::exponent(c) - F::exponent(b) >= F::kNearOverflow) {
    flag = true;
    return a == b ? F::scale(a, F::kScale) : a;
  }
  if (isDenormal(b))
    return F::scale(a, F::kScale);
  // Whether 1/b and c/b are denormal; an infinite operand gives neither.
  const bool inverse = isQuotientDenormal(T(1), b);
  const bool smallest = byExponents && F::exponent(c) != 0 && F::exponent(b) <= 2 * F::kBias &&
                        F::exponent(c) - F::exponent(b) == 1 - F::kBias;
  const bool quotient = smallest || isQuotientDenormal(c, b);
  if (inverse && quotient) { // a huge denominator: bring it down, and the quotient up
    flag = true;
    return a == b ? F::scale(a, -F::kScale) : a;
  }
  if (inverse)
    return F::scale(a, -F::kScale);
  if (quotient) {
    flag = true;
    return a == c ? F::scale(a, F::kScale) : a;
  }
  if (F::exponent(c) <= F::kTinyNumerator)
    return F::scale(a, F::kScale);
  return a;
}

template <typename T> void divScaleLanes(LaneArguments &x) {
  using Tag = typename Format<T>::Tag;
  uint64_t flags = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bool flag = false;
    const T r = divScale<T>(Tag::load(x.s[0], lane), Tag::load(x.s[1], lane),
                            Tag::load(x.s[2], lane), x.generation >= 11, flag);
    Tag::store(x.d, lane, r);
    flags |= uint64_t{flag} << lane;
  }
  x.maskOut = flags;
}

/// With VCC set, undo div_scale's factor: the quotient was scaled down (large) or up (small).
template <typename T> void divFmasLanes(LaneArguments &x) {
  using F = Format<T>;
  using Tag = typename F::Tag;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const T a = Tag::load(x.s[0], lane);
    const T b = Tag::load(x.s[1], lane);
    const T c = Tag::load(x.s[2], lane);
    T r = fma(a, b, c);
    if (((x.maskIn >> lane) & 1U) != 0)
      r = F::scaledFma(a, b, c, F::exponent(c) > F::kBias ? F::kScale : -F::kScale);
    Tag::store(x.d, lane, nanRule(r, a, b, c));
  }
}

template <typename T> T divFixup(T quotient, T denominator, T numerator) {
  using F = Format<T>;
  const bool negative =
      (__builtin_signbit(denominator) != 0) != (__builtin_signbit(numerator) != 0);
  if (isNan(numerator))
    return quiet(numerator);
  if (isNan(denominator))
    return quiet(denominator);
  const bool denominatorInfinite = absolute(denominator) == F::infinity();
  const bool numeratorInfinite = absolute(numerator) == F::infinity();
  if ((denominator == 0 && numerator == 0) || (denominatorInfinite && numeratorInfinite))
    return F::invalid();
  if (denominator == 0 || numeratorInfinite)
    return F::sign(F::infinity(), negative);
  if (denominatorInfinite || numerator == 0)
    return F::sign(0, negative);
  if (F::exponent(numerator) - F::exponent(denominator) < F::kUnderflow)
    return F::sign(0, negative);
  // A quotient beyond the range spoils its own refinement, and arrives here as a NaN.
  return F::sign(isNan(quotient) ? F::infinity() : quotient, negative);
}

const LaneRow kRows[] = {
    {"v_div_scale_f32",
     divScaleLanes<float>,
     Type::F32,
     {Type::F32, Type::F32, Type::F32, Type::None},
     3,
     kCarryOut | kHandsOn,
     Fidelity::Exact},
    {"v_div_scale_f64",
     divScaleLanes<double>,
     Type::F64,
     {Type::F64, Type::F64, Type::F64, Type::None},
     3,
     kCarryOut | kHandsOn,
     Fidelity::Exact},
    {"v_div_fmas_f32",
     divFmasLanes<float>,
     Type::F32,
     {Type::F32, Type::F32, Type::F32, Type::None},
     3,
     kReadsVcc,
     Fidelity::Exact},
    {"v_div_fmas_f64",
     divFmasLanes<double>,
     Type::F64,
     {Type::F64, Type::F64, Type::F64, Type::None},
     3,
     kReadsVcc,
     Fidelity::Exact},
    FLYEMU_ROW3("v_div_fixup_f32", F32, F32, F32, F32, kHandsOn, Fidelity::Exact,
                divFixup(a, b, c)),
    FLYEMU_ROW3("v_div_fixup_f64", F64, F64, F64, F64, kHandsOn, Fidelity::Exact,
                divFixup(a, b, c)),
};

} // namespace

extern const LaneRows kDivisionRows;
const LaneRows kDivisionRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES

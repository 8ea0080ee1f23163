// SPDX-License-Identifier: Apache-2.0
//
// sin, cos and tan of f64: x = k pi/2 + r with |r| <= pi/4 as a sum of two f64, then polynomials
// of r, chosen by k modulo 4.
//
// Up to 2^22, r is x minus k times pi/2 in three parts (Cody and Waite); beyond, the fraction of
// x 2/pi is computed from the bits of 2/pi that matter (Payne and Hanek). x is m 2^e with an
// integer m of 53 bits: bits of 2/pi that make multiples of 4 are skipped, the next 192 multiplied.
// No f64 is closer to a multiple of pi/2 than 2^-62, so that 64 bits or more of r remain.
#include "DoubleDouble.h"
#include "Patterns.h"
#include "Quadrants.h"
#include "RareBranch.h"

#include <array>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using fly::DoubleDouble;
using fly::FloatEmitter;

namespace {

/// pi/2 as a sum of three f64.
constexpr double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
/// Adding it leaves a number's integer part in the low bits, rounded to nearest.
constexpr double roundingShift = 0x1.8p+52;
/// Where x - k pi/2 is still exact for the first part of pi/2.
constexpr double longReductionFrom = 0x1p+22;
/// The bits of 2/pi after the binary point, behind 48 zeros.
constexpr std::array<uint64_t, 19> twoOverPiBits = {
    0x000000000000a2f9, 0x836e4e441529fc27, 0x57d1f534ddc0db62, 0x95993c439041fe51,
    0x63abdebbc561b724, 0x6e3a424dd2e00649, 0x2eea09d1921cfe1d, 0xeb1cb129a73ee882,
    0x35f52ebb4484e99c, 0x7026b45f7e413991, 0xd639835339f49c84, 0x5f8bbdf9283b1ff8,
    0x97ffde05980fef2f, 0x118b5a0a6d1f6d36, 0x7ecf27cb09b74f46, 0x3f669e5fea2d7527,
    0xbac7ebe5f17b3d07, 0x39f78a5292ea6bfb, 0x5fb11f8d5d085603};
/// The biased exponent of x for which they are read from the first on.
constexpr int64_t firstExponent = 1029;

/// sin(r) = r + r^3 p(r^2) and cos(r) = 1 - r^2/2 + r^4 p(r^2)
constexpr double sinCoefficients[] = {-0.1666666666666663,     0.008333333333321884,
                                      -0.00019841269829361978, 2.755731353075628e-06,
                                      -2.505073196874889e-08,  1.589523185618302e-10};
constexpr double cosCoefficients[] = {0.041666666666666595,   -0.001388888888887351,
                                      2.48015872890665e-05,   -2.7557314224553467e-07,
                                      2.0875704987295794e-09, -1.135865858062867e-11};

/// x - k pi/2, and k, of which the last two bits count.
struct Reduced {
  DoubleDouble rest;
  Value quadrant;
};

Reduced reduceShort(const FloatEmitter &e, Value x) {
  Value shifted = e.fma(x, e.wide(twoOverPi), e.wide(roundingShift));
  Value k = e.sub(shifted, e.wide(roundingShift));
  Value first = e.fma(k, e.wide(-halfPi[0]), x); // exact, for it has no bits below 2^-53
  DoubleDouble second = fly::twoProduct(e, k, e.wide(-halfPi[1]));
  DoubleDouble rest = fly::twoSum(e, first, second.high);
  rest.low = e.add(rest.low, e.fma(k, e.wide(-halfPi[2]), second.low));
  return {fly::fastTwoSum(e, rest.high, rest.low), e.bitcast(e.i64(), shifted)};
}

/// The 192 bits of 2/pi from bit `start` of the table on.
std::array<Value, 3> windowOf(const FloatEmitter &e, Value start) {
  SmallVector<Value> words;
  for (uint64_t bits : twoOverPiBits)
    words.push_back(e.longWord(static_cast<int64_t>(bits)));
  return fly::bitsFrom(e, std::move(words), start);
}

/// integer * unit, for integers of at most 53 bits.
Value scaled(const FloatEmitter &e, Value integer, double unit) {
  return e.mul(arith::SIToFPOp::create(e.builder, e.loc, e.f64(), integer), e.wide(unit));
}

/// For finite |x| of at least `longReductionFrom`.
Reduced reduceLong(const FloatEmitter &e, Value x) {
  Value bits = e.bitcast(e.i64(), x);
  Value exponent = e.bitAnd(e.shiftRight(bits, e.longWord(52)), e.longWord(2047));
  Value mantissa =
      e.bitOr(e.bitAnd(bits, e.longWord((int64_t(1) << 52) - 1)), e.longWord(int64_t(1) << 52));
  std::array<Value, 3> window = windowOf(e, e.isub(exponent, e.longWord(firstExponent)));

  // mantissa * window modulo 2^192, without its lowest word.
  auto last = arith::MulUIExtendedOp::create(e.builder, e.loc, mantissa, window[2]);
  auto middle = arith::MulUIExtendedOp::create(e.builder, e.loc, mantissa, window[1]);
  Value low = e.iadd(middle.getLow(), last.getHigh());
  Value carry = arith::ExtUIOp::create(e.builder, e.loc, e.i64(),
                                       e.is(CmpIPredicate::ult, low, last.getHigh()));
  Value high = e.iadd(e.iadd(e.imul(mantissa, window[0]), middle.getHigh()), carry);

  // `high` counts quarters of a turn in units of 2^-62.
  Value rounded = e.iadd(high, e.longWord(int64_t(1) << 61));
  Value quadrant = e.shiftRight(rounded, e.longWord(62));
  high = e.bitOr(e.shiftLeft(high, e.longWord(2)), e.shiftRight(low, e.longWord(62)));
  low = e.shiftLeft(low, e.longWord(2));
  Value sign = arith::ShRSIOp::create(e.builder, e.loc, high, e.longWord(63));
  high = e.bitXor(high, sign);
  low = e.bitXor(low, sign);

  // The magnitude as 32 + 52 + 44 bits, each part of which is an f64.
  Value top = scaled(e, e.shiftRight(high, e.longWord(32)), 0x1p-32);
  Value next = e.bitOr(e.shiftLeft(e.bitAnd(high, e.longWord(0xffffffff)), e.longWord(20)),
                       e.shiftRight(low, e.longWord(44)));
  DoubleDouble fraction = fly::fastTwoSum(e, top, scaled(e, next, 0x1p-84));
  Value bottom = scaled(e, e.bitAnd(low, e.longWord((int64_t(1) << 44) - 1)), 0x1p-128);
  fraction = fly::fastTwoSum(e, fraction.high, e.add(fraction.low, bottom));

  DoubleDouble rest = fly::twoProduct(e, fraction.high, e.wide(halfPi[0]));
  rest.low =
      e.fma(fraction.high, e.wide(halfPi[1]), e.fma(fraction.low, e.wide(halfPi[0]), rest.low));
  rest = fly::fastTwoSum(e, rest.high, rest.low);

  Value negative = e.is(CmpIPredicate::slt, bits, e.longWord(0));
  Value flips = e.is(CmpIPredicate::slt, e.bitXor(bits, sign), e.longWord(0));
  Value notFinite = e.sub(x, x); // 0, or NaN of infinity
  return {{e.add(e.select(flips, e.neg(rest.high), rest.high), notFinite),
           e.select(flips, e.neg(rest.low), rest.low)},
          e.select(negative, e.isub(e.longWord(0), quadrant), quadrant)};
}

Reduced reduce(const FloatEmitter &e, Value x) {
  Reduced usual = reduceShort(e, x);
  Value large = e.is(CmpFPredicate::OGE, e.abs(x), e.wide(longReductionFrom));
  auto both = fly::replaceWhere(
      e, large, {usual.rest.high, usual.rest.low, usual.quadrant}, [&](const FloatEmitter &inner) {
        Reduced rare = reduceLong(inner, x);
        return SmallVector<Value>{rare.rest.high, rare.rest.low, rare.quadrant};
      });
  return {{both[0], both[1]}, both[2]};
}

Value sinNearZero(const FloatEmitter &e, DoubleDouble r) {
  Value square = e.mul(r.high, r.high);
  Value slope = e.fma(square, e.wide(-0.5), e.wide(1.0));
  Value cubic = e.mul(e.mul(r.high, square), e.polynomial(square, sinCoefficients));
  return e.add(r.high, e.fma(r.low, slope, cubic));
}

Value cosNearZero(const FloatEmitter &e, DoubleDouble r) {
  Value square = e.mul(r.high, r.high), half = e.mul(square, e.wide(0.5));
  DoubleDouble start = fly::fastTwoSum(e, e.wide(1.0), e.neg(half));
  Value quartic = e.mul(e.mul(square, square), e.polynomial(square, cosCoefficients));
  Value low = e.add(start.low, e.fma(e.neg(r.high), r.low, quartic));
  return e.add(start.high, low);
}

/// Tiny numbers are their own sine and tangent. This keeps subnormals and the sign of a zero.
Value keepTiny(const FloatEmitter &e, Value x, Value value) {
  return e.select(e.is(CmpFPredicate::OLT, e.abs(x), e.wide(0x1p-28)), x, value);
}

std::array<Value, 2> emitSinCos(const FloatEmitter &e, Value x) {
  auto [rest, quadrant] = reduce(e, x);
  Value sine = sinNearZero(e, rest), cosine = cosNearZero(e, rest);
  std::array<Value, 2> both = fly::inQuadrant(e, sine, cosine, quadrant);
  return {keepTiny(e, x, both[0]), both[1]};
}

Value emitSin(const FloatEmitter &e, Value x) { return emitSinCos(e, x)[0]; }

Value emitCos(const FloatEmitter &e, Value x) { return emitSinCos(e, x)[1]; }

Value emitTan(const FloatEmitter &e, Value x) {
  auto [rest, quadrant] = reduce(e, x);
  Value sine = sinNearZero(e, rest), cosine = cosNearZero(e, rest), swap = fly::isOdd(e, quadrant);
  Value above = e.select(swap, e.neg(cosine), sine), below = e.select(swap, sine, cosine);
  return keepTiny(e, x, e.div(above, below));
}

} // namespace

void fly::populateDoubleTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitDouble<math::SinOp, emitSin>, EmitDouble<math::CosOp, emitCos>,
               EmitDouble<math::TanOp, emitTan>, fly::EmitSinCos<Float64Type, emitSinCos>>(
      patterns.getContext());
}

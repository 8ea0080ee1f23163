// SPDX-License-Identifier: Apache-2.0
//
// Logarithms and general powers of f64. With x = m 2^k, m of [sqrt(1/2), sqrt(2)], and
// s = (m - 1) / (m + 1): log(m) = 2s (1 + s^2/3 + s^4/5 + ...), of which s and s^2/3 are sums of
// two f64. A power multiplies the error of the logarithm by up to 745, 10 of its 64 bits.
#include "DoubleDouble.h"
#include "Patterns.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using fly::DoubleDouble;
using fly::FloatEmitter;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
/// The first parts of the two leave room for an exponent, so that their product is exact.
constexpr double ln2[] = {0x1.62e42fefa2000p-1, 0x1.9ef35793c7673p-41};
constexpr double log10Of2[] = {0x1.34413509f4000p-2, 0x1.cff7988f8959bp-41};
constexpr double log2OfE[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr double log10OfE[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr double third[] = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
/// 1/5 + z/7 + z^2/9 + ... for z = s^2
constexpr double logCoefficients[] = {
    0.1999999999999999,  0.1428571428572261,  0.11111111108755371,  0.09090909436740088,
    0.07692278327263995, 0.06668162882033915, 0.058373243992116255, 0.05995214483061321};
/// Below it, log1p(x) is x.
constexpr double tinyBelow = 0x1p-54;

/// x = mantissa 2^exponent.
struct Logarithm {
  Value exponent;
  DoubleDouble ofMantissa;
};

/// log(1 + f)
DoubleDouble logNearOne(const FloatEmitter &e, DoubleDouble f) {
  Value two = e.wide(2.0), denominator = e.add(two, f.high);
  Value rest = e.add(e.sub(f.high, e.sub(denominator, two)), f.low);
  Value inverse = e.div(e.wide(1.0), denominator), s = e.mul(f.high, inverse);
  Value remainder = e.add(e.fma(e.neg(s), denominator, f.high), e.fma(e.neg(s), rest, f.low));
  Value sLow = e.mul(remainder, inverse);

  DoubleDouble square = fly::twoProduct(e, s, s);
  square.low = e.fma(e.add(s, s), sLow, square.low);
  DoubleDouble first = fly::twoProduct(e, square.high, e.wide(third[0]));
  first.low = e.fma(square.high, e.wide(third[1]), first.low);
  first.low = e.fma(square.low, e.wide(third[0]), first.low);
  Value tail = e.mul(e.mul(square.high, square.high), e.polynomial(square.high, logCoefficients));
  DoubleDouble series = fly::fastTwoSum(e, first.high, tail);
  series.low = e.add(series.low, first.low);

  DoubleDouble product = fly::twoProduct(e, s, series.high);
  product.low = e.fma(s, series.low, e.fma(sLow, series.high, product.low));
  DoubleDouble sum = fly::fastTwoSum(e, s, product.high);
  Value low = e.add(sum.low, e.add(product.low, sLow));
  return {e.add(sum.high, sum.high), e.add(low, low)};
}

/// The logarithm of x + low, for |low| <= ulp(x) / 2 and 0 for subnormal x.
Logarithm logarithmOf(const FloatEmitter &e, Value x, Value low = {}) {
  Value isTiny = e.is(CmpFPredicate::OLT, x, e.wide(0x1p-1022));
  Value bits = e.bitcast(e.i64(), e.select(isTiny, e.mul(x, e.wide(0x1p+54)), x));
  const int64_t rootBits = 0x3fe6a09e667f3bcd; // of sqrt(1/2)
  Value exponent =
      arith::ShRSIOp::create(e.builder, e.loc, e.isub(bits, e.longWord(rootBits)), e.longWord(52));
  Value mantissa = e.bitcast(e.f64(), e.isub(bits, e.shiftLeft(exponent, e.longWord(52))));
  DoubleDouble f = {e.sub(mantissa, e.wide(1.0)), e.wide(0.0)};
  if (low) {
    // 2^(1 - exponent), which is 0 for 1024; nothing is below numbers so large.
    Value inverse = e.shiftLeft(e.isub(e.longWord(1024), exponent), e.longWord(52));
    Value half = e.mul(low, e.wide(0.5));
    f = fly::fastTwoSum(e, f.high, e.mul(half, e.bitcast(e.f64(), inverse)));
  }
  exponent = e.isub(exponent, e.select(isTiny, e.longWord(54), e.longWord(0)));
  Value whole = arith::SIToFPOp::create(e.builder, e.loc, e.f64(), e.truncate(exponent));
  return {whole, logNearOne(e, f)};
}

/// exponent * step + log
DoubleDouble addExponent(const FloatEmitter &e, Value exponent, const double (&step)[2],
                         DoubleDouble log) {
  DoubleDouble sum = fly::fastTwoSum(e, e.mul(exponent, e.wide(step[0])), log.high);
  Value low = e.add(sum.low, e.fma(exponent, e.wide(step[1]), log.low));
  return fly::fastTwoSum(e, sum.high, low);
}

/// A logarithm whose base has the logarithms `unit` of e and `step` of 2.
Value inBase(const FloatEmitter &e, Logarithm log, const double (&step)[2],
             const double (&unit)[2]) {
  DoubleDouble scaled = fly::twoProduct(e, log.ofMantissa.high, e.wide(unit[0]));
  scaled.low = e.fma(log.ofMantissa.high, e.wide(unit[1]), scaled.low);
  scaled.low = e.fma(log.ofMantissa.low, e.wide(unit[0]), scaled.low);
  return addExponent(e, log.exponent, step, scaled).high;
}

/// Replaces the logarithm of a number that is not positive and finite.
Value atEdges(const FloatEmitter &e, Value x, Value log) {
  Value zero = e.wide(0.0);
  log = e.select(e.is(CmpFPredicate::OLT, x, e.wide(infinity)), log, x);
  log = e.select(e.is(CmpFPredicate::OEQ, x, zero), e.wide(-infinity), log);
  return e.select(e.is(CmpFPredicate::OLT, x, zero), e.wide(notANumber), log);
}

Value emitLog(const FloatEmitter &e, Value x) {
  return atEdges(e, x, fly::emitDoubleLog(e, x).high);
}

Value emitLog2(const FloatEmitter &e, Value x) {
  const double step[] = {1.0, 0.0};
  return atEdges(e, x, inBase(e, logarithmOf(e, x), step, log2OfE));
}

Value emitLog10(const FloatEmitter &e, Value x) {
  return atEdges(e, x, inBase(e, logarithmOf(e, x), log10Of2, log10OfE));
}

Value emitLog1p(const FloatEmitter &e, Value x) {
  DoubleDouble sum = fly::twoSum(e, e.wide(1.0), x);
  Logarithm log = logarithmOf(e, sum.high, sum.low);
  Value result = addExponent(e, log.exponent, ln2, log.ofMantissa).high;
  Value isTiny = e.is(CmpFPredicate::OLT, e.abs(x), e.wide(tinyBelow));
  return e.select(isTiny, x, atEdges(e, sum.high, result));
}

/// The special cases are those of C's Annex F.
Value emitPower(const FloatEmitter &e, Value x, Value y) {
  Value magnitude = e.abs(x), one = e.wide(1.0), zero = e.wide(0.0);
  // Beyond 2^70, all powers are 0, 1 or infinite.
  Value exponent = e.select(e.is(CmpFPredicate::OGT, e.abs(y), e.wide(0x1p+70)),
                            e.copySign(e.wide(0x1p+70), y), y);
  DoubleDouble log = fly::emitDoubleLog(e, magnitude);
  DoubleDouble product = fly::twoProduct(e, log.high, exponent);
  product.low = e.fma(log.low, exponent, product.low);
  Value result = fly::emitDoubleExp(e, product);

  Value fromZero = e.is(CmpFPredicate::OEQ, x, zero), inverted = e.is(CmpFPredicate::OLT, y, zero);
  Value fromInfinity = e.is(CmpFPredicate::OEQ, magnitude, e.wide(infinity));
  Value limit = e.select(e.bitXor(fromZero, inverted), zero, e.wide(infinity));
  result = e.select(e.bitOr(fromZero, fromInfinity), limit, result);

  Value half = e.mul(y, e.wide(0.5));
  Value isInteger = e.is(CmpFPredicate::OEQ, e.trunc(y), y);
  Value isOdd = e.bitAnd(isInteger, e.is(CmpFPredicate::ONE, e.trunc(half), half));
  result = e.select(isOdd, e.copySign(result, x), result);
  // A root of a finite negative number is not real.
  Value negative =
      e.bitAnd(e.is(CmpFPredicate::OLT, x, zero), e.is(CmpFPredicate::OGT, x, e.wide(-infinity)));
  Value notReal = e.bitAnd(negative, e.is(CmpFPredicate::ONE, e.trunc(y), y));
  result = e.select(notReal, e.wide(notANumber), result);
  result = e.select(e.is(CmpFPredicate::UNO, x, y), e.wide(notANumber), result);
  // 1, whatever the other operand is; and -1 to the power of an infinity.
  Value toInfinity = e.bitAnd(e.is(CmpFPredicate::OEQ, magnitude, one),
                              e.is(CmpFPredicate::OEQ, e.abs(y), e.wide(infinity)));
  Value always = e.bitOr(e.is(CmpFPredicate::OEQ, x, one), e.is(CmpFPredicate::OEQ, y, zero));
  return e.select(e.bitOr(always, toInfinity), one, result);
}

} // namespace

DoubleDouble fly::emitDoubleLog(const FloatEmitter &e, Value x) {
  Logarithm log = logarithmOf(e, x);
  return addExponent(e, log.exponent, ln2, log.ofMantissa);
}

void fly::populateDoubleLogarithmPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitDouble<math::LogOp, emitLog>, EmitDouble<math::Log2Op, emitLog2>,
               EmitDouble<math::Log10Op, emitLog10>, EmitDouble<math::Log1pOp, emitLog1p>>(
      patterns.getContext());
  // Before MLIR's.
  patterns.add<EmitDouble<math::PowFOp, emitPower>>(patterns.getContext(), /*benefit=*/2);
}

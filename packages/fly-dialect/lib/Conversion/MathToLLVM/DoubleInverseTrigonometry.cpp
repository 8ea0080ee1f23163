// SPDX-License-Identifier: Apache-2.0
//
// atan, atan2, asin and acos of f64: a polynomial, and a multiple of 45 degrees in two parts.
#include "DoubleDouble.h"
#include "Patterns.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using fly::DoubleDouble;
using fly::FloatEmitter;

namespace {

/// atan(t) = t + t^3 p(t^2) for |t| <= tan(pi/8)
constexpr double atanCoefficients[] = {
    -0.333333333333332,   0.1999999999995285,   -0.14285714280098058, 0.1111111077764025,
    -0.09090897569781131, 0.07692056564021574,  -0.06663059513936496, 0.05847545647857716,
    -0.05037676647773688, 0.038021356372590506, -0.017858047137898753};
/// asin(s) = s + s^3 p(s^2) for |s| <= 1/2
constexpr double asinCoefficients[] = {
    0.16666666666665395,  0.07500000000342402,  0.04464285682305857,   0.030381959375595263,
    0.022371751982113414, 0.017359800004610786, 0.013884267396086385,  0.01217570542882919,
    0.00649941954264438,  0.019607459313002167, -0.016349893729375037, 0.03199919015368595};
constexpr double quarterPi[] = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
constexpr double tanPiOver8 = 0x1.a827999fcef32p-2;

/// eighths pi/4 + angle
Value turn(const FloatEmitter &e, Value eighths, Value angle) {
  DoubleDouble base = fly::twoProduct(e, eighths, e.wide(quarterPi[0]));
  base.low = e.fma(eighths, e.wide(quarterPi[1]), base.low);
  return e.add(base.high, e.add(base.low, angle));
}

/// The angle of (x, y) for y >= 0 and any sign of x. With S <= L the smaller and larger magnitude:
/// atan(S / L), or pi/4 + atan((S - L) / (S + L)) where S / L is above tan(pi/8).
Value angleOf(const FloatEmitter &e, Value height, Value x) {
  Value width = e.abs(x), zero = e.wide(0.0), one = e.wide(1.0), two = e.wide(2.0);
  Value steep = e.is(CmpFPredicate::OGT, height, width);
  Value larger = e.select(steep, height, width), smaller = e.select(steep, width, height);
  // Equal magnitudes make no quotient at zero and infinity; a NaN is equal to nothing.
  Value equal = e.is(CmpFPredicate::OEQ, height, width);
  Value diagonal = e.bitOr(e.bitAnd(equal, e.is(CmpFPredicate::ONE, larger, zero)),
                           e.is(CmpFPredicate::OGT, smaller, e.mul(larger, e.wide(tanPiOver8))));
  // Halves, for the sum must not overflow; halves of small numbers would be rounded.
  Value factor = e.select(e.is(CmpFPredicate::OGT, larger, one), e.wide(0.5), one);
  Value scaled = e.mul(larger, factor), scaledSmaller = e.mul(smaller, factor);
  Value above = e.select(diagonal, e.sub(scaledSmaller, scaled), smaller);
  Value below = e.select(diagonal, e.add(scaledSmaller, scaled), larger);
  Value tangent = e.select(equal, zero, e.div(above, below));
  Value angle = e.oddPolynomial(tangent, atanCoefficients);

  Value eighths = e.select(diagonal, one, e.select(steep, two, zero));
  angle = e.select(steep, e.neg(angle), angle);
  Value left = e.is(CmpIPredicate::slt, e.bitcast(e.i64(), x), e.longWord(0));
  eighths = e.select(left, e.sub(e.wide(4.0), eighths), eighths);
  return turn(e, eighths, e.select(left, e.neg(angle), angle));
}

Value emitAtan(const FloatEmitter &e, Value x) {
  return e.copySign(angleOf(e, e.abs(x), e.wide(1.0)), x);
}

/// Zeros and infinities of both operands meet at multiples of 45 degrees, as in C's Annex F.
Value emitAtan2(const FloatEmitter &e, Value y, Value x) {
  return e.copySign(angleOf(e, e.abs(y), x), y);
}

/// asin of |x| up to 1/2, and beyond of sqrt((1 - |x|) / 2), which is NaN where |x| > 1.
struct ArcSine {
  Value steep, angle;
};

ArcSine arcSineOf(const FloatEmitter &e, Value magnitude) {
  Value half = e.wide(0.5), steep = e.is(CmpFPredicate::OGT, magnitude, half);
  Value root = e.sqrt(e.mul(e.sub(e.wide(1.0), magnitude), half));
  Value angle = e.oddPolynomial(e.select(steep, root, magnitude), asinCoefficients);
  return {steep, e.select(steep, e.add(angle, angle), angle)};
}

Value emitAsin(const FloatEmitter &e, Value x) {
  auto [steep, angle] = arcSineOf(e, e.abs(x));
  Value far = turn(e, e.wide(2.0), e.neg(angle));
  return e.copySign(e.select(steep, far, angle), x);
}

Value emitAcos(const FloatEmitter &e, Value x) {
  auto [steep, angle] = arcSineOf(e, e.abs(x));
  Value negative = e.is(CmpFPredicate::OLT, x, e.wide(0.0));
  // 0 + angle or pi - angle; pi/2 - angle or pi/2 + angle
  Value eighths = e.select(steep, e.select(negative, e.wide(4.0), e.wide(0.0)), e.wide(2.0));
  Value isSum = e.is(CmpIPredicate::ne, steep, negative);
  return turn(e, eighths, e.select(isSum, angle, e.neg(angle)));
}

} // namespace

void fly::populateDoubleInverseTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitDouble<math::AtanOp, emitAtan>, EmitDouble<math::Atan2Op, emitAtan2>,
               EmitDouble<math::AsinOp, emitAsin>>(patterns.getContext());
  // Before MLIR's.
  patterns.add<EmitDouble<math::AcosOp, emitAcos>>(patterns.getContext(), /*benefit=*/2);
}

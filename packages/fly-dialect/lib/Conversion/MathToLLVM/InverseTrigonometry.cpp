// SPDX-License-Identifier: Apache-2.0
//
// atan and atan2: a quotient of at most 1, a polynomial, and reflections at 45 and 90 degrees.
// asin: a polynomial up to 1/2, beyond it that of the half angle.
#include "FloatEmitter.h"
#include "Patterns.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using fly::FloatEmitter;

namespace {

constexpr double atanCoefficients[] = {-3.33333e-01F,   1.9998549e-01F,  -1.4264244e-01F,
                                       1.09521925e-01F, -8.4034674e-02F, 5.7957854e-02F,
                                       -3.1178081e-02F, 1.0914721e-02F,  -1.7936453e-03F};
constexpr double asinCoefficients[] = {1.6666752e-01F, 7.4952975e-02F, 4.547038e-02F,
                                       2.4179503e-02F, 4.2166326e-02F};
constexpr double halfPiHigh = 0x1.921fb6p+0, halfPiLow = -0x1.777a5cp-25;

/// multiple * pi/2 - angle, with pi/2 in two parts.
Value reflect(const FloatEmitter &e, double multiple, Value angle) {
  Value low = e.sub(e.single(multiple * halfPiLow), angle);
  return e.add(e.single(multiple * halfPiHigh), low);
}

Value emitAtan(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), one = e.single(1.0);
  Value steep = e.is(CmpFPredicate::OGT, magnitude, one);
  Value quotient = e.select(steep, e.div(one, magnitude), magnitude);
  Value angle = e.oddPolynomial(quotient, atanCoefficients);
  return e.copySign(e.select(steep, reflect(e, 1.0, angle), angle), x);
}

/// asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)); the root is NaN where |x| > 1.
Value emitAsin(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), half = e.single(0.5);
  Value steep = e.is(CmpFPredicate::OGT, magnitude, half);
  Value sine = e.select(steep, e.sqrt(e.mul(e.sub(e.single(1.0), magnitude), half)), magnitude);
  Value angle = e.oddPolynomial(sine, asinCoefficients);
  return e.copySign(e.select(steep, reflect(e, 1.0, e.add(angle, angle)), angle), x);
}

/// Zeros and infinities of both operands meet at multiples of 45 degrees, as in C's Annex F.
Value emitAtan2(const FloatEmitter &e, Value y, Value x) {
  Value height = e.abs(y), width = e.abs(x);
  Value steep = e.is(CmpFPredicate::OGT, height, width);
  Value larger = e.select(steep, height, width), smaller = e.select(steep, width, height);
  Value quotient = e.div(smaller, larger);
  // 0 / 0 is 0 here and infinity / infinity 1; a NaN is equal to nothing.
  Value equal = e.is(CmpFPredicate::OEQ, height, width);
  Value atOrigin = e.is(CmpFPredicate::OEQ, larger, e.single(0.0));
  quotient = e.select(equal, e.select(atOrigin, e.single(0.0), e.single(1.0)), quotient);
  Value angle = e.oddPolynomial(quotient, atanCoefficients);
  angle = e.select(steep, reflect(e, 1.0, angle), angle);
  Value left = e.is(CmpIPredicate::slt, e.bitcast(e.i32(), x), e.word(0));
  return e.copySign(e.select(left, reflect(e, 2.0, angle), angle), y);
}

} // namespace

void fly::populateInverseTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitSingle<math::AtanOp, emitAtan>, EmitSingle<math::Atan2Op, emitAtan2>,
               EmitSingle<math::AsinOp, emitAsin>>(patterns.getContext());
}

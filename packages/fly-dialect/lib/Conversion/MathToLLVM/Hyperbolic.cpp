// SPDX-License-Identifier: Apache-2.0
//
// Hyperbolic functions of f32, and their inverses, of f64 too. Near zero, where exp and log would
// cancel, there are polynomials and log1p; where exp(x) overflows before the result does, exp(x/2)
// is squared.
#include "FloatEmitter.h"
#include "Patterns.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using fly::FloatEmitter;

namespace {

constexpr double sinhCoefficients[] = {1.6666667e-01F, 8.33335e-03F, 1.983616e-04F, 2.8169516e-06F};
constexpr double tanhCoefficients[] = {-3.333328e-01F, 1.3331442e-01F, -5.373972e-02F,
                                       2.0639094e-02F, -5.7049925e-03F};
constexpr double ln2 = 0x1.62e42fefa39efp-1;
/// Beyond it, 1 has nothing to add to a number; squares may overflow much later.
constexpr double largeFrom = 0x1p+54;

/// exp(|x|)/2 and exp(-|x|)/2. The second is 0 where the first swallows it.
struct Halves {
  Value rising, falling;
};

Halves halvesOf(const FloatEmitter &e, Value magnitude) {
  Value large = e.is(CmpFPredicate::OGT, magnitude, e.single(88.0));
  Value power = e.exp(e.select(large, e.mul(magnitude, e.single(0.5)), magnitude));
  Value half = e.mul(power, e.single(0.5));
  return {e.select(large, e.mul(half, power), half),
          e.select(large, e.single(0.0), e.div(e.single(0.5), power))};
}

Value emitSinh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Halves halves = halvesOf(e, magnitude);
  Value small = e.is(CmpFPredicate::OLT, magnitude, e.single(1.0));
  Value near = e.oddPolynomial(magnitude, sinhCoefficients);
  return e.copySign(e.select(small, near, e.sub(halves.rising, halves.falling)), x);
}

Value emitCosh(const FloatEmitter &e, Value x) {
  Halves halves = halvesOf(e, e.abs(x));
  return e.add(halves.rising, halves.falling);
}

/// 1 - 2 / (exp(2|x|) + 1), away from zero.
Value emitTanh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), one = e.single(1.0);
  Value power = e.exp(e.add(magnitude, magnitude));
  Value far = e.sub(one, e.div(e.single(2.0), e.add(power, one)));
  Value small = e.is(CmpFPredicate::OLT, magnitude, e.single(0.625));
  return e.copySign(e.select(small, e.oddPolynomial(magnitude, tanhCoefficients), far), x);
}

/// log1p(excess), or log(2 magnitude) where the magnitude is large.
Value logOf(const FloatEmitter &e, Value magnitude, Value excess) {
  Value large = e.is(CmpFPredicate::OGT, magnitude, e.number(largeFrom));
  Value log = e.log1p(e.select(large, magnitude, excess));
  return e.select(large, e.add(log, e.number(ln2)), log);
}

/// log(|x| + sqrt(x^2 + 1)) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
Value emitAsinh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), one = e.number(1.0), square = e.mul(magnitude, magnitude);
  Value root = e.sqrt(e.add(square, one));
  Value excess = e.add(magnitude, e.div(square, e.add(root, one)));
  return e.copySign(logOf(e, magnitude, excess), x);
}

/// With t = x - 1: log(x + sqrt(x^2 - 1)) = log1p(t + sqrt(2t + t^2)), NaN for x < 1.
Value emitAcosh(const FloatEmitter &e, Value x) {
  Value above = e.sub(x, e.number(1.0));
  Value root = e.sqrt(e.fma(above, above, e.add(above, above)));
  Value log = logOf(e, x, e.add(above, root));
  Value outside = e.is(CmpFPredicate::OLT, x, e.number(1.0));
  return e.select(outside, e.number(std::numeric_limits<double>::quiet_NaN()), log);
}

/// log1p(2|x| / (1 - |x|)) / 2
Value emitAtanh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value excess = e.div(e.add(magnitude, magnitude), e.sub(e.number(1.0), magnitude));
  return e.copySign(e.mul(e.log1p(excess), e.number(0.5)), x);
}

} // namespace

void fly::populateHyperbolicPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitSingle<math::SinhOp, emitSinh>, EmitSingle<math::CoshOp, emitCosh>,
               EmitSingle<math::TanhOp, emitTanh>, EmitSingle<math::AsinhOp, emitAsinh>,
               EmitSingle<math::AcoshOp, emitAcosh>, EmitSingle<math::AtanhOp, emitAtanh>,
               EmitDouble<math::AsinhOp, emitAsinh>, EmitDouble<math::AcoshOp, emitAcosh>,
               EmitDouble<math::AtanhOp, emitAtanh>>(patterns.getContext());
}

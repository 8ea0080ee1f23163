// SPDX-License-Identifier: Apache-2.0
//
// Cube roots, by Newton's method without divisions, and general powers, by log2 and exp2 in f64:
// the error of log2 is multiplied by the exponent, so that f32 would lose up to eight bits.
#include "FloatEmitter.h"
#include "Patterns.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using fly::FloatEmitter;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Value emitCbrt(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), one = e.single(1.0);
  // Residuals of small numbers would be subnormal; 2^48 is the cube of 2^16.
  Value tiny = e.is(CmpFPredicate::OLT, magnitude, e.single(0x1p-100));
  Value a = e.mul(magnitude, e.select(tiny, e.single(0x1p+48), one));
  // 1 / cbrt(a) within 4 %, from a third of the exponent, whose fraction is linear in the mantissa.
  Value third = arith::DivUIOp::create(e.builder, e.loc, e.bitcast(e.i32(), a), e.word(3));
  Value z = e.bitcast(e.f32(), e.isub(e.word(0x54a20000), third));
  auto errorOf = [&](Value root) { return e.fma(e.neg(e.mul(e.mul(a, root), root)), root, one); };
  Value error = errorOf(z);
  z = e.fma(e.mul(z, error), e.fma(error, e.single(2.0 / 9.0), e.single(1.0 / 3.0)), z);
  z = e.fma(e.mul(z, errorOf(z)), e.single(1.0 / 3.0), z);
  // One step for y = cbrt(a) itself, with a - y^3 in twice the precision.
  Value square = e.mul(z, z), y = e.mul(a, square);
  Value high = e.mul(y, y), low = e.fma(y, y, e.neg(high));
  Value residual = e.fma(e.neg(low), y, e.fma(e.neg(high), y, a));
  y = e.fma(e.mul(residual, e.single(1.0 / 3.0)), square, y);
  y = e.mul(y, e.select(tiny, e.single(0x1p-16), one));
  Value unbounded = e.is(CmpFPredicate::OEQ, magnitude, e.single(infinity));
  return e.copySign(e.select(unbounded, magnitude, y), x);
}

/// The same in f64, with a step more.
Value emitDoubleCbrt(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), one = e.wide(1.0), third = e.wide(1.0 / 3.0);
  Value tiny = e.is(CmpFPredicate::OLT, magnitude, e.wide(0x1p-700));
  Value a = e.mul(magnitude, e.select(tiny, e.wide(0x1p+300), one));
  Value exponent = arith::DivUIOp::create(e.builder, e.loc, e.bitcast(e.i64(), a), e.longWord(3));
  Value z = e.bitcast(e.f64(), e.isub(e.longWord(0x553eeaaa00000000), exponent));
  for (int step = 0; step < 2; ++step) {
    Value error = e.fma(e.neg(e.mul(e.mul(a, z), z)), z, one);
    z = e.fma(e.mul(z, error), e.fma(error, e.wide(2.0 / 9.0), third), z);
  }
  Value square = e.mul(z, z), y = e.mul(a, square);
  Value high = e.mul(y, y), low = e.fma(y, y, e.neg(high));
  Value residual = e.fma(e.neg(low), y, e.fma(e.neg(high), y, a));
  y = e.fma(e.mul(residual, third), square, y);
  y = e.mul(y, e.select(tiny, e.wide(0x1p-100), one));
  Value unbounded = e.is(CmpFPredicate::OEQ, magnitude, e.wide(infinity));
  return e.copySign(e.select(unbounded, magnitude, y), x);
}

/// log2(m) = s p(s^2) with s = (m - 1) / (m + 1), for m of [sqrt(1/2), sqrt(2)].
constexpr double log2Coefficients[] = {2.8853900817900984, 0.9617966733417725, 0.5770835842860192,
                                       0.4116727806386581, 0.3407287098918108};
/// 2^f for |f| <= 1/2.
constexpr double exp2Coefficients[] = {
    1.000000000554256,    0.6931472057362058,    0.24022646889789742,   0.0555032877838501,
    0.009618489047563157, 0.0013399930860573837, 0.00015345789023112974};

/// log2 of a number that is not negative, within 2^-37 relative, in f64.
Value emitLog2(const FloatEmitter &e, Value magnitude) {
  Value wide = arith::ExtFOp::create(e.builder, e.loc, e.f64(), magnitude);
  Value bits = e.bitcast(e.i64(), wide);
  // The exponent of wide / sqrt(1/2), rounded down; f64 has no subnormals here.
  const int64_t rootBits = 0x3fe6a09e667f3bcd;
  Value exponent =
      arith::ShRSIOp::create(e.builder, e.loc, e.isub(bits, e.longWord(rootBits)), e.longWord(52));
  Value mantissa = e.bitcast(e.f64(), e.isub(bits, e.shiftLeft(exponent, e.longWord(52))));
  Value s = e.div(e.sub(mantissa, e.wide(1.0)), e.add(mantissa, e.wide(1.0)));
  Value whole = arith::SIToFPOp::create(e.builder, e.loc, e.f64(), e.truncate(exponent));
  Value log = e.fma(s, e.polynomial(e.mul(s, s), log2Coefficients), whole);
  log = e.select(e.is(CmpFPredicate::OEQ, wide, e.wide(0.0)), e.wide(-infinity), log);
  // Infinity and NaN are their own logarithms.
  return e.select(e.is(CmpFPredicate::OLT, wide, e.wide(infinity)), log, wide);
}

/// 2^t of f64 in f32, rounded once. NaN stays.
Value emitExp2(const FloatEmitter &e, Value t) {
  t = e.select(e.is(CmpFPredicate::OGT, t, e.wide(200.0)), e.wide(200.0), t);
  t = e.select(e.is(CmpFPredicate::OLT, t, e.wide(-200.0)), e.wide(-200.0), t);
  Value shift = e.wide(0x1.8p+52), shifted = e.add(t, shift);
  Value fraction = e.sub(t, e.sub(shifted, shift));
  Value power = e.bitcast(e.i64(), e.polynomial(fraction, exp2Coefficients));
  Value exponent = e.shiftLeft(e.bitcast(e.i64(), shifted), e.longWord(52));
  Value result = e.bitcast(e.f64(), e.iadd(power, exponent));
  result = e.select(e.is(CmpFPredicate::UNO, t, t), t, result);
  return arith::TruncFOp::create(e.builder, e.loc, e.f32(), result);
}

/// The special cases are those of C's Annex F.
Value emitPower(const FloatEmitter &e, Value x, Value y) {
  Value magnitude = e.abs(x), one = e.single(1.0), zero = e.single(0.0);
  Value wideY = arith::ExtFOp::create(e.builder, e.loc, e.f64(), y);
  Value result = emitExp2(e, e.mul(emitLog2(e, magnitude), wideY));

  Value half = e.mul(y, e.single(0.5));
  Value isInteger = e.is(CmpFPredicate::OEQ, e.trunc(y), y);
  Value isOdd = e.bitAnd(isInteger, e.is(CmpFPredicate::ONE, e.trunc(half), half));
  result = e.select(isOdd, e.copySign(result, x), result);
  // A root of a finite negative number is not real.
  Value negative =
      e.bitAnd(e.is(CmpFPredicate::OLT, x, zero), e.is(CmpFPredicate::OGT, x, e.single(-infinity)));
  Value notReal = e.bitAnd(negative, e.is(CmpFPredicate::ONE, e.trunc(y), y));
  result = e.select(notReal, e.single(std::numeric_limits<double>::quiet_NaN()), result);
  // 1, whatever the other operand is; and -1 to the power of an infinity.
  Value toInfinity = e.bitAnd(e.is(CmpFPredicate::OEQ, magnitude, one),
                              e.is(CmpFPredicate::OEQ, e.abs(y), e.single(infinity)));
  Value always = e.bitOr(e.is(CmpFPredicate::OEQ, x, one), e.is(CmpFPredicate::OEQ, y, zero));
  return e.select(e.bitOr(always, toInfinity), one, result);
}

/// Unless an approximation is asked for (`afn`) or the exponent is one for which MLIR has products
/// and roots.
struct Power : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    APFloat exponent(0.0);
    if (matchPattern(op.getRhs(), m_ConstantFloat(&exponent)) &&
        llvm::is_contained({-1.0, -0.5, 0.0, 0.5, 1.0, 2.0}, exponent.convertToDouble()))
      return failure();
    FloatEmitter emitter(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emitPower(emitter, op.getLhs(), op.getRhs()));
    return success();
  }
};

} // namespace

void fly::populatePowerPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<EmitSingle<math::CbrtOp, emitCbrt>, EmitDouble<math::CbrtOp, emitDoubleCbrt>>(
      context);
  patterns.add<Power>(context, /*benefit=*/2); // before MLIR's
}

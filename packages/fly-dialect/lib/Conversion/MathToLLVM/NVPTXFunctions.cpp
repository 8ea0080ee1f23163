// SPDX-License-Identifier: Apache-2.0
//
// Functions of f32 that AMDGPU's back end expands and NVPTX's does not. What there is is
// `ex2.approx`, within 2^-22 of the result, which llvm.exp2 becomes.
#include "NVPTXFunctions.h"
#include "FloatEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using fly::FloatEmitter;

namespace {

constexpr double log2e = 0x1.71547652b82fep+0;
/// ln 2 as a number of few bits, whose product with an exponent is exact, and the rest.
constexpr double ln2High = 0x1.62e4p-1, ln2Low = 0x1.7f7d1cf79abcap-20;
constexpr double log10e = 0x1.bcb7b1526e50ep-2;
/// Exponents beyond these give 0 and infinity.
constexpr double leastExponent = -152.0, mostExponent = 130.0;

/// 2^exponent for exponents from -126 to 127.
Value powerOfTwo(const FloatEmitter &e, Value exponent) {
  constexpr int64_t bias = 127, mantissaBits = 23;
  return e.bitcast(e.f32(), e.shiftLeft(e.iadd(exponent, e.word(bias)), e.word(mantissaBits)));
}

/// exp(x) = 2^n exp(x - n ln 2) with n = x / ln 2 rounded; 2^n in two factors, for results that are
/// denormal. Of a NaN n is a bound, and the rest of it is NaN.
Value emitExp(const FloatEmitter &e, Value x) {
  Value scaled = e.mul(x, e.single(log2e));
  Value rounded = math::RoundEvenOp::create(e.builder, e.loc, scaled);
  Value bounded = arith::MaxNumFOp::create(e.builder, e.loc, rounded, e.single(leastExponent));
  bounded = arith::MinNumFOp::create(e.builder, e.loc, bounded, e.single(mostExponent));
  Value rest = e.fma(bounded, e.single(-ln2High), x);
  rest = e.fma(bounded, e.single(-ln2Low), rest);
  Value power = math::Exp2Op::create(e.builder, e.loc, e.mul(rest, e.single(log2e)));
  Value exponent = arith::FPToSIOp::create(e.builder, e.loc, e.i32(), bounded);
  Value half = arith::ShRSIOp::create(e.builder, e.loc, exponent, e.word(1));
  return e.mul(e.mul(power, powerOfTwo(e, half)), powerOfTwo(e, e.isub(exponent, half)));
}

Value emitLog10(const FloatEmitter &e, Value x) {
  Value log = math::LogOp::create(e.builder, e.loc, x);
  return e.mul(log, e.single(log10e));
}

/// With `afn`, exp(x) is 2^(x / ln 2).
struct FastExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    FloatEmitter e(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, e.mul(op.getOperand(), e.single(log2e)),
                                              op.getFastmath());
    return success();
  }
};

} // namespace

void fly::populateNVPTXPatterns(RewritePatternSet &patterns) {
  patterns.add<FastExp>(patterns.getContext(), /*benefit=*/2);
  patterns.add<EmitSingle<math::ExpOp, emitExp>, EmitSingle<math::Log10Op, emitLog10>>(
      patterns.getContext());
}

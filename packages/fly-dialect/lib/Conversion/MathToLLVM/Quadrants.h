// SPDX-License-Identifier: Apache-2.0
//
// What the trigonometric functions of f32 and f64 share. x = k pi/2 + r; k is an integer as wide as
// x, of which the last two bits, the quadrant, count.
#ifndef FLY_CONVERSION_MATHTOLLVM_QUADRANTS_H
#define FLY_CONVERSION_MATHTOLLVM_QUADRANTS_H

#include "FloatEmitter.h"

#include <array>

namespace fly {

/// Three words of a table of bits from bit `start` on; the table's first word has its first bits.
std::array<mlir::Value, 3> bitsFrom(const FloatEmitter &e, llvm::SmallVector<mlir::Value> table,
                                    mlir::Value start);

/// Whether sine and cosine of r change places.
mlir::Value isOdd(const FloatEmitter &e, mlir::Value quadrant);

/// Sine and cosine of x from those of r.
std::array<mlir::Value, 2> inQuadrant(const FloatEmitter &e, mlir::Value sine, mlir::Value cosine,
                                      mlir::Value quadrant);

/// A pattern that replaces math.sincos on one type of floats by what a function emits.
template <typename Float, auto emit>
struct EmitSinCos : mlir::OpRewritePattern<mlir::math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(mlir::math::SincosOp op,
                                      mlir::PatternRewriter &rewriter) const override {
    mlir::Value x = op->getOperand(0);
    if (!mlir::isa<Float>(mlir::getElementTypeOrSelf(x.getType())))
      return mlir::failure();
    rewriter.replaceOp(op, emit(FloatEmitter(rewriter, op.getLoc(), x.getType()), x));
    return mlir::success();
  }
};

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_QUADRANTS_H

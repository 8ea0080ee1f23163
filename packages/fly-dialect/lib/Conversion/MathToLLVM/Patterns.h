// SPDX-License-Identifier: Apache-2.0
//
// The math functions of this library. The polynomials are minimax in the relative error,
// found with Remez' exchange algorithm in 200-bit arithmetic.
#ifndef FLY_CONVERSION_MATHTOLLVM_PATTERNS_H
#define FLY_CONVERSION_MATHTOLLVM_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace fly {

/// sin, cos, sincos and tan. Arguments that need the long reduction take a branch, an `scf.if`.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// asin, atan and atan2.
void populateInverseTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// sinh, cosh and tanh of f32, and the inverses of these, of f64 too.
void populateHyperbolicPatterns(mlir::RewritePatternSet &patterns);

/// exp, exp2, expm1, sinh, cosh and tanh of f64.
void populateDoubleExponentialPatterns(mlir::RewritePatternSet &patterns);

/// log, log2, log10, log1p and powf of f64.
void populateDoubleLogarithmPatterns(mlir::RewritePatternSet &patterns);

/// sin, cos, sincos and tan of f64, with the same branch.
void populateDoubleTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// asin, acos, atan and atan2 of f64.
void populateDoubleInverseTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// cbrt, and powf of f32 without `afn`.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_PATTERNS_H

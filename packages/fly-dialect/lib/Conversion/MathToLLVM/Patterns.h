// SPDX-License-Identifier: Apache-2.0
//
// The math functions of this library, in f32. The polynomials are minimax in the relative error,
// found with Remez' exchange algorithm in 200-bit arithmetic.
#ifndef FLY_CONVERSION_MATHTOLLVM_PATTERNS_H
#define FLY_CONVERSION_MATHTOLLVM_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace fly {

/// sin, cos, sincos and tan. Arguments that need the long reduction take a branch, an `scf.if`.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// asin, atan and atan2.
void populateInverseTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// sinh, cosh, tanh and their inverses, by exp and log1p away from zero.
void populateHyperbolicPatterns(mlir::RewritePatternSet &patterns);

/// cbrt, and powf without `afn`.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_PATTERNS_H

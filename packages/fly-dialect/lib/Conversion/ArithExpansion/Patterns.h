// SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic that neither MLIR's lowering to LLVM nor the AMDGPU backend knows.

#ifndef FLY_LIB_CONVERSION_ARITHEXPANSION_PATTERNS_H
#define FLY_LIB_CONVERSION_ARITHEXPANSION_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace fly {

/// Which encodings of 8-bit floats a chip's conversion instructions speak.
enum class Float8Instructions { None, FNUZ, OCP };

/// arith.extf and arith.truncf from and to floats of 8 bits and less.
void populateSmallFloatPatterns(Float8Instructions native, mlir::RewritePatternSet &patterns);

/// arith.fptosi and arith.fptoui to integers of less than 32 bits, by way of i32.
void populateNarrowIntegerPatterns(mlir::RewritePatternSet &patterns);

/// arith.remf, exactly, as loops: before structured control flow is lowered.
void populateRemainderPatterns(mlir::RewritePatternSet &patterns);

} // namespace fly

#endif // FLY_LIB_CONVERSION_ARITHEXPANSION_PATTERNS_H

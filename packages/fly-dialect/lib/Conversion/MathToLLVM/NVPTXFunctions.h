// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_CONVERSION_MATHTOLLVM_NVPTXFUNCTIONS_H
#define FLY_CONVERSION_MATHTOLLVM_NVPTXFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace fly {

/// exp and log10 of f32 by what NVPTX has: `ex2.approx`, and the other logarithms.
void populateNVPTXPatterns(mlir::RewritePatternSet &patterns);

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_NVPTXFUNCTIONS_H

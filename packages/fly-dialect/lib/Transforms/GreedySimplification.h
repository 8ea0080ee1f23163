// SPDX-License-Identifier: Apache-2.0
//
// What every pass of ours that rewrites the algebra leaves behind it: ops folded, constants uniqued
// at the start of their function, and nothing without a use.

#ifndef FLY_LIB_TRANSFORMS_GREEDYSIMPLIFICATION_H
#define FLY_LIB_TRANSFORMS_GREEDYSIMPLIFICATION_H

#include "fly/Dialect/Fly/IR/Folding.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fly {

/// Folds the ops in the regions of `op` but those of the fly dialect, moves their constants to the
/// start of the function, and erases dead ops. Blocks and regions stay as they are.
inline void simplifyGreedily(mlir::Operation *op) {
  mlir::GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  FoldingPause pause;
  // Not converging leaves folding undone, which is no failure.
  (void)mlir::applyPatternsGreedily(op, mlir::FrozenRewritePatternSet(), config);
}

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_GREEDYSIMPLIFICATION_H

// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_CONVERSION_CONTROLFLOW_H
#define FLY_CONVERSION_CONTROLFLOW_H

#include "mlir/IR/Operation.h"

namespace fly {

/// Lowers the ops of the `scf` dialect inside of `root` that `wanted` takes to blocks and branches,
/// by MLIR's own patterns.
///
/// Time is linear in the length of blocks. Under MLIR's dialect conversion it is not: an op splits
/// its block, which moves, and records the move of, all that follows.
llvm::LogicalResult lowerToControlFlow(
    mlir::Operation *root,
    llvm::function_ref<bool(mlir::Operation *)> wanted = [](mlir::Operation *) { return true; });

} // namespace fly

#endif // FLY_CONVERSION_CONTROLFLOW_H

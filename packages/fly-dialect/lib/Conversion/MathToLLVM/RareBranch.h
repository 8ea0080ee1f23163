// SPDX-License-Identifier: Apache-2.0
//
// Long computations that few arguments need, behind a branch.
#ifndef FLY_CONVERSION_MATHTOLLVM_RAREBRANCH_H
#define FLY_CONVERSION_MATHTOLLVM_RAREBRANCH_H

#include "FloatEmitter.h"

namespace fly {

/// The values that `emit` makes, in the lanes of the mask, and `usual` elsewhere. An `scf.if` skips
/// the computation where the mask has no lane.
llvm::SmallVector<mlir::Value>
replaceWhere(const FloatEmitter &e, mlir::Value mask, llvm::ArrayRef<mlir::Value> usual,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(const FloatEmitter &)> emit);

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_RAREBRANCH_H

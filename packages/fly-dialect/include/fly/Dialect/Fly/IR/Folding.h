// SPDX-License-Identifier: Apache-2.0
//
// What an op is without computing anything: one of the values that exist already, or a constant.

#ifndef FLY_DIALECT_FLY_IR_FOLDING_H
#define FLY_DIALECT_FLY_IR_FOLDING_H

#include "fly/Dialect/Fly/IR/EvaluateOps.h"

namespace fly {

/// What the only result of `op` is: a value that exists, or an integer as an IntegerAttr. Null when
/// it is neither. Static tuples and layouts are no constants of MLIR's: folding would gather them
/// at the start of their function.
mlir::OpFoldResult foldOp(mlir::Operation *op);

/// While one of these lives, ops of the dialect do not fold on its thread: the passes whose output
/// the contract fixes fold everything else.
class FoldingPause {
public:
  FoldingPause();
  ~FoldingPause();
  FoldingPause(const FoldingPause &) = delete;
  FoldingPause &operator=(const FoldingPause &) = delete;
};

/// A value as its type and its constructors say it; dynamic leaves have their SSA values as
/// handles. Nothing when anything else makes it.
std::optional<FlyValue> readConstructed(mlir::Value value);

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_FOLDING_H

// SPDX-License-Identifier: Apache-2.0
//
// The themes of fly-layout-lowering. Each function handles the ops of its theme: it defines their
// results or builds what replaces them, and marks them as replaced. `NotMine` is for ops of other
// themes; `Left` for ops whose operands are not in normal form, which stay; `Failed` after an error
// has been reported.

#ifndef FLY_LIB_TRANSFORMS_LAYOUTLOWERING_H
#define FLY_LIB_TRANSFORMS_LAYOUTLOWERING_H

#include "State.h"

namespace fly {

enum class Lowered { NotMine, Left, Done, Failed };

/// Tuples, layouts and views of tensors: everything that has a value in the algebra.
Lowered lowerAlgebra(LoweringState &state, mlir::Operation *op);
/// Ops whose results are integers: leaves and comparisons.
Lowered lowerScalars(LoweringState &state, mlir::Operation *op);
/// Pointers, allocations, and accesses to single elements.
Lowered lowerMemory(LoweringState &state, mlir::Operation *op);
/// Vector accesses to tensors.
Lowered lowerVectorAccess(LoweringState &state, mlir::Operation *op);
/// fly.copy.
Lowered lowerCopy(LoweringState &state, mlir::Operation *op);
/// fly.gemm.
Lowered lowerGemm(LoweringState &state, mlir::Operation *op);
/// fly.print.
Lowered lowerPrint(LoweringState &state, mlir::Operation *op);

/// Reports the context's error at `op`, if there is one.
inline Lowered doneUnlessFailed(mlir::Operation *op, const AlgebraContext &cx) {
  if (!cx.failed())
    return Lowered::Done;
  op->emitOpError(cx.message());
  return Lowered::Failed;
}

/// The atom to call for an atom or tiled operand.
mlir::Value getAtom(LoweringState &state, mlir::Value atomOrTiled);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_LAYOUTLOWERING_H

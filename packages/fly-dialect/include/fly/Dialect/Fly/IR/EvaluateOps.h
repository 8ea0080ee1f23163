// SPDX-License-Identifier: Apache-2.0
//
// Ops as functions on values. The lowering computes results with it, and canonicalisation those
// that need no computation.

#ifndef FLY_DIALECT_FLY_IR_EVALUATEOPS_H
#define FLY_DIALECT_FLY_IR_EVALUATEOPS_H

#include "fly/Dialect/Fly/IR/Evaluate.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

namespace fly {

/// What is known of an SSA value; nothing where it is not in normal form. Dynamic leaves have SSA
/// values as their run-time handles.
using ValueReader = llvm::function_ref<std::optional<FlyValue>(mlir::Value)>;

enum class Evaluation {
  NotAlgebra, ///< The op is no function of the algebra.
  Unknown,    ///< An operand is not known.
  Done,       ///< There is a result, which is meaningless if the context has failed.
};

/// Evaluates an op of the algebra whose only result is a tuple, a layout or a tensor. A tensor says
/// how far it has moved. get_iter is not among them: pointers are no values of the algebra.
Evaluation evaluateOp(AlgebraContext &cx, mlir::Operation *op, ValueReader read,
                      std::optional<FlyValue> &result);

/// What make_int_tuple and its like, make_layout, make_composed_layout or make_view constructs;
/// nothing for other ops. The pointer of a memref is left to the caller.
std::optional<FlyValue> readConstructor(mlir::Operation *op, ValueReader read);

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_EVALUATEOPS_H

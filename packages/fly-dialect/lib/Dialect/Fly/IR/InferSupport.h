// SPDX-License-Identifier: Apache-2.0
//
// What the inference functions share: evaluation of what types spell, and reports of its errors.

#ifndef FLY_LIB_DIALECT_FLY_IR_INFERSUPPORT_H
#define FLY_LIB_DIALECT_FLY_IR_INFERSUPPORT_H

#include "fly/Dialect/Fly/IR/Evaluate.h"
#include "fly/Dialect/Fly/IR/Infer.h"

namespace fly {

/// What an operand's type spells. Requires a type that getFlyValue knows.
inline FlyValue valueOf(mlir::Type type) { return *getFlyValue(type); }

inline IntTuple tupleOf(mlir::Type type) { return mlir::cast<IntTupleType>(type).getValue(); }

/// The type of `compute(cx)`, or a report of why there is none, as `OpName: reason`.
template <typename Compute>
InferredType inferWith(InferLocation loc, llvm::StringRef opName, mlir::MLIRContext *context,
                       const Compute &compute) {
  AlgebraContext cx;
  FlyValue value = compute(cx);
  if (cx.failed())
    return mlir::emitOptionalError(loc, opName, ": ", cx.message());
  return getTypeOf(context, value);
}

} // namespace fly

#endif // FLY_LIB_DIALECT_FLY_IR_INFERSUPPORT_H

// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_PROGRAM_ELEMENTEFFECTS_H
#define FLY_LIB_PROGRAM_ELEMENTEFFECTS_H

#include "mlir/IR/Operation.h"

namespace fly {

/// Whether `op` reads or writes the elements of tensors or pointers among its operands.
bool accessesElements(mlir::Operation *op);

/// The tensor or pointer among the operands of `op` whose elements it writes, if there is one.
mlir::Value writtenOperand(mlir::Operation *op);

} // namespace fly

#endif // FLY_LIB_PROGRAM_ELEMENTEFFECTS_H

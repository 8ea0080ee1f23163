// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyOps.h"

using namespace mlir;

namespace fly {

// Operand groups are variadic in ODS, which admits empty ones.
template <typename OpTy> static LogicalResult verifyGroups(OpTy op) {
  if (op.getA().empty())
    return op.emitOpError("operand group A must not be empty");
  if (op.getB().empty())
    return op.emitOpError("operand group B must not be empty");
  return success();
}

LogicalResult MmaAtomCallOp::verify() { return verifyGroups(*this); }
LogicalResult MmaAtomCallSSAOp::verify() { return verifyGroups(*this); }
LogicalResult GemmOp::verify() { return verifyGroups(*this); }

} // namespace fly

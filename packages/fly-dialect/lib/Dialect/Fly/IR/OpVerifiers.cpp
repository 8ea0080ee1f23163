// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyOps.h"

using namespace mlir;

namespace fly {

// Operand groups are variadic in ODS, which admits empty ones.
template <typename OpTy> static LogicalResult verifyGroups(OpTy op) {
  if (op.getA().empty() || op.getB().empty())
    return op.emitOpError("A and B operand groups must each contain at least one tensor");
  return success();
}

LogicalResult MmaAtomCallOp::verify() { return verifyGroups(*this); }
LogicalResult MmaAtomCallSSAOp::verify() { return verifyGroups(*this); }
LogicalResult GemmOp::verify() { return verifyGroups(*this); }

} // namespace fly

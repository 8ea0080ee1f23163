// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyOps.h"

using namespace mlir;

namespace fly {

// Registers have no addresses: an element of a fragment is known by its place in a plain layout.
template <typename OpTy>
static LogicalResult verifyFragment(OpTy op, StringRef name, Value operand) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type || !type.isInSpace(AddressSpace::Register) || !type.getLayout().isComposed())
    return success();
  return op.emitOpError("operand ")
         << name << " is a fragment in registers with the composed layout "
         << type.getLayout().str()
         << "; a swizzle is for shared memory: make the fragment of a plain layout, for example by "
            "make_fragment_like of one, and copy to it";
}

template <typename OpTy> static LogicalResult verifyFragments(OpTy op) {
  if (failed(verifyFragment(op, "D", op.getD())) || failed(verifyFragment(op, "C", op.getC())))
    return failure();
  for (Value operand : op.getA())
    if (failed(verifyFragment(op, "A", operand)))
      return failure();
  for (Value operand : op.getB())
    if (failed(verifyFragment(op, "B", operand)))
      return failure();
  return success();
}

// Operand groups are variadic in ODS, which admits empty ones.
template <typename OpTy> static LogicalResult verifyGroups(OpTy op) {
  if (op.getA().empty() || op.getB().empty())
    return op.emitOpError("A and B operand groups must each contain at least one tensor");
  return success();
}

LogicalResult MmaAtomCallOp::verify() {
  return succeeded(verifyGroups(*this)) ? verifyFragments(*this) : failure();
}
LogicalResult MmaAtomCallSSAOp::verify() { return verifyGroups(*this); }
LogicalResult GemmOp::verify() {
  return succeeded(verifyGroups(*this)) ? verifyFragments(*this) : failure();
}

} // namespace fly

// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Modes.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h"

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

static Type matrixOperation(Type atom) {
  if (auto tiled = dyn_cast<TiledMmaType>(atom))
    return tiled.getAtom().getMmaOp();
  return cast<MmaAtomType>(atom).getMmaOp();
}

/// What one call takes of an operand of fly.gemm: mode 0, where there are others.
static MemRefType ofOneCall(MemRefType tensor) {
  const AnyLayout &layout = tensor.getLayout();
  if (layout.isComposed() || layout.plain().rank() == 1)
    return tensor;
  AlgebraContext modes;
  const Layout first = getMode(modes, layout.plain(), {0});
  return modes.failed() ? tensor : MemRefType::get(tensor.getPointerType(), first);
}

// Operands that the operation reads in memory itself must lie there as it reads them.
template <typename OpTy> static LogicalResult verifyMemoryOperands(OpTy op) {
  auto reader = dyn_cast<MemoryOperandTypeInterface>(matrixOperation(op.getAtom().getType()));
  if (!reader)
    return success();
  for (auto [name, operand, group] : {std::tuple("A", MmaOperand::A, ValueRange(op.getA())),
                                      std::tuple("B", MmaOperand::B, ValueRange(op.getB()))}) {
    if (!reader.readsMemory(operand))
      continue;
    auto tensor = dyn_cast<MemRefType>(group.front().getType());
    if (!tensor || !tensor.isInSpace(AddressSpace::Shared))
      return op.emitOpError("operand ")
             << name << " of " << Type(reader)
             << " is read in shared memory by the operation itself, and is the thread's part of a "
                "tensor there (partition_"
             << name << "); got " << group.front().getType();
    if (std::optional<std::string> why =
            reader.whyUnreadable(operand, isa<GemmOp>(op) ? ofOneCall(tensor) : tensor))
      return op.emitOpError("operand ") << name << " of " << Type(reader) << ": " << *why;
  }
  return success();
}

template <typename OpTy> static LogicalResult verifyOperands(OpTy op) {
  return success(succeeded(verifyGroups(op)) && succeeded(verifyFragments(op)) &&
                 succeeded(verifyMemoryOperands(op)));
}

LogicalResult MmaAtomCallOp::verify() { return verifyOperands(*this); }
LogicalResult MmaAtomCallSSAOp::verify() { return verifyGroups(*this); }
LogicalResult GemmOp::verify() { return verifyOperands(*this); }

} // namespace fly

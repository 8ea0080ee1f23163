// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMTypes.cpp.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMOps.cpp.inc"

using namespace mlir;

namespace fly::nvvm {

namespace {
struct FlyNVVMInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void FlyNVVMDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMOps.cpp.inc"
      >();
  addInterfaces<FlyNVVMInlinerInterface>();
}

void FlyNVVMDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMTypes.cpp.inc"
      >();
}

LogicalResult MakeTensorMapOp::verify() {
  const size_t rank = getResult().getType().getBox().size();
  if (getExtents().size() != rank || getStrides().size() != rank - 1)
    return emitOpError("a map of boxes of rank ")
           << rank << " takes " << rank << " extents and " << rank - 1 << " strides, got "
           << getExtents().size() << " and " << getStrides().size();
  if (getFetched() != 64 && getFetched() != 128 && getFetched() != 256)
    return emitOpError("the L2 fetches 64, 128 or 256 bytes together, got ") << getFetched();
  auto pointer = dyn_cast<fly::PointerType>(getBase().getType());
  if (pointer && (!pointer.isInSpace(AddressSpace::Global) ||
                  pointer.getElementType() != getResult().getType().getElem()))
    return emitOpError("the base must be a pointer to ")
           << getResult().getType().getElem() << " in global memory, got " << pointer;
  if ((*this)->getParentOfType<gpu::GPUModuleOp>())
    return emitOpError("a tensor map is made in a host function and passed to the kernel");
  return success();
}

} // namespace fly::nvvm

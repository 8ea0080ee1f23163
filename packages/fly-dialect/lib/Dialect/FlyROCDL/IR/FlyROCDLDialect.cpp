// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "fly/Dialect/Fly/IR/Infer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLTypes.cpp.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLOps.cpp.inc"

using namespace mlir;

namespace fly::rocdl {

namespace {
struct FlyROCDLInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void FlyROCDLDialect::initialize() {
  // Of its types are the states of atoms and the resources of buffers, which inference makes.
  getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLOps.cpp.inc"
      >();
  addInterfaces<FlyROCDLInlinerInterface>();
}

void FlyROCDLDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLAttributes.cpp.inc"
      >();
}

void FlyROCDLDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLTypes.cpp.inc"
      >();
}

LogicalResult GetBufferRsrcOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &inferredReturnTypes) {
  const OperandConstraint pointers = {"a fly.ptr", OperandConstraint::Single,
                                      [](Type type) { return isa<PointerType>(type); }};
  if (failed(checkOperands(location, getOperationName(), pointers, adaptor.getOperands())))
    return failure();
  auto pointer = cast<PointerType>(adaptor.getSource().getType());
  if (!isa<BufferDescAttr>(pointer.getAddressSpace()))
    return emitOptionalError(location,
                             "GetBufferRsrcOp: expected a buffer_desc address space pointer, got ",
                             pointer.getAddressSpace());
  // LLVM's number of the buffer resource address space.
  inferredReturnTypes.push_back(LLVM::LLVMPointerType::get(context, 8));
  return success();
}

} // namespace fly::rocdl

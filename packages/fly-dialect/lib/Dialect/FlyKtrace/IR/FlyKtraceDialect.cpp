// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::ktrace {

/// The pass records names as the keys of a dictionary.
static LogicalResult verifyEventName(EventOpInterface event) {
  if (event.getEventLabel().empty())
    return event.emitOpError("needs a name that is not empty");
  return success();
}

namespace {
struct FlyKtraceInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

} // namespace fly::ktrace

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.cpp.inc"
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceTypes.cpp.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceOps.cpp.inc"

void fly::ktrace::FlyKtraceDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceOps.cpp.inc"
      >();
  addInterfaces<FlyKtraceInlinerInterface>();
}

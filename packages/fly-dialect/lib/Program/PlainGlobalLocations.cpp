// SPDX-License-Identifier: Apache-2.0
#include "fly/Program/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_FLYPLAINGLOBALLOCATIONSPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

struct PlainGlobalLocationsPass
    : fly::impl::FlyPlainGlobalLocationsPassBase<PlainGlobalLocationsPass> {
  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<FunctionOpInterface>(op))
        return WalkResult::skip(); // Functions have no globals inside.
      if (isa<LLVM::GlobalOp>(op)) {
        Location location = op->getLoc();
        while (auto call = dyn_cast<CallSiteLoc>(location))
          location = call.getCallee();
        op->setLoc(location);
      }
      return WalkResult::advance();
    });
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "ElementEffects.h"

#include "fly/Program/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fly {
#define GEN_PASS_DEF_FLYCHECKHOSTFUNCTIONSPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

bool isOfThread(Operation *op) {
  return isa<gpu::BarrierOp, gpu::BlockDimOp, gpu::BlockIdOp, gpu::GridDimOp, gpu::LaneIdOp,
             gpu::ShuffleOp, gpu::ThreadIdOp>(op);
}

struct CheckHostFunctionsPass : fly::impl::FlyCheckHostFunctionsPassBase<CheckHostFunctionsPass> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (fly::accessesElements(op))
        op->emitError(
            "a host function cannot read or write the elements of a tensor or pointer: they are in "
            "device memory. Do it in a @flyc.kernel that this function launches");
      else if (isOfThread(op))
        op->emitError("this is of a thread or workgroup, and a host function is neither; use it in "
                      "a @flyc.kernel");
      else
        return WalkResult::advance();
      signalPassFailure();
      return WalkResult::interrupt();
    });
    markAllAnalysesPreserved();
  }
};

} // namespace

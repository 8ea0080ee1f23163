// SPDX-License-Identifier: Apache-2.0
//
// Constant folding of the dialect: a value that its type describes completely is constructed from
// that type, whatever computed it.

#include "GreedySimplification.h"

#include "fly/Dialect/Fly/IR/Constructors.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_FLYCANONICALIZEPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

namespace {

/// Reads of coordinates have no effect, although reads of memory through the same ops do.
bool isErasable(Operation *op) {
  return isMemoryEffectFree(op) || isa<PtrLoadOp, MemRefLoadOp>(op);
}

struct FlyCanonicalizePass : public fly::impl::FlyCanonicalizePassBase<FlyCanonicalizePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isFoldable(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Value constructed = constructFolded(builder, op);
      op->getResult(0).replaceAllUsesWith(constructed);
      if (isErasable(op))
        op->erase();
    }
    simplifyGreedily(getOperation());
  }
};

} // namespace

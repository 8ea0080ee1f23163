// SPDX-License-Identifier: Apache-2.0
#include "fly/Conversion/ControlFlow.h"
#include "fly/Conversion/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace fly {
#define GEN_PASS_DEF_FLYSCFTOCONTROLFLOWPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

bool hasLowering(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::ExecuteRegionOp,
             scf::ParallelOp, scf::ForallOp>(op);
}

struct FlySCFToControlFlowPass : fly::impl::FlySCFToControlFlowPassBase<FlySCFToControlFlowPass> {
  void runOnOperation() override {
    if (failed(fly::lowerToControlFlow(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult fly::lowerToControlFlow(Operation *root, function_ref<bool(Operation *)> wanted) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  // Without a listener, which would have to hear of each op that a split moves.
  PatternRewriter rewriter(context);

  SmallVector<Operation *> found;
  do {
    // From the back, so that a split moves what lies before the next op that is lowered, and no
    // more. Outer ops first: the patterns of loops take a body that is one block. What patterns
    // make of an op, a loop of an scf.parallel, is found in the next round.
    found.clear();
    root->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
      if (op != root && hasLowering(op) && wanted(op))
        found.push_back(op);
    });
    for (Operation *op : found) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter)))
        return op->emitOpError("cannot be lowered to branches");
    }
  } while (!found.empty());
  return success();
}

// SPDX-License-Identifier: Apache-2.0
#include "Patterns.h"
#include "fly/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fly {
#define GEN_PASS_DEF_FLYEXPANDARITHPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

/// gfx94x converts the FNUZ encodings, gfx95x and gfx12 those of the Open Compute Project.
static Float8Instructions instructionsOf(StringRef chip) {
  if (chip.starts_with("gfx94"))
    return Float8Instructions::FNUZ;
  if (chip.starts_with("gfx95") || chip.starts_with("gfx12"))
    return Float8Instructions::OCP;
  return Float8Instructions::None;
}

static bool isSmallFloat(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() <= 8;
}

namespace {
struct FlyExpandArithPass : fly::impl::FlyExpandArithPassBase<FlyExpandArithPass> {
  using FlyExpandArithPassBase::FlyExpandArithPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSmallFloatPatterns(instructionsOf(chip), patterns);
    populateRemainderPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    const WalkResult left = getOperation()->walk([](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
          (!isSmallFloat(op->getOperand(0).getType()) && !isSmallFloat(op->getResult(0).getType())))
        return WalkResult::advance();
      op->emitOpError("has no lowering from ")
          << op->getOperand(0).getType() << " to " << op->getResult(0).getType()
          << "; convert by way of f32, rounding to nearest even";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

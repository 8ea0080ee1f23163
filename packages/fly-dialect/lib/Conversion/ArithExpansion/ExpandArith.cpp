// SPDX-License-Identifier: Apache-2.0
#include "Patterns.h"
#include "fly/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

/// What moves small floats, converts them or pairs them with a scale: it means what it says.
static bool takesSmallFloats(Operation *op) {
  return isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::ScalingExtFOp,
             arith::ScalingTruncFOp, arith::SelectOp, arith::TruncFOp>(op);
}

static bool isSmallFloatArithmetic(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !takesSmallFloats(op) &&
         (llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
          llvm::any_of(op->getResultTypes(), isSmallFloat));
}

/// No chip computes with small floats: their arithmetic is that of f32, and every result is
/// rounded. (MLIR's arith-emulate-unsupported-floats leaves the rounding of intermediate results to
/// chance.)
static void computeInF32(Operation *op) {
  OpBuilder builder(op);
  auto widened = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(builder.getF32Type())) : builder.getF32Type();
  };
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = operand.get().getType(); isSmallFloat(type))
      operand.set(arith::ExtFOp::create(builder, op->getLoc(), widened(type), operand.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    const Type type = result.getType();
    if (!isSmallFloat(type))
      continue;
    result.setType(widened(type));
    auto rounded = arith::TruncFOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

namespace {
struct FlyExpandArithPass : fly::impl::FlyExpandArithPassBase<FlyExpandArithPass> {
  using FlyExpandArithPassBase::FlyExpandArithPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> arithmetic;
    getOperation()->walk([&](Operation *op) {
      if (isSmallFloatArithmetic(op))
        arithmetic.push_back(op);
    });
    for (Operation *op : arithmetic)
      computeInF32(op);
    RewritePatternSet patterns(&getContext());
    populateSmallFloatPatterns(instructionsOf(chip), patterns);
    populateNarrowIntegerPatterns(patterns);
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
          << " with this rounding; round to nearest even";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

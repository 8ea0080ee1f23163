// SPDX-License-Identifier: Apache-2.0
#include "fly/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace fly {
#define GEN_PASS_DEF_CONVERTROCDLFASTMATHOPSPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

/// v_exp_f32 flushes denormal results, which `afn` permits and math.exp2 alone does not.
struct Exp2ToROCDL : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() ||
        !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    Location loc = op.getLoc();
    if (type.isF32()) {
      rewriter.replaceOpWithNewOp<ROCDL::ROCDLExp2>(op, type, op.getOperand());
      return success();
    }
    auto vectorType = dyn_cast<VectorType>(type);
    if (!vectorType || vectorType.isScalable())
      return failure();
    Value result = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(vectorType));
    SmallVector<int64_t> strides = computeStrides(vectorType.getShape());
    for (int64_t index = 0, end = vectorType.getNumElements(); index < end; ++index) {
      SmallVector<int64_t> position = delinearize(index, strides);
      Value lane = vector::ExtractOp::create(rewriter, loc, op.getOperand(), position);
      Value power = ROCDL::ROCDLExp2::create(rewriter, loc, lane.getType(), lane);
      result = vector::InsertOp::create(rewriter, loc, power, result, position);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertROCDLFastmathOpsPass
    : fly::impl::ConvertROCDLFastmathOpsPassBase<ConvertROCDLFastmathOpsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Exp2ToROCDL>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

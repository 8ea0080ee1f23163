// SPDX-License-Identifier: Apache-2.0
//
// Floats to integers of less than 32 bits. What does not fit is poison, and the AMDGPU backend lets
// that of one lane of a vector reach the others: it takes the upper bits of each lane for zero and
// packs the lanes with `or`. By way of i32, whose conversion saturates, and of a truncation each
// lane has its own value.
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace fly {
namespace {

template <typename Op> struct ConvertByWayOfI32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    const Type target = op.getType();
    if (getElementTypeOrSelf(target).getIntOrFloatBitWidth() >= 32)
      return failure();
    Type wide = rewriter.getI32Type();
    if (auto vector = dyn_cast<VectorType>(target))
      wide = vector.clone(wide);
    // Each number of a narrow unsigned type is one of i32 too.
    Value whole = arith::FPToSIOp::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, target, whole);
    return success();
  }
};

} // namespace

void populateNarrowIntegerPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertByWayOfI32<arith::FPToSIOp>, ConvertByWayOfI32<arith::FPToUIOp>>(
      patterns.getContext());
}

} // namespace fly

// SPDX-License-Identifier: Apache-2.0
//
// What `canonicalize` does to the algebra beyond folding: results that need constructors of their
// own.

#include "fly/Dialect/Fly/IR/Constructors.h"
#include "fly/Dialect/Fly/IR/Folding.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fly;

namespace {

bool hasHandles(const IntTuple &tuple) {
  bool all = true;
  forEachLeaf(tuple, [&](const IntTuple &leaf) { all &= !leaf.isDynamicLeaf() || leaf.handle(); });
  return all;
}

bool hasHandles(const AnyLayout &layout);

bool hasHandles(const InnerMap &inner) {
  if (const Layout *plain = inner.layout())
    return hasHandles(AnyLayout(*plain));
  if (const ComposedLayout *composed = inner.composed())
    return hasHandles(AnyLayout(*composed));
  return true;
}

bool hasHandles(const AnyLayout &layout) {
  if (!layout.isComposed())
    return hasHandles(layout.plain().shape()) && hasHandles(layout.plain().stride());
  const ComposedLayout &composed = layout.composed();
  return hasHandles(composed.inner()) && hasHandles(composed.offset()) &&
         hasHandles(composed.outer());
}

/// Whether constructors can make the value: every dynamic leaf is an SSA value that exists.
bool hasHandles(const FlyValue &value) {
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    return hasHandles(*tuple);
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return hasHandles(*layout);
  if (const auto *inner = std::get_if<InnerMap>(&value))
    return hasHandles(*inner);
  // The pointer of a memref would have to be advanced.
  if (const auto *tensor = std::get_if<TensorValue>(&value))
    return !tensor->isMemRef() && hasHandles(tensor->offset) && hasHandles(tensor->layout);
  return true;
}

/// A static value as its constructors, which fly-canonicalize makes as well.
struct FoldStatic : RewritePattern {
  explicit FoldStatic(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/3, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isFoldable(op) || op->use_empty())
      return failure();
    rewriter.replaceAllUsesWith(op->getResult(0), constructFolded(rewriter, op));
    return success();
  }
};

/// A result that takes only picking and ordering of what its operands are constructed from.
struct FoldPicking : RewritePattern {
  explicit FoldPicking(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<FlyDialect>(op->getDialect()) || op->getNumResults() != 1)
      return failure();
    // Without run-time arithmetic, leaves that take any have no handle.
    AlgebraContext cx;
    std::optional<FlyValue> result;
    if (evaluateOp(cx, op, readConstructed, result) != Evaluation::Done || cx.failed() ||
        !hasHandles(*result) || getTypeOf(getContext(), *result) != op->getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, Constructors(rewriter, op->getLoc()).value(*result));
    return success();
  }
};

} // namespace

void FlyDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<FoldStatic, FoldPicking>(getContext());
}

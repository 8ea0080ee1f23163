// SPDX-License-Identifier: Apache-2.0
//
// What `canonicalize` does to the algebra. None of these is a folder: those would also run inside
// the passes of the default pipeline, which say exactly what they leave.

#include "fly/Dialect/Fly/IR/Constructors.h"
#include "fly/Dialect/Fly/IR/EvaluateOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fly;

namespace {

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// A value as its type and its constructors say it.
std::optional<FlyValue> readConstructed(Value value) {
  if (isStaticType(value.getType()))
    return getFlyValue(value.getType());
  Operation *op = value.getDefiningOp();
  return op ? readConstructor(op, readConstructed) : std::nullopt;
}

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

/// A static result, whatever computes it.
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

//===----------------------------------------------------------------------===//
// Construction and extraction
//===----------------------------------------------------------------------===//

/// The operand of the constructor of `source` that the extractor `op` asks for; null if there is
/// none.
Value extracted(Operation *op, Value source) {
  Operation *maker = source.getDefiningOp();
  if (!maker)
    return {};
  return llvm::TypeSwitch<Operation *, Value>(maker)
      .Case<MakeLayoutOp>([&](MakeLayoutOp make) -> Value {
        if (isa<GetShapeOp>(op))
          return make.getShape();
        return isa<GetStrideOp>(op) ? make.getStride() : Value();
      })
      .Case<MakeComposedLayoutOp>([&](MakeComposedLayoutOp make) -> Value {
        if (isa<ComposedGetInnerOp>(op))
          return make.getInner();
        if (isa<ComposedGetOffsetOp>(op))
          return make.getOffset();
        if (isa<ComposedGetOuterOp>(op))
          return make.getOuter();
        return isa<GetShapeOp>(op) ? extracted(op, make.getOuter()) : Value();
      })
      .Case<MakeViewOp>([&](MakeViewOp make) -> Value {
        if (isa<GetIterOp>(op))
          return make.getIter();
        if (isa<GetLayoutOp>(op))
          return make.getLayout();
        return extracted(op, make.getLayout());
      })
      .Case<MakeTiledCopyOp>([&](MakeTiledCopyOp make) -> Value {
        return isa<GetCopyAtomOp>(op) ? make.getAtom() : Value();
      })
      .Case<MakeTiledMmaOp>([&](MakeTiledMmaOp make) -> Value {
        return isa<GetMmaAtomOp>(op) ? make.getAtom() : Value();
      })
      .Default(Value());
}

/// extract(make(a, b)) is one of a and b.
template <typename Extractor> struct ExtractFromConstructor : OpRewritePattern<Extractor> {
  explicit ExtractFromConstructor(MLIRContext *context)
      : OpRewritePattern<Extractor>(context, /*benefit=*/4) {}

  LogicalResult matchAndRewrite(Extractor op, PatternRewriter &rewriter) const override {
    Value value = extracted(op, op->getOperand(0));
    if (!value || value.getType() != op->getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// What all operands have been extracted from, in this order; null otherwise.
template <typename... Extractors> Value sourceOf(ValueRange operands) {
  Value source;
  unsigned index = 0;
  auto matches = [&](auto extractor) {
    if (!extractor)
      return false;
    Value from = extractor->getOperand(0);
    bool same = !source || source == from;
    source = from;
    return same;
  };
  return (matches(operands[index++].getDefiningOp<Extractors>()) && ...) ? source : Value();
}

/// make(extract a(x), extract b(x)) is x.
template <typename Constructor, typename... Extractors>
struct ConstructFromExtracted : OpRewritePattern<Constructor> {
  explicit ConstructFromExtracted(MLIRContext *context)
      : OpRewritePattern<Constructor>(context, /*benefit=*/4) {}

  LogicalResult matchAndRewrite(Constructor op, PatternRewriter &rewriter) const override {
    Value source = sourceOf<Extractors...>(op->getOperands());
    if (!source || source.getType() != op.getResult().getType())
      return failure();
    rewriter.replaceOp(op, source);
    return success();
  }
};

/// An op may have lost the attribute.
bool takesOnlyDynamic(GetLeavesOp op) {
  BoolAttr attribute = op.getDynamicOnlyAttr();
  return attribute && attribute.getValue();
}

/// A tuple of all leaves of a tuple is that tuple.
struct TupleOfLeaves : OpRewritePattern<MakeIntTupleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MakeIntTupleOp op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() == 0)
      return failure();
    auto leaves = op->getOperand(0).getDefiningOp<GetLeavesOp>();
    if (!leaves || !takesOnlyDynamic(leaves) || leaves.getSource().getType() != op.getType() ||
        leaves.getResults() != op->getOperands())
      return failure();
    rewriter.replaceOp(op, leaves.getSource());
    return success();
  }
};

/// `leaf` as an integer of `type`; null if it is not known. None is 0.
Value toInteger(OpBuilder &builder, Location loc, const IntTuple &leaf, Type type) {
  if (leaf.isDynamicLeaf())
    return toValue(leaf.handle());
  const int64_t value = leaf.isNone() ? 0 : leaf.withPath({}).staticValue();
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

/// The leaves of a tuple that is known.
struct LeavesOfTuple : OpRewritePattern<GetLeavesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GetLeavesOp op, PatternRewriter &rewriter) const override {
    std::optional<FlyValue> tuple = readConstructed(op.getSource());
    if (!tuple)
      return failure();
    SmallVector<IntTuple> wanted;
    forEachLeaf(std::get<IntTuple>(*tuple), [&](const IntTuple &leaf) {
      if (leaf.isDynamicLeaf() || !takesOnlyDynamic(op))
        wanted.push_back(leaf);
    });
    SmallVector<Value> values;
    for (auto [leaf, type] : llvm::zip_equal(wanted, op->getResultTypes()))
      values.push_back(toInteger(rewriter, op.getLoc(), leaf, type));
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// The integer of a tuple that is known.
struct ScalarOfTuple : OpRewritePattern<GetScalarOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GetScalarOp op, PatternRewriter &rewriter) const override {
    std::optional<FlyValue> tuple = readConstructed(op.getSource());
    if (!tuple)
      return failure();
    const IntTuple *leaf = &std::get<IntTuple>(*tuple);
    while (leaf->isTuple())
      leaf = &leaf->mode(0);
    rewriter.replaceOp(op, toInteger(rewriter, op.getLoc(), *leaf, op.getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

bool isAll(Value value, int32_t wanted) {
  auto type = cast<IntTupleType>(value.getType());
  bool all = true;
  forEachLeaf(type.getValue(), [&](const IntTuple &leaf) { all &= leaf.isStaticInt(wanted); });
  return all;
}

/// x op neutral is x.
template <typename Op, int32_t neutral> struct NeutralOperand : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isAll(op.getRhs(), neutral) || op.getLhs().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

} // namespace

void FlyDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns
      .add<FoldStatic, FoldPicking, TupleOfLeaves, LeavesOfTuple, ScalarOfTuple,
           ExtractFromConstructor<GetShapeOp>, ExtractFromConstructor<GetStrideOp>,
           ExtractFromConstructor<GetLayoutOp>, ExtractFromConstructor<GetIterOp>,
           ExtractFromConstructor<ComposedGetInnerOp>, ExtractFromConstructor<ComposedGetOffsetOp>,
           ExtractFromConstructor<ComposedGetOuterOp>, ExtractFromConstructor<GetCopyAtomOp>,
           ExtractFromConstructor<GetMmaAtomOp>,
           ConstructFromExtracted<MakeLayoutOp, GetShapeOp, GetStrideOp>,
           ConstructFromExtracted<MakeViewOp, GetIterOp, GetLayoutOp>,
           ConstructFromExtracted<MakeComposedLayoutOp, ComposedGetInnerOp, ComposedGetOffsetOp,
                                  ComposedGetOuterOp>,
           NeutralOperand<IntTupleAddOp, 0>, NeutralOperand<IntTupleSubOp, 0>,
           NeutralOperand<IntTupleMulOp, 1>, NeutralOperand<IntTupleDivOp, 1>,
           NeutralOperand<ShapeDivOp, 1>, NeutralOperand<CeilDivOp, 1>>(getContext());
}

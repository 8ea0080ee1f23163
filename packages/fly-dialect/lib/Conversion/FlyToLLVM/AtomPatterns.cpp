// SPDX-License-Identifier: Apache-2.0
#include "AtomState.h"
#include "DeviceConversion.h"
#include "Patterns.h"
#include "TypeConverter.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

using namespace mlir;

namespace fly::lowering {
namespace {

struct MakeCopyAtomLowering : OpConversionPattern<MakeCopyAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeCopyAtomOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getArgs().empty())
      return op.emitError("stateless copy atom takes no construction arguments");
    Type operation = op.getResult().getType().getCopyOp();
    rewriter.replaceOp(op, deviceOf(*this).defaultState(rewriter, op.getLoc(), operation));
    return success();
  }
};

struct MakeMmaAtomLowering : OpConversionPattern<MakeMmaAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeMmaAtomOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = op.getResult().getType().getMmaOp();
    rewriter.replaceOp(op, deviceOf(*this).defaultState(rewriter, op.getLoc(), operation));
    return success();
  }
};

/// fly.static of an atom; of other values it is legal, and dead.
struct StaticAtomLowering : OpConversionPattern<StaticOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StaticOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = getAtomOperation(op.getResult().getType());
    if (!operation)
      return failure();
    rewriter.replaceOp(op, deviceOf(*this).defaultState(rewriter, op.getLoc(), operation));
    return success();
  }
};

/// Tilings and their atoms are represented by the atom's state.
template <typename Op> struct AtomOfLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperands().front());
    return success();
  }
};

struct AtomSetValueLowering : OpConversionPattern<AtomSetValueOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AtomSetValueOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type operation = getAtomOperation(op.getAtom().getType());
    std::optional<int64_t> position = stateField(operation, op.getField());
    if (!position)
      return rewriter.notifyMatchFailure(op, "the atom has no such field");
    Type fieldType = getAtomStateType(operation).getBody()[*position];
    Value value = toFieldType(rewriter, loc, adaptor.getValue(), fieldType,
                              deviceOf(*this).keepsStateBits(operation));
    if (!value)
      return rewriter.notifyMatchFailure(op, "the value does not fit the field");
    rewriter.replaceOp(op, writeField(rewriter, loc, adaptor.getAtom(), *position, value));
    return success();
  }
};

} // namespace

void populateAtomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MakeCopyAtomLowering, MakeMmaAtomLowering, StaticAtomLowering,
               AtomOfLowering<MakeTiledCopyOp>, AtomOfLowering<MakeTiledMmaOp>,
               AtomOfLowering<GetCopyAtomOp>, AtomOfLowering<GetMmaAtomOp>, AtomSetValueLowering>(
      converter, patterns.getContext());
}

} // namespace fly::lowering

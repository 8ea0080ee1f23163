// SPDX-License-Identifier: Apache-2.0
#include "AtomState.h"
#include "Patterns.h"
#include "TensorAtoms.h"
#include "TypeConverter.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

struct MakeCopyAtomLowering : OpConversionPattern<MakeCopyAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeCopyAtomOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type operation = op.getResult().getType().getCopyOp();
    if (isa<CDNA5TensorLoadType, CDNA5TensorStoreType>(operation)) {
      FailureOr<Value> state = buildTensorState(rewriter, op, operation, adaptor.getArgs());
      if (failed(state))
        return failure();
      rewriter.replaceOp(op, *state);
      return success();
    }
    if (!op.getArgs().empty())
      return op.emitError("stateless copy atom takes no construction arguments");
    rewriter.replaceOp(op, defaultState(rewriter, op.getLoc(), operation));
    return success();
  }
};

struct MakeMmaAtomLowering : OpConversionPattern<MakeMmaAtomOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeMmaAtomOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       defaultState(rewriter, op.getLoc(), op.getResult().getType().getMmaOp()));
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
    rewriter.replaceOp(op, defaultState(rewriter, op.getLoc(), operation));
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
    if (isTensorAxesField(operation, op.getField())) {
      FailureOr<Value> state = setBoundaryAxes(rewriter, op, operation, adaptor.getAtom());
      if (failed(state))
        return failure();
      rewriter.replaceOp(op, *state);
      return success();
    }
    std::optional<int64_t> position = stateField(operation, op.getField());
    if (!position)
      return rewriter.notifyMatchFailure(op, "the atom has no such field");
    Type fieldType = getAtomStateType(operation).getBody()[*position];
    Value value = toFieldType(rewriter, loc, operation, adaptor.getValue(), fieldType);
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

} // namespace fly::rocdl

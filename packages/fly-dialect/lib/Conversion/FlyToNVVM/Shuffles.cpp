// SPDX-License-Identifier: Apache-2.0
#include "../FlyToLLVM/Addressing.h"
#include "NVVMDevice.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {
namespace {

constexpr int32_t warp = 32;

NVVM::ShflKind kindOf(gpu::ShuffleMode mode) {
  switch (mode) {
  case gpu::ShuffleMode::XOR:
    return NVVM::ShflKind::bfly;
  case gpu::ShuffleMode::UP:
    return NVVM::ShflKind::up;
  case gpu::ShuffleMode::DOWN:
    return NVVM::ShflKind::down;
  case gpu::ShuffleMode::IDX:
    return NVVM::ShflKind::idx;
  }
  llvm_unreachable("unknown shuffle mode");
}

/// The lanes of the group of `width` that this lane is one of, as a mask.
Value groupMask(OpBuilder &builder, Location loc, Value width) {
  APInt known;
  Value all = constantI32(builder, loc, -1);
  if (matchPattern(width, m_ConstantInt(&known)) && known == warp)
    return all;
  Value lane =
      NVVM::LaneIdOp::create(builder, loc, builder.getI32Type(), LLVM::ConstantRangeAttr());
  Value others = arith::SubIOp::create(builder, loc, constantI32(builder, loc, warp), width);
  Value lanes = arith::ShRUIOp::create(builder, loc, all, others);
  Value below = arith::SubIOp::create(builder, loc, width, constantI32(builder, loc, 1));
  Value first =
      arith::AndIOp::create(builder, loc, lane, arith::XOrIOp::create(builder, loc, below, all));
  return arith::ShLIOp::create(builder, loc, lanes, first);
}

/// The operand of `shfl.sync` that keeps lanes in their group: the bits of the lane's number that
/// stay, and the last lane that is one (for `up`, the first).
Value segment(OpBuilder &builder, Location loc, Value width, gpu::ShuffleMode mode) {
  constexpr int32_t maskShift = 8;
  Value kept = arith::SubIOp::create(builder, loc, constantI32(builder, loc, warp), width);
  Value shifted = arith::ShLIOp::create(builder, loc, kept, constantI32(builder, loc, maskShift));
  const int32_t limit = mode == gpu::ShuffleMode::UP ? 0 : warp - 1;
  return arith::OrIOp::create(builder, loc, shifted, constantI32(builder, loc, limit));
}

struct ShuffleLowering : OpConversionPattern<gpu::ShuffleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value value = adaptor.getValue();
    if (bitWidthOf(value.getType()) == 0)
      return rewriter.notifyMatchFailure(op, "no value of a known number of bits");
    Value mask = groupMask(rewriter, loc, adaptor.getWidth());
    Value limits = segment(rewriter, loc, adaptor.getWidth(), op.getMode());
    Type i32 = rewriter.getI32Type();
    auto both =
        LLVM::LLVMStructType::getLiteral(rewriter.getContext(), {i32, rewriter.getI1Type()});
    SmallVector<Value> words;
    Value valid;
    for (Value word : LLVM::decomposeValue(rewriter, loc, value, i32)) {
      Value moved = NVVM::ShflOp::create(rewriter, loc, both, mask, word, adaptor.getOffset(),
                                         limits, kindOf(op.getMode()), rewriter.getUnitAttr());
      words.push_back(LLVM::ExtractValueOp::create(rewriter, loc, moved, ArrayRef<int64_t>{0}));
      if (!valid)
        valid = LLVM::ExtractValueOp::create(rewriter, loc, moved, ArrayRef<int64_t>{1});
    }
    rewriter.replaceOp(op, {LLVM::composeValue(rewriter, loc, words, value.getType()), valid});
    return success();
  }
};

} // namespace

void populateShufflePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ShuffleLowering>(converter, patterns.getContext());
}

} // namespace fly::nvvm

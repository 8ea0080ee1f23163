// SPDX-License-Identifier: Apache-2.0
#include "fly/Program/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fly {
#define GEN_PASS_DEF_FLYMARKUNINITIALISEDPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

/// A register of the trap handler that holds nothing for a kernel, and so is in nobody's code. All
/// generations have it.
constexpr StringLiteral source = "v_mov_b32 $0, ttmp14";
constexpr int64_t wordBits = 32;

/// The width of a type that words are made of without a rest, 0 for others (as index).
int64_t bitsOf(Type element) {
  const int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return bits <= 64 && llvm::isPowerOf2_64(bits) ? bits : 0;
}

void mark(ub::PoisonOp op, VectorType type) {
  const int64_t bits = bitsOf(type.getElementType());
  if (type.getRank() != 1 || type.isScalable() || bits == 0)
    return; // Nothing that registers hold as it is.
  const int64_t words = llvm::divideCeil(type.getNumElements() * bits, wordBits);
  OpBuilder builder(op);
  const Location location = op.getLoc();
  const Type word = builder.getI32Type();
  Value value = LLVM::InlineAsmOp::create(
                    builder, location, TypeRange(word), ValueRange(), source, "=v",
                    /*has_side_effects=*/false, /*is_align_stack=*/false,
                    LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                    .getResult(0);
  value = vector::BroadcastOp::create(builder, location, VectorType::get(words, word), value);
  const auto whole = VectorType::get(words * wordBits / bits, type.getElementType());
  if (whole != value.getType())
    value = vector::BitCastOp::create(builder, location, whole, value);
  if (whole != type)
    value = vector::ExtractStridedSliceOp::create(builder, location, value, /*offsets=*/{0},
                                                  /*sizes=*/{type.getNumElements()},
                                                  /*strides=*/{1});
  op.getResult().replaceAllUsesWith(value);
  op.erase();
}

struct MarkUninitialisedPass : fly::impl::FlyMarkUninitialisedPassBase<MarkUninitialisedPass> {
  void runOnOperation() override {
    getOperation()->walk([](ub::PoisonOp op) {
      if (auto type = dyn_cast<VectorType>(op.getType()))
        mark(op, type);
    });
  }
};

} // namespace

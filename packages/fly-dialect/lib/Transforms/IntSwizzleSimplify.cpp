// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace fly {
#define GEN_PASS_DEF_FLYINTSWIZZLESIMPLIFYPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

/// `value xor ((value and mask) lshr shift)`, as the operations that compute it.
struct IntSwizzle {
  arith::XOrIOp xorOp;
  Value value;
  Value mask;
  Value shift;
  uint64_t period; ///< it depends on value modulo this power of two only
};

std::optional<uint64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getZExtValue();
}

/// Matches the swizzle that `xorOp` ends, with `value` as its plain operand.
std::optional<IntSwizzle> matchSwizzle(arith::XOrIOp xorOp, Value value, Value shifted) {
  auto shift = shifted.getDefiningOp<arith::ShRUIOp>();
  auto mask = shift ? shift.getLhs().getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  if (!mask || !value.getType().isInteger())
    return std::nullopt;
  Value maskValue = mask.getLhs() == value   ? mask.getRhs()
                    : mask.getRhs() == value ? mask.getLhs()
                                             : Value();
  if (!maskValue)
    return std::nullopt;
  std::optional<uint64_t> maskBits = constantOf(maskValue);
  std::optional<uint64_t> amount = constantOf(shift.getRhs());
  unsigned firstBit = 0;
  unsigned numBits = 0;
  if (!maskBits || !amount || !llvm::isShiftedMask_64(*maskBits, firstBit, numBits) ||
      *amount > firstBit)
    return std::nullopt;
  // From the highest bit that is read on, nothing is read or written.
  unsigned end = firstBit + numBits;
  if (end >= std::min(63U, value.getType().getIntOrFloatBitWidth()))
    return std::nullopt;
  return IntSwizzle{xorOp, value, maskValue, shift.getRhs(), uint64_t(1) << end};
}

std::optional<IntSwizzle> matchSwizzle(arith::XOrIOp xorOp) {
  if (auto swizzle = matchSwizzle(xorOp, xorOp.getLhs(), xorOp.getRhs()))
    return swizzle;
  return matchSwizzle(xorOp, xorOp.getRhs(), xorOp.getLhs());
}

/// What the type of an integer tuple that `value` is a leaf of says about it.
uint64_t divisibilityFromUses(Value value) {
  uint64_t result = 1;
  for (OpOperand &use : value.getUses()) {
    if (!isa<fly::MakeIntTupleOp, fly::MakeShapeOp, fly::MakeStrideOp, fly::MakeCoordOp>(
            use.getOwner()))
      continue;
    auto type = dyn_cast<fly::IntTupleType>(use.getOwner()->getResult(0).getType());
    if (!type)
      continue;
    unsigned position = 0;
    fly::forEachLeaf(type.getValue(), [&](const fly::IntTuple &leaf) {
      if (leaf.isDynamicLeaf() && position++ == use.getOperandNumber() && leaf.divisibility() > 0)
        result = std::lcm(result, uint64_t(leaf.divisibility()));
    });
  }
  return result;
}

/// A number that `value` is known to be a multiple of; 0 when it is zero. `depth` bounds the
/// search.
uint64_t divisibility(Value value, unsigned depth = 0) {
  if (std::optional<uint64_t> constant = constantOf(value)) {
    // Of a negative number too, the power of two that divides it is what counts.
    APInt bits(64, *constant);
    return bits.isZero() ? 0 : uint64_t(1) << bits.countr_zero();
  }
  uint64_t known = divisibilityFromUses(value);
  Operation *op = value.getDefiningOp();
  constexpr unsigned maxDepth = 8; // Each level may double the work.
  if (!op || depth == maxDepth)
    return known;
  auto operand = [&](unsigned index) { return divisibility(op->getOperand(index), depth + 1); };
  uint64_t derived = 1;
  if (isa<arith::AddIOp>(op)) {
    derived = std::gcd(operand(0), operand(1));
  } else if (isa<arith::MulIOp>(op)) {
    bool overflow = false;
    uint64_t product = llvm::SaturatingMultiply(operand(0), operand(1), &overflow);
    // Arithmetic is modulo a power of two: of a product that large only the power of two holds.
    derived = overflow ? uint64_t(1) << 63 : product;
  } else if (isa<arith::ShLIOp>(op)) {
    if (std::optional<uint64_t> amount = constantOf(op->getOperand(1)); amount && *amount < 63) {
      bool overflow = false;
      uint64_t product = llvm::SaturatingMultiply(operand(0), uint64_t(1) << *amount, &overflow);
      derived = overflow ? uint64_t(1) << 63 : product;
    }
  } else if (isa<arith::SelectOp>(op)) {
    derived = std::gcd(operand(1), operand(2));
  }
  if (derived == 0)
    return 0;
  // Both hold, so their powers of two do; the period asks for no more.
  return std::max(derived & -derived, known & -known);
}

void collectAddends(Value value, SmallVectorImpl<Value> &addends) {
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    collectAddends(add.getLhs(), addends);
    collectAddends(add.getRhs(), addends);
  } else {
    addends.push_back(value);
  }
}

Value sumOf(OpBuilder &builder, Location loc, ArrayRef<Value> addends) {
  Value sum = addends.front();
  for (Value addend : addends.drop_front())
    sum = arith::AddIOp::create(builder, loc, sum, addend);
  return sum;
}

/// Moves the addends that are multiples of the period behind the swizzle.
void peel(RewriterBase &rewriter, IntSwizzle swizzle) {
  SmallVector<Value> addends;
  collectAddends(swizzle.value, addends);
  SmallVector<Value> inside;
  SmallVector<Value> outside;
  for (Value addend : addends)
    (divisibility(addend) % swizzle.period == 0 ? outside : inside).push_back(addend);
  if (outside.empty())
    return;

  Location loc = swizzle.xorOp.getLoc();
  rewriter.setInsertionPoint(swizzle.xorOp);
  Value swizzled;
  if (inside.empty()) {
    swizzled = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getIntegerAttr(swizzle.value.getType(), 0));
  } else {
    Value base = sumOf(rewriter, loc, inside);
    Value masked = arith::AndIOp::create(rewriter, loc, base, swizzle.mask);
    Value shifted = arith::ShRUIOp::create(rewriter, loc, masked, swizzle.shift);
    swizzled = arith::XOrIOp::create(rewriter, loc, base, shifted);
  }
  Value sum = sumOf(rewriter, loc, outside);
  rewriter.replaceOpWithNewOp<arith::AddIOp>(swizzle.xorOp, swizzled, sum);
}

/// Erases `roots` when nothing uses them, then what only they used.
void eraseDead(RewriterBase &rewriter, ArrayRef<Operation *> roots) {
  // An op is in the list at most once, and is put there again only by erasing another of its users,
  // so none is visited after it was erased.
  llvm::SetVector<Operation *> worklist(roots.begin(), roots.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *defining = operand.getDefiningOp())
        worklist.insert(defining);
    rewriter.eraseOp(op);
  }
}

struct FlyIntSwizzleSimplifyPass
    : fly::impl::FlyIntSwizzleSimplifyPassBase<FlyIntSwizzleSimplifyPass> {
  void runOnOperation() override {
    SmallVector<arith::XOrIOp> candidates;
    // Elsewhere a swizzle is not an address.
    getOperation()->walk([&](gpu::GPUFuncOp function) {
      function.walk([&](arith::XOrIOp op) { candidates.push_back(op); });
    });
    IRRewriter rewriter(&getContext());
    for (arith::XOrIOp op : candidates) {
      std::optional<IntSwizzle> swizzle = matchSwizzle(op);
      if (!swizzle)
        continue;
      Value shifted = op.getLhs() == swizzle->value ? op.getRhs() : op.getLhs();
      Operation *shiftOp = shifted.getDefiningOp();
      peel(rewriter, *swizzle);
      eraseDead(rewriter, shiftOp);
    }
  }
};

} // namespace

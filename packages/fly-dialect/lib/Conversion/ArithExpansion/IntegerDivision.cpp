// SPDX-License-Identifier: Apache-2.0
//
// Integer division whose divisor may be zero.
#include "fly/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace fly {
#define GEN_PASS_DEF_FLYDEFINEINTEGERDIVISIONPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using arith::CmpIPredicate;

namespace {

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}

bool isDivision(Operation *op) {
  return isSignedDivision(op) || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// Whether a divisor is a constant, or a vector of constants, of which none is `value`.
bool isNever(Value divisor, const APInt &value) {
  DenseIntElementsAttr elements;
  APInt known;
  if (matchPattern(divisor, m_ConstantInt(&known)))
    return known != value;
  return matchPattern(divisor, m_Constant(&elements)) &&
         llvm::none_of(elements.getValues<APInt>(), [&](const APInt &one) { return one == value; });
}

class Guard {
public:
  explicit Guard(Operation *op)
      : builder(op->getLoc(), op), op(op), type(op->getOperand(1).getType()),
        width(isa<IndexType>(getElementTypeOrSelf(type))
                  ? IndexType::kInternalStorageBitWidth
                  : getElementTypeOrSelf(type).getIntOrFloatBitWidth()) {}

  /// Makes a divisor of 0 one of 1, and one of -1 where the quotient does not fit.
  void run(bool mayOverflow) {
    Value divisor = op->getOperand(1), isBad;
    if (const APInt zero(width, 0); !isNever(divisor, zero))
      isBad = is(divisor, zero);
    const APInt minusOne = APInt::getAllOnes(width);
    if (mayOverflow && width > 1 && !isNever(divisor, minusOne)) {
      Value overflows = arith::AndIOp::create(
          builder, is(divisor, minusOne), is(op->getOperand(0), APInt::getSignedMinValue(width)));
      isBad = isBad ? Value(arith::OrIOp::create(builder, isBad, overflows)) : overflows;
    }
    if (isBad)
      op->setOperand(1,
                     arith::SelectOp::create(builder, isBad, constant(APInt(width, 1)), divisor));
  }

private:
  Value constant(const APInt &value) {
    TypedAttr attribute = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(builder, attribute);
  }
  Value is(Value value, const APInt &other) {
    return arith::CmpIOp::create(builder, CmpIPredicate::eq, value, constant(other));
  }

  ImplicitLocOpBuilder builder;
  Operation *op;
  Type type;
  unsigned width;
};

struct DefineIntegerDivisionPass
    : fly::impl::FlyDefineIntegerDivisionPassBase<DefineIntegerDivisionPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isDivision(op))
        return;
      const bool onHost = !op->getParentOfType<gpu::GPUModuleOp>();
      Guard(op).run(onHost && isSignedDivision(op));
    });
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// arith.remf as C's fmod, which is exact: with x = mx 2^ex and y = my 2^ey, both integers times the
// weight of their last place, the remainder is (mx 2^(ex-ey) mod my) 2^ey. A loop takes as many of
// the ex - ey doublings at a time as fit the integer.
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace fly {
namespace {

class Remainder {
public:
  Remainder(OpBuilder &builder, Location loc, FloatType type)
      : builder(builder), loc(loc), type(type), integer(builder.getIntegerType(type.getWidth())),
        mantissaBits(static_cast<int>(type.getFPMantissaWidth()) - 1),
        bias(type.isF64() ? 1023 : 127) {}

  Value emit(Value x, Value y) {
    using arith::CmpIPredicate;
    Value xBits = make<arith::BitcastOp>(integer, x);
    Value sign = make<arith::AndIOp>(xBits, bits(signBit()));
    Value ax = make<arith::AndIOp>(xBits, bits(signBit() - 1));
    Value ay = make<arith::AndIOp>(make<arith::BitcastOp>(integer, y), bits(signBit() - 1));
    // 0 for y, infinity or NaN for x, NaN for y: NaN.
    Value invalid = make<arith::CmpIOp>(CmpIPredicate::eq, ay, bits(0));
    invalid =
        make<arith::OrIOp>(invalid, make<arith::CmpIOp>(CmpIPredicate::uge, ax, bits(infinity())));
    invalid =
        make<arith::OrIOp>(invalid, make<arith::CmpIOp>(CmpIPredicate::ugt, ay, bits(infinity())));
    Value isRemainder = make<arith::CmpIOp>(CmpIPredicate::ult, ax, ay);
    Value done = make<arith::OrIOp>(invalid, isRemainder);
    auto branch = scf::IfOp::create(
        builder, loc, done,
        [&](OpBuilder &nested, Location) {
          // A NaN operand gives that NaN.
          Value nan = arith::MulFOp::create(nested, loc, x, y);
          nan = arith::DivFOp::create(nested, loc, nan, nan);
          Value result = arith::SelectOp::create(nested, loc, invalid, nan, x);
          scf::YieldOp::create(nested, loc, result);
        },
        [&](OpBuilder &nested, Location) {
          Remainder inner(nested, loc, type);
          scf::YieldOp::create(nested, loc, inner.reduce(ax, ay, sign));
        });
    return branch.getResult(0);
  }

private:
  /// The remainder of finite numbers with ax >= ay > 0, given by their bits.
  Value reduce(Value ax, Value ay, Value sign) {
    Value exponent = exponentOf(ay);
    Value divisor = significand(ay);
    Value rest = make<arith::RemUIOp>(significand(ax), divisor);
    Value doublings = make<arith::SubIOp>(exponentOf(ax), exponent);
    const Type types[] = {integer, integer};
    auto loop = scf::WhileOp::create(
        builder, loc, TypeRange(types), ValueRange{rest, doublings},
        [&](OpBuilder &nested, Location, ValueRange values) {
          Value zero = bitsIn(nested, 0);
          Value more =
              arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::sgt, values[1], zero);
          scf::ConditionOp::create(nested, loc, more, values);
        },
        [&](OpBuilder &nested, Location, ValueRange values) {
          Value most = bitsIn(nested, integer.getWidth() - mantissaBits - 1);
          Value count = arith::MinSIOp::create(nested, loc, values[1], most);
          Value shifted = arith::ShLIOp::create(nested, loc, values[0], count);
          Value next = arith::RemUIOp::create(nested, loc, shifted, divisor);
          Value left = arith::SubIOp::create(nested, loc, values[1], count);
          scf::YieldOp::create(nested, loc, ValueRange{next, left});
        });
    Value result = make<arith::UIToFPOp>(type, loop.getResult(0));
    // Scaled in two steps, so that neither factor leaves the normal range. Both are exact.
    Value half = make<arith::ShRSIOp>(exponent, bits(1));
    result = make<arith::MulFOp>(result, powerOfTwo(half));
    result = make<arith::MulFOp>(result, powerOfTwo(make<arith::SubIOp>(exponent, half)));
    return make<arith::BitcastOp>(
        type, make<arith::OrIOp>(make<arith::BitcastOp>(integer, result), sign));
  }

  /// The exponent field of a magnitude, that of subnormal numbers as 1.
  Value field(Value magnitude) {
    Value value = make<arith::ShRUIOp>(magnitude, bits(mantissaBits));
    return make<arith::MaxUIOp>(value, bits(1));
  }
  /// The power of two that the last place of a magnitude weighs.
  Value exponentOf(Value magnitude) {
    return make<arith::SubIOp>(field(magnitude), bits(bias + mantissaBits));
  }
  /// A magnitude in units of its last place.
  Value significand(Value magnitude) {
    const uint64_t implicit = uint64_t(1) << mantissaBits;
    Value fraction = make<arith::AndIOp>(magnitude, bits(implicit - 1));
    Value normal = make<arith::OrIOp>(fraction, bits(implicit));
    Value isNormal = make<arith::CmpIOp>(arith::CmpIPredicate::uge, magnitude, bits(implicit));
    return make<arith::SelectOp>(isNormal, normal, fraction);
  }
  Value powerOfTwo(Value exponent) {
    Value biased = make<arith::AddIOp>(exponent, bits(bias));
    return make<arith::BitcastOp>(type, make<arith::ShLIOp>(biased, bits(mantissaBits)));
  }

  uint64_t signBit() { return uint64_t(1) << (type.getWidth() - 1); }
  uint64_t infinity() { return uint64_t(2 * bias + 1) << mantissaBits; }

  Value bits(uint64_t value) { return bitsIn(builder, value); }
  Value bitsIn(OpBuilder &nested, uint64_t value) {
    return arith::ConstantOp::create(
        nested, loc, nested.getIntegerAttr(integer, APInt(integer.getWidth(), value)));
  }
  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }

  OpBuilder &builder;
  Location loc;
  FloatType type;
  IntegerType integer;
  int mantissaBits;
  int bias;
};

struct ExpandRemF : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!element || element.getWidth() > 64 || (vector && vector.isScalable()))
      return failure();
    const Location loc = op.getLoc();
    if (!vector) {
      rewriter.replaceOp(op, scalar(rewriter, loc, op.getLhs(), op.getRhs(), element));
      return success();
    }
    // Each lane has a loop of its own length.
    auto flat = VectorType::get(vector.getNumElements(), element);
    auto reshape = [&](Value value, VectorType type) -> Value {
      return value.getType() == type ? value
                                     : vector::ShapeCastOp::create(rewriter, loc, type, value);
    };
    Value lhs = reshape(op.getLhs(), flat), rhs = reshape(op.getRhs(), flat);
    SmallVector<Value> results;
    for (int64_t i = 0; i != flat.getNumElements(); ++i)
      results.push_back(scalar(rewriter, loc, vector::ExtractOp::create(rewriter, loc, lhs, i),
                               vector::ExtractOp::create(rewriter, loc, rhs, i), element));
    Value result = vector::FromElementsOp::create(rewriter, loc, flat, results);
    rewriter.replaceOp(op, reshape(result, vector));
    return success();
  }

private:
  /// Narrow floats are computed in f32, where their remainder is exact too.
  static Value scalar(OpBuilder &builder, Location loc, Value x, Value y, FloatType type) {
    if (type.getWidth() >= 32)
      return Remainder(builder, loc, type).emit(x, y);
    const Type wide = builder.getF32Type();
    x = arith::ExtFOp::create(builder, loc, wide, x);
    y = arith::ExtFOp::create(builder, loc, wide, y);
    Value result = Remainder(builder, loc, builder.getF32Type()).emit(x, y);
    return arith::TruncFOp::create(builder, loc, type, result);
  }
};

} // namespace

void populateRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandRemF>(patterns.getContext());
}

} // namespace fly

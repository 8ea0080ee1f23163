// SPDX-License-Identifier: Apache-2.0
//
// Short names for the arithmetic that math functions are made of, on scalars and vectors alike.
#ifndef FLY_CONVERSION_MATHTOLLVM_FLOATEMITTER_H
#define FLY_CONVERSION_MATHTOLLVM_FLOATEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace fly {

/// Builds ops at one place for values of one shape. No op carries fast-math flags: the algorithms
/// depend on the order of their operations.
class FloatEmitter {
public:
  FloatEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type shape)
      : builder(builder), loc(loc), shape(shape) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// The type of the emitter's shape with other elements.
  mlir::Type like(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  mlir::Type f32() const { return like(builder.getF32Type()); }
  mlir::Type f64() const { return like(builder.getF64Type()); }
  mlir::Type i32() const { return like(builder.getI32Type()); }
  mlir::Type i64() const { return like(builder.getI64Type()); }

  /// A constant of the emitter's own type.
  mlir::Value number(double value) const { return number(shape, value); }
  mlir::Value single(double value) const { return number(f32(), value); }
  mlir::Value wide(double value) const { return number(f64(), value); }
  mlir::Value word(int64_t value) const { return integer(i32(), value); }
  mlir::Value longWord(int64_t value) const { return integer(i64(), value); }
  /// A constant of the type of another integer.
  mlir::Value integerLike(mlir::Value other, int64_t value) const {
    return integer(other.getType(), value);
  }

  mlir::Value add(mlir::Value a, mlir::Value b) const { return make<mlir::arith::AddFOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) const { return make<mlir::arith::SubFOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) const { return make<mlir::arith::MulFOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) const { return make<mlir::arith::DivFOp>(a, b); }
  mlir::Value neg(mlir::Value a) const { return make<mlir::arith::NegFOp>(a); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const {
    return make<mlir::math::FmaOp>(a, b, c);
  }
  mlir::Value abs(mlir::Value a) const { return make<mlir::math::AbsFOp>(a); }
  mlir::Value sqrt(mlir::Value a) const { return make<mlir::math::SqrtOp>(a); }
  mlir::Value exp(mlir::Value a) const { return make<mlir::math::ExpOp>(a); }
  mlir::Value log1p(mlir::Value a) const { return make<mlir::math::Log1pOp>(a); }
  mlir::Value trunc(mlir::Value a) const { return make<mlir::math::TruncOp>(a); }
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) const {
    return make<mlir::math::CopySignOp>(magnitude, sign);
  }

  mlir::Value iadd(mlir::Value a, mlir::Value b) const { return make<mlir::arith::AddIOp>(a, b); }
  mlir::Value isub(mlir::Value a, mlir::Value b) const { return make<mlir::arith::SubIOp>(a, b); }
  mlir::Value imul(mlir::Value a, mlir::Value b) const { return make<mlir::arith::MulIOp>(a, b); }
  mlir::Value bitAnd(mlir::Value a, mlir::Value b) const { return make<mlir::arith::AndIOp>(a, b); }
  mlir::Value bitOr(mlir::Value a, mlir::Value b) const { return make<mlir::arith::OrIOp>(a, b); }
  mlir::Value bitXor(mlir::Value a, mlir::Value b) const { return make<mlir::arith::XOrIOp>(a, b); }
  mlir::Value shiftLeft(mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::ShLIOp>(a, b);
  }
  mlir::Value shiftRight(mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::ShRUIOp>(a, b);
  }
  mlir::Value extend(mlir::Value a) const {
    return mlir::arith::ExtUIOp::create(builder, loc, i64(), a);
  }
  mlir::Value truncate(mlir::Value a) const {
    return mlir::arith::TruncIOp::create(builder, loc, i32(), a);
  }
  mlir::Value bitcast(mlir::Type type, mlir::Value a) const {
    return mlir::arith::BitcastOp::create(builder, loc, type, a);
  }

  mlir::Value is(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) const {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value is(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) const {
    return mlir::arith::SelectOp::create(builder, loc, condition, yes, no);
  }

  /// c[0] + x (c[1] + x (c[2] + ...)) by Horner's rule, in the type of x.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) const {
    mlir::Value sum = number(x.getType(), coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(x.getType(), coefficient));
    return sum;
  }

  /// x + x^3 p(x^2), which keeps the relative accuracy of odd functions near zero.
  mlir::Value oddPolynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) const {
    mlir::Value square = mul(x, x);
    return fma(mul(x, square), polynomial(square, coefficients), x);
  }

private:
  template <typename Op, typename... Operands> mlir::Value make(Operands... operands) const {
    return Op::create(builder, loc, operands...);
  }
  mlir::Value splat(mlir::Type type, mlir::TypedAttr attribute) const {
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      attribute = mlir::DenseElementsAttr::get(shaped, mlir::Attribute(attribute));
    return mlir::arith::ConstantOp::create(builder, loc, attribute);
  }
  mlir::Value number(mlir::Type type, double value) const {
    return splat(type, builder.getFloatAttr(mlir::getElementTypeOrSelf(type), value));
  }
  mlir::Value integer(mlir::Type type, int64_t value) const {
    return splat(type, builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), value));
  }

  mlir::Type shape;
};

/// A pattern that replaces an op on one type of floats by what a function emits for its operands.
template <typename Float, typename Op, auto emit> struct Emit : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    if (!mlir::isa<Float>(mlir::getElementTypeOrSelf(op.getType())))
      return mlir::failure();
    FloatEmitter emitter(rewriter, op.getLoc(), op.getType());
    if constexpr (Op::template hasTrait<mlir::OpTrait::OneOperand>())
      rewriter.replaceOp(op, emit(emitter, op->getOperand(0)));
    else
      rewriter.replaceOp(op, emit(emitter, op->getOperand(0), op->getOperand(1)));
    return mlir::success();
  }
};
template <typename Op, auto emit> using EmitSingle = Emit<mlir::Float32Type, Op, emit>;
template <typename Op, auto emit> using EmitDouble = Emit<mlir::Float64Type, Op, emit>;

} // namespace fly

#endif // FLY_CONVERSION_MATHTOLLVM_FLOATEMITTER_H

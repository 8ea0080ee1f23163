// SPDX-License-Identifier: Apache-2.0
//
// 16-bit floats in host functions: the conversions that a compiler's runtime library would bring.
//
// A host without instructions for them computes in f32, and its code generator calls conversions by
// these names. An artifact links no such library, so a module with 16-bit floats in its host
// functions defines them itself, by integer operations. They round to nearest, ties to even.
//
// IEEE 754: f16 has 10 bits of fraction and bias 15, bf16 7 and 127, f32 23 and 127. Adding half of
// the last kept place, less one unit unless that place is odd, and cutting is rounding to nearest
// even; the carry runs into the exponent.

#include "fly/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fly {
#define GEN_PASS_DEF_FLYDEFINEHOSTFLOATCONVERSIONSPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;
using arith::CmpIPredicate;

namespace {

constexpr StringLiteral extendHalf = "__extendhfsf2";
constexpr StringLiteral truncateToHalf = "__truncsfhf2";
constexpr StringLiteral truncateToBrain = "__truncsfbf2";
constexpr StringLiteral truncateToOdd = "__fly_truncate_to_odd";
constexpr StringLiteral truncateDoubleToHalf = "__truncdfhf2";
constexpr StringLiteral truncateDoubleToBrain = "__truncdfbf2";

/// Bits of an f32.
constexpr int32_t magnitude32 = 0x7fffffff, infinity32 = 0x7f800000;
/// Bits of an f16, and the least f32 that rounds to its infinity.
constexpr int32_t magnitude16 = 0x7fff, sign16 = 0x8000, fraction16 = 0x3ff, quiet16 = 0x7e00,
                  infinity16 = 0x7c00, leastNormal16 = 0x400, overflow16 = 0x477ff000;
/// The difference of the biases in the exponent of an f32, and the least normal f16 as an f32.
constexpr int32_t rebias = 0x38000000, leastNormalHalf32 = 0x38800000;
/// Bits of fraction that f32 has more than f16, and bits that it has more than bf16.
constexpr int32_t cutForHalf = 13, cutForBrain = 16;

/// The body of a function of one argument, on i32 unless a name says otherwise.
class Body {
public:
  Body(ModuleOp module, StringRef name, Type from, Type to)
      // Line tables want a place for each call.
      : builder(FileLineColLoc::get(module.getContext(), "fly-define-host-float-conversions", 1, 1),
                module.getContext()),
        to(to) {
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(builder, name, builder.getFunctionType(from, to));
    builder.setInsertionPointToStart(function.addEntryBlock());
    argument = function.getArgument(0);
  }

  Value c(int32_t value) {
    return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
  }
  Value c64(int64_t value) {
    return arith::ConstantOp::create(builder, builder.getI64IntegerAttr(value));
  }
  Value cf(float value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }
  template <typename Op> Value make(Value left, Value right) {
    return Op::create(builder, left, right);
  }
  template <typename Op> Value convert(Type type, Value value) {
    return Op::create(builder, type, value);
  }
  Value bitcast(Type type, Value value) { return convert<arith::BitcastOp>(type, value); }
  Value is(CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(builder, predicate, left, right);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, condition, yes, no);
  }
  Value call(StringRef function, Type type, Value value) {
    return func::CallOp::create(builder, function, type, value).getResult(0);
  }
  void finish(Value result) { func::ReturnOp::create(builder, result); }

  /// Drops the lowest `cut` bits of an f32's magnitude, rounded to nearest even.
  Value rounded(Value magnitude, int32_t cut) {
    Value odd = make<arith::AndIOp>(make<arith::ShRUIOp>(magnitude, c(cut)), c(1));
    Value up = make<arith::AddIOp>(magnitude, c((1 << (cut - 1)) - 1));
    return make<arith::ShRUIOp>(make<arith::AddIOp>(up, odd), c(cut));
  }
  /// The 16 bits of the result.
  void finish16(Value bits) {
    finish(bitcast(to, convert<arith::TruncIOp>(builder.getI16Type(), bits)));
  }

  ImplicitLocOpBuilder builder;
  Value argument;

private:
  Type to;
};

/// A subnormal f16 is a multiple of 2^-24: its magnitude as an integer times that.
void defineExtendHalf(ModuleOp module) {
  Builder types(module.getContext());
  Body body(module, extendHalf, types.getF16Type(), types.getF32Type());
  const Type i32 = types.getI32Type(), f32 = types.getF32Type();
  Value bits = body.convert<arith::ExtUIOp>(i32, body.bitcast(types.getI16Type(), body.argument));
  Value magnitude = body.make<arith::AndIOp>(bits, body.c(magnitude16));
  Value sign = body.make<arith::ShLIOp>(body.make<arith::AndIOp>(bits, body.c(sign16)), body.c(16));
  Value shifted = body.make<arith::ShLIOp>(magnitude, body.c(cutForHalf));
  Value normal = body.make<arith::AddIOp>(shifted, body.c(rebias));
  Value special = body.make<arith::OrIOp>(shifted, body.c(infinity32));
  Value count = body.convert<arith::UIToFPOp>(f32, magnitude);
  Value subnormal = body.bitcast(i32, body.make<arith::MulFOp>(count, body.cf(0x1p-24f)));
  Value isSubnormal = body.is(CmpIPredicate::ult, magnitude, body.c(leastNormal16));
  Value isSpecial = body.is(CmpIPredicate::uge, magnitude, body.c(infinity16));
  Value finite = body.select(isSubnormal, subnormal, normal);
  Value absolute = body.select(isSpecial, special, finite);
  body.finish(body.bitcast(f32, body.make<arith::OrIOp>(absolute, sign)));
}

/// The last place of 0.5 in f32 is 2^-24, so adding 0.5 rounds what becomes a subnormal f16.
void defineTruncateToHalf(ModuleOp module) {
  Builder types(module.getContext());
  Body body(module, truncateToHalf, types.getF32Type(), types.getF16Type());
  const Type i32 = types.getI32Type(), f32 = types.getF32Type();
  Value bits = body.bitcast(i32, body.argument);
  Value magnitude = body.make<arith::AndIOp>(bits, body.c(magnitude32));
  Value sign =
      body.make<arith::AndIOp>(body.make<arith::ShRUIOp>(bits, body.c(16)), body.c(sign16));
  Value cut = body.make<arith::ShRUIOp>(magnitude, body.c(cutForHalf));
  Value payload = body.make<arith::AndIOp>(cut, body.c(fraction16));
  Value nan = body.make<arith::OrIOp>(payload, body.c(quiet16));
  Value normal = body.rounded(body.make<arith::SubIOp>(magnitude, body.c(rebias)), cutForHalf);
  Value half = body.cf(0.5f);
  Value sum = body.make<arith::AddFOp>(body.bitcast(f32, magnitude), half);
  Value subnormal = body.make<arith::SubIOp>(body.bitcast(i32, sum), body.bitcast(i32, half));
  Value isSubnormal = body.is(CmpIPredicate::ult, magnitude, body.c(leastNormalHalf32));
  Value isInfinite = body.is(CmpIPredicate::uge, magnitude, body.c(overflow16));
  Value isNan = body.is(CmpIPredicate::ugt, magnitude, body.c(infinity32));
  Value finite = body.select(isSubnormal, subnormal, normal);
  Value number = body.select(isInfinite, body.c(infinity16), finite);
  body.finish16(body.make<arith::OrIOp>(body.select(isNan, nan, number), sign));
}

void defineTruncateToBrain(ModuleOp module) {
  Builder types(module.getContext());
  Body body(module, truncateToBrain, types.getF32Type(), types.getBF16Type());
  Value bits = body.bitcast(types.getI32Type(), body.argument);
  Value magnitude = body.make<arith::AndIOp>(bits, body.c(magnitude32));
  Value cut = body.make<arith::ShRUIOp>(bits, body.c(cutForBrain));
  Value nan = body.make<arith::OrIOp>(cut, body.c(0x40)); // quiet
  Value isNan = body.is(CmpIPredicate::ugt, magnitude, body.c(infinity32));
  body.finish16(body.select(isNan, nan, body.rounded(bits, cutForBrain)));
}

/// f64 goes by way of f32 rounded to odd: its last bit says whether something was cut, so that the
/// second rounding is right.
void defineTruncateToOdd(ModuleOp module) {
  Builder types(module.getContext());
  Body body(module, truncateToOdd, types.getF64Type(), types.getF32Type());
  const Type i32 = types.getI32Type(), i64 = types.getI64Type();
  auto magnitude = [&](Value value) {
    return body.make<arith::AndIOp>(body.bitcast(i64, value), body.c64(0x7fffffffffffffff));
  };
  Value nearest = body.convert<arith::TruncFOp>(types.getF32Type(), body.argument);
  Value back = body.convert<arith::ExtFOp>(types.getF64Type(), nearest);
  Value inexact =
      arith::CmpFOp::create(body.builder, arith::CmpFPredicate::ONE, back, body.argument);
  Value larger = body.is(CmpIPredicate::ugt, magnitude(back), magnitude(body.argument));
  Value away = body.make<arith::AndIOp>(larger, inexact);
  Value towardZero =
      body.make<arith::SubIOp>(body.bitcast(i32, nearest), body.convert<arith::ExtUIOp>(i32, away));
  Value sticky = body.convert<arith::ExtUIOp>(i32, inexact);
  body.finish(body.bitcast(types.getF32Type(), body.make<arith::OrIOp>(towardZero, sticky)));
}

void defineByWayOfFloat(ModuleOp module, StringRef name, StringRef truncate, Type to) {
  Builder types(module.getContext());
  Body body(module, name, types.getF64Type(), to);
  Value odd = body.call(truncateToOdd, types.getF32Type(), body.argument);
  body.finish(body.call(truncate, to, odd));
}

bool isShortFloat(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

bool hasShortFloats(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return llvm::any_of(op->getOperandTypes(), isShortFloat) ||
                       llvm::any_of(op->getResultTypes(), isShortFloat)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

struct DefineHostFloatConversionsPass
    : fly::impl::FlyDefineHostFloatConversionsPassBase<DefineHostFloatConversionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // An artifact's module has all of them or none.
    if (module.lookupSymbol(truncateToOdd) ||
        llvm::none_of(module.getOps<func::FuncOp>(), hasShortFloats))
      return;
    Builder types(&getContext());
    defineExtendHalf(module);
    defineTruncateToHalf(module);
    defineTruncateToBrain(module);
    defineTruncateToOdd(module);
    defineByWayOfFloat(module, truncateDoubleToHalf, truncateToHalf, types.getF16Type());
    defineByWayOfFloat(module, truncateDoubleToBrain, truncateToBrain, types.getBF16Type());
  }
};

} // namespace

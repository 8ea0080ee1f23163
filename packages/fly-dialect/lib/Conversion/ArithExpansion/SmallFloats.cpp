// SPDX-License-Identifier: Apache-2.0
//
// Conversions between f32 and floats of 8 bits and less: instructions where the chip speaks the
// encoding, integer arithmetic elsewhere. 16-bit floats go by way of f32, which holds both exactly,
// f64 by way of f32 rounded to odd.
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace fly {
namespace {

/// How a small float is encoded: a sign bit, `exponentBits`, `mantissaBits`, from high to low.
struct Encoding {
  unsigned exponentBits = 0;
  unsigned mantissaBits = 0;
  int bias = 0;
  bool isSigned = true;
  /// Magnitudes above this one stand for something else than numbers, or do not exist.
  uint32_t largest = 0;
  /// What overflow gives, and what NaN is, as bits without the sign. Encodings without NaN have the
  /// largest magnitude for it.
  uint32_t overflow = 0;
  uint32_t nan = 0;
  bool hasInfinity = false;
  /// The sign bit alone is the only NaN, and there is no negative zero.
  bool isFNUZ = false;

  unsigned width() const { return isSigned + exponentBits + mantissaBits; }
};

std::optional<Encoding> encodingOf(Type type) {
  using Result = std::optional<Encoding>;
  return llvm::TypeSwitch<Type, Result>(type)
      .Case([](Float8E4M3FNType) { return Encoding{4, 3, 7, true, 0x7e, 0x7f, 0x7f}; })
      .Case([](Float8E5M2Type) { return Encoding{5, 2, 15, true, 0x7b, 0x7c, 0x7e, true}; })
      .Case(
          [](Float8E4M3FNUZType) { return Encoding{4, 3, 8, true, 0x7f, 0x80, 0x80, false, true}; })
      .Case([](Float8E5M2FNUZType) {
        return Encoding{5, 2, 16, true, 0x7f, 0x80, 0x80, false, true};
      })
      .Case([](Float6E2M3FNType) { return Encoding{2, 3, 1, true, 0x1f, 0x1f, 0x1f}; })
      .Case([](Float6E3M2FNType) { return Encoding{3, 2, 3, true, 0x1f, 0x1f, 0x1f}; })
      .Case([](Float4E2M1FNType) { return Encoding{2, 1, 1, true, 0x7, 0x7, 0x7}; })
      .Case([](Float8E8M0FNUType) { return Encoding{8, 0, 127, false, 0xfe, 0xfe, 0xff}; })
      .Default(Result());
}

/// Builds i32 and f32 arithmetic on scalars, or on vectors of one shape.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), i32(with(shape, builder.getI32Type())),
        f32(with(shape, builder.getF32Type())) {}

  /// `type`, or a vector of it where `shape` is one.
  static Type with(Type shape, Type type) {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(type)) : type;
  }

  Value bits(uint32_t value) {
    return constant(i32, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value number(double value) { return constant(f32, builder.getF32FloatAttr(float(value))); }

  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return make<arith::CmpIOp>(predicate, a, b);
  }
  Value asFloat(Value value) { return make<arith::BitcastOp>(f32, value); }
  Value asBits(Value value) { return make<arith::BitcastOp>(i32, value); }

  OpBuilder &builder;
  Location loc;
  Type i32, f32;

private:
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
};

constexpr unsigned kMantissaBits = 23;
constexpr int kBias = 127;
constexpr uint32_t kExponentMask = 0x7f800000;

/// The f32 with the value of `source`, i32 bits of an encoding.
Value decode(Emitter &emit, const Encoding &encoding, Value source) {
  using arith::CmpIPredicate;
  const unsigned shift = kMantissaBits - encoding.mantissaBits;
  const uint32_t magnitudeMask = (1u << (encoding.exponentBits + encoding.mantissaBits)) - 1;
  Value magnitude = emit.make<arith::AndIOp>(source, emit.bits(magnitudeMask));
  Value shifted = emit.make<arith::ShLIOp>(magnitude, emit.bits(shift));
  Value normal = emit.make<arith::AddIOp>(
      shifted, emit.bits(uint32_t(kBias - encoding.bias) << kMantissaBits));
  Value subnormal;
  if (encoding.mantissaBits == 0) {
    // 2^-127, which is subnormal in f32.
    subnormal = emit.bits(1u << (kMantissaBits - 1));
  } else {
    Value count = emit.make<arith::UIToFPOp>(emit.f32, magnitude);
    const double unit = std::ldexp(1.0, 1 - encoding.bias - int(encoding.mantissaBits));
    subnormal = emit.asBits(emit.make<arith::MulFOp>(count, emit.number(unit)));
  }
  Value isSubnormal =
      emit.compare(CmpIPredicate::ult, magnitude, emit.bits(1u << encoding.mantissaBits));
  Value result = emit.make<arith::SelectOp>(isSubnormal, subnormal, normal);
  if (encoding.hasInfinity) {
    Value special = emit.make<arith::OrIOp>(shifted, emit.bits(kExponentMask));
    Value isSpecial = emit.compare(CmpIPredicate::ugt, magnitude, emit.bits(encoding.largest));
    result = emit.make<arith::SelectOp>(isSpecial, special, result);
  } else if (!encoding.isFNUZ && encoding.nan > encoding.largest) {
    Value isNaN = emit.compare(CmpIPredicate::eq, magnitude, emit.bits(encoding.nan));
    result = emit.make<arith::SelectOp>(isNaN, emit.bits(0x7fc00000), result);
  }
  if (encoding.isSigned) {
    Value sign = emit.make<arith::AndIOp>(source, emit.bits(magnitudeMask + 1));
    sign = emit.make<arith::ShLIOp>(sign, emit.bits(32 - encoding.width()));
    result = emit.make<arith::OrIOp>(result, sign);
  }
  if (encoding.isFNUZ) {
    Value isNaN = emit.compare(CmpIPredicate::eq, source, emit.bits(encoding.nan));
    result = emit.make<arith::SelectOp>(isNaN, emit.bits(0x7fc00000), result);
  }
  return emit.asFloat(result);
}

/// The exponent of an f32: E8M0 has nothing else.
Value encodeExponent(Emitter &emit, const Encoding &encoding, Value bits) {
  Value magnitude = emit.make<arith::AndIOp>(bits, emit.bits(0x7fffffff));
  Value exponent = emit.make<arith::ShRUIOp>(magnitude, emit.bits(kMantissaBits));
  Value isNaN = emit.compare(arith::CmpIPredicate::ugt, magnitude, emit.bits(kExponentMask));
  exponent = emit.make<arith::MinUIOp>(exponent, emit.bits(encoding.largest));
  return emit.make<arith::SelectOp>(isNaN, emit.bits(encoding.nan), exponent);
}

/// The i32 bits of `value`, an f32, rounded to nearest, ties to even.
Value encode(Emitter &emit, const Encoding &encoding, Value value) {
  using arith::CmpIPredicate;
  Value bits = emit.asBits(value);
  if (!encoding.isSigned)
    return encodeExponent(emit, encoding, bits);
  const unsigned shift = kMantissaBits - encoding.mantissaBits;
  Value magnitude = emit.make<arith::AndIOp>(bits, emit.bits(0x7fffffff));
  // Normal numbers: half of the last place less one, and one more where the last place is odd,
  // carry into it.
  Value last = emit.make<arith::ShRUIOp>(magnitude, emit.bits(shift));
  Value odd = emit.make<arith::AndIOp>(last, emit.bits(1));
  const uint32_t rebias = uint32_t(kBias - encoding.bias) << kMantissaBits;
  Value rounded = emit.make<arith::AddIOp>(magnitude, odd);
  rounded = emit.make<arith::AddIOp>(rounded, emit.bits((1u << (shift - 1)) - 1 - rebias));
  Value normal = emit.make<arith::ShRUIOp>(rounded, emit.bits(shift));
  // Subnormal numbers: adding a number whose last place is theirs rounds in hardware.
  const double unit = std::ldexp(1.0, 1 - encoding.bias - int(encoding.mantissaBits));
  Value magic = emit.number(std::ldexp(unit, kMantissaBits));
  Value sum = emit.make<arith::AddFOp>(emit.asFloat(magnitude), magic);
  Value subnormal = emit.make<arith::SubIOp>(emit.asBits(sum), emit.asBits(magic));
  Value isSubnormal = emit.compare(CmpIPredicate::ult, magnitude,
                                   emit.bits(uint32_t(kBias + 1 - encoding.bias) << kMantissaBits));
  Value result = emit.make<arith::SelectOp>(isSubnormal, subnormal, normal);
  // What rounds to more than the largest number overflows: the carry has been taken into account.
  // Compared before the rebias can wrap around: large magnitudes on their own.
  const uint32_t largestExponent = encoding.largest >> encoding.mantissaBits;
  const uint32_t tooLarge = (largestExponent + kBias - encoding.bias + 1) << kMantissaBits;
  Value overflows = emit.make<arith::OrIOp>(
      emit.compare(CmpIPredicate::uge, magnitude, emit.bits(tooLarge)),
      emit.compare(CmpIPredicate::ugt, result, emit.bits(encoding.largest)));
  result = emit.make<arith::SelectOp>(overflows, emit.bits(encoding.overflow), result);
  Value isNaN = emit.compare(CmpIPredicate::ugt, magnitude, emit.bits(kExponentMask));
  result = emit.make<arith::SelectOp>(isNaN, emit.bits(encoding.nan), result);
  Value sign = emit.make<arith::ShRUIOp>(bits, emit.bits(32 - encoding.width()));
  sign = emit.make<arith::AndIOp>(sign, emit.bits(1u << (encoding.width() - 1)));
  if (encoding.isFNUZ) {
    Value isZero = emit.compare(CmpIPredicate::eq, result, emit.bits(0));
    sign = emit.make<arith::SelectOp>(isZero, emit.bits(0), sign);
  }
  return emit.make<arith::OrIOp>(result, sign);
}

/// The f32 next to an f64 on the side of zero, with its last place set where that is inexact: what
/// is then rounded to fewer bits is rounded as the f64 would be.
Value truncateToOdd(Emitter &emit, Value value) {
  using arith::CmpFPredicate;
  Value nearest = emit.make<arith::TruncFOp>(emit.f32, value);
  Value back = emit.make<arith::ExtFOp>(value.getType(), nearest);
  Value inexact = emit.make<arith::CmpFOp>(CmpFPredicate::ONE, back, value);
  Value larger = emit.make<arith::CmpFOp>(CmpFPredicate::OGT, emit.make<math::AbsFOp>(back),
                                          emit.make<math::AbsFOp>(value));
  Value away = emit.make<arith::ExtUIOp>(emit.i32, larger);
  Value towardZero = emit.make<arith::SubIOp>(emit.asBits(nearest), away);
  Value sticky = emit.make<arith::ExtUIOp>(emit.i32, inexact);
  return emit.asFloat(emit.make<arith::OrIOp>(towardZero, sticky));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

enum class Float8 { None, FP8, BF8 };

/// Which pair of instructions converts `type`.
Float8 nativeFormat(Float8Instructions native, Type type) {
  if (native == Float8Instructions::OCP)
    return isa<Float8E4M3FNType>(type) ? Float8::FP8
           : isa<Float8E5M2Type>(type) ? Float8::BF8
                                       : Float8::None;
  if (native == Float8Instructions::FNUZ)
    return isa<Float8E4M3FNUZType>(type)   ? Float8::FP8
           : isa<Float8E5M2FNUZType>(type) ? Float8::BF8
                                           : Float8::None;
  return Float8::None;
}

/// Calls `convert` on each group of `size` elements of `source`, a vector of rank 1 whose length is
/// a multiple of it, and puts the vectors that it returns together.
Value inGroups(OpBuilder &builder, Location loc, Value source, int64_t size, Type resultElement,
               llvm::function_ref<Value(Value)> convert) {
  const int64_t count = cast<VectorType>(source.getType()).getNumElements();
  auto resultType = VectorType::get(count, resultElement);
  Value result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(resultType));
  for (int64_t first = 0; first != count; first += size) {
    Value group =
        vector::ExtractStridedSliceOp::create(builder, loc, source, first, size, int64_t(1));
    result = vector::InsertStridedSliceOp::create(builder, loc, convert(group), result, first,
                                                  int64_t(1));
  }
  return result;
}

/// vector<4xi8> to vector<4xf32>.
Value decodeFour(OpBuilder &builder, Location loc, Value bytes, Float8 format) {
  auto i32 = builder.getI32Type();
  Value word = vector::BitCastOp::create(builder, loc, VectorType::get(1, i32), bytes);
  word = vector::ExtractOp::create(builder, loc, word, int64_t(0));
  auto pair = VectorType::get(2, builder.getF32Type());
  Value result = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(VectorType::get(4, builder.getF32Type())));
  for (int64_t half : {0, 1}) {
    Value two = format == Float8::FP8
                    ? ROCDL::CvtPkF32Fp8Op::create(builder, loc, pair, word, half != 0).getResult()
                    : ROCDL::CvtPkF32Bf8Op::create(builder, loc, pair, word, half != 0).getResult();
    result = vector::InsertStridedSliceOp::create(builder, loc, two, result, 2 * half, int64_t(1));
  }
  return result;
}

/// vector<4xf32> to vector<4xi8>.
Value encodeFour(OpBuilder &builder, Location loc, Value values, Float8 format) {
  auto i32 = builder.getI32Type();
  Value word = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  for (int64_t half : {0, 1}) {
    Value a = vector::ExtractOp::create(builder, loc, values, 2 * half);
    Value b = vector::ExtractOp::create(builder, loc, values, 2 * half + 1);
    word = format == Float8::FP8
               ? ROCDL::CvtPkFp8F32Op::create(builder, loc, i32, a, b, word, half != 0).getResult()
               : ROCDL::CvtPkBf8F32Op::create(builder, loc, i32, a, b, word, half != 0).getResult();
  }
  Value words = vector::BroadcastOp::create(builder, loc, VectorType::get(1, i32), word);
  return vector::BitCastOp::create(builder, loc, VectorType::get(4, builder.getI8Type()), words);
}

/// Whether a type is a vector that the packed instructions take four elements at a time.
bool isFours(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() &&
         vector.getNumElements() % 4 == 0;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// `value` of a small float type as integers of its width, or back.
Value reinterpret(OpBuilder &builder, Location loc, Value value, Type element) {
  return arith::BitcastOp::create(builder, loc, Emitter::with(value.getType(), element), value);
}

struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  ExpandExtF(MLIRContext *context, Float8Instructions native)
      : OpRewritePattern(context), native(native) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Value source = op.getIn();
    const Type element = getElementTypeOrSelf(source.getType());
    const std::optional<Encoding> encoding = encodingOf(element);
    if (!encoding)
      return failure();
    const Location loc = op.getLoc();
    const Type target = getElementTypeOrSelf(op.getType());
    Value bytes = reinterpret(rewriter, loc, source, rewriter.getIntegerType(encoding->width()));
    Emitter emit(rewriter, loc, source.getType());
    Value result;
    const Float8 format = nativeFormat(native, element);
    if (format != Float8::None && isFours(source.getType())) {
      result = inGroups(rewriter, loc, bytes, 4, rewriter.getF32Type(),
                        [&](Value group) { return decodeFour(rewriter, loc, group, format); });
    } else if (format != Float8::None && !isa<VectorType>(source.getType())) {
      Value word = emit.make<arith::ExtUIOp>(emit.i32, bytes);
      result = format == Float8::FP8
                   ? ROCDL::CvtF32Fp8Op::create(rewriter, loc, emit.f32, word, 0).getResult()
                   : ROCDL::CvtF32Bf8Op::create(rewriter, loc, emit.f32, word, 0).getResult();
    } else {
      result = decode(emit, *encoding, emit.make<arith::ExtUIOp>(emit.i32, bytes));
    }
    if (target.getIntOrFloatBitWidth() < 32)
      result = emit.make<arith::TruncFOp>(op.getType(), result);
    else if (target.getIntOrFloatBitWidth() > 32)
      result = emit.make<arith::ExtFOp>(op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

  Float8Instructions native;
};

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  ExpandTruncF(MLIRContext *context, Float8Instructions native)
      : OpRewritePattern(context), native(native) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Value source = op.getIn();
    const Type element = getElementTypeOrSelf(op.getType());
    const std::optional<Encoding> encoding = encodingOf(element);
    const auto rounding = op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    if (!encoding || (rounding != arith::RoundingMode::to_nearest_even && encoding->isSigned))
      return failure();
    const Location loc = op.getLoc();
    Emitter emit(rewriter, loc, source.getType());
    const unsigned width = getElementTypeOrSelf(source.getType()).getIntOrFloatBitWidth();
    if (width < 32)
      source = emit.make<arith::ExtFOp>(emit.f32, source);
    else if (width > 32)
      source = truncateToOdd(emit, source);
    const Type integer = rewriter.getIntegerType(encoding->width());
    Value result;
    const Float8 format = nativeFormat(native, element);
    if (format != Float8::None && isFours(source.getType())) {
      result = inGroups(rewriter, loc, source, 4, integer,
                        [&](Value group) { return encodeFour(rewriter, loc, group, format); });
    } else if (format != Float8::None && !isa<VectorType>(source.getType())) {
      Value zero = emit.bits(0);
      Value word =
          format == Float8::FP8
              ? ROCDL::CvtPkFp8F32Op::create(rewriter, loc, emit.i32, source, source, zero, false)
                    .getResult()
              : ROCDL::CvtPkBf8F32Op::create(rewriter, loc, emit.i32, source, source, zero, false)
                    .getResult();
      result = emit.make<arith::TruncIOp>(integer, word);
    } else {
      result = encode(emit, *encoding, source);
      result = emit.make<arith::TruncIOp>(Emitter::with(source.getType(), integer), result);
    }
    rewriter.replaceOp(op, reinterpret(rewriter, loc, result, element));
    return success();
  }

  Float8Instructions native;
};

} // namespace

void populateSmallFloatPatterns(Float8Instructions native, RewritePatternSet &patterns) {
  patterns.add<ExpandExtF, ExpandTruncF>(patterns.getContext(), native);
}

} // namespace fly

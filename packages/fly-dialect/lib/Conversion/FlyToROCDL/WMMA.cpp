// SPDX-License-Identifier: Apache-2.0
//
// gfx11.wmma, gfx120x.wmma, gfx1250.wmma and gfx1250.wmma_scale.
#include "../FlyToLLVM/Addressing.h"
#include "AtomCalls.h"
#include "MatrixTypes.h"
#include "ScaledOperands.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

/// The intrinsic of one combination of element types.
struct WmmaIntrinsic {
  std::string name; ///< after "rocdl.wmma."
  Type lane;        ///< of A and B
  enum class Modifiers { None, Signs, AccumulatorModifier } modifiers = Modifiers::None;
};
using Modifiers = WmmaIntrinsic::Modifiers;

/// Values of an accumulator that one lane holds.
constexpr int64_t accumulatorValues = 8;

const char *accumulatorName(Type type) {
  return type.isF32() ? "f32" : type.isF16() ? "f16" : type.isBF16() ? "bf16" : "i32";
}

NamedAttribute flag(OpBuilder &builder, StringRef name, bool value) {
  return builder.getNamedAttr(name, builder.getIntegerAttr(builder.getI1Type(), value ? 1 : 0));
}

/// The bits of bf16 where the older intrinsics take them.
Type bitsOfBF16(Type type) {
  return type.isBF16() ? IntegerType::get(type.getContext(), 16) : type;
}

/// Calls `intrinsic`.
template <typename Atom>
FailureOr<Value> callIntrinsic(OpBuilder &builder, Atom operation, const MmaCall &call,
                               const std::optional<WmmaIntrinsic> &intrinsic,
                               int32_t accumulatorModifier) {
  if (!intrinsic)
    return failure();
  Location loc = call.loc();
  auto accumulator = VectorType::get(accumulatorValues, operation.getElemTyAcc());
  Value a = reinterpret(builder, loc, call.a.front(), intrinsic->lane);
  Value b = reinterpret(builder, loc, call.b.front(), intrinsic->lane);
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!a || !b || !c)
    return failure();
  SmallVector<NamedAttribute> attributes;
  if (intrinsic->modifiers == Modifiers::Signs) {
    attributes.push_back(flag(builder, "signA", operation.getSignA()));
    attributes.push_back(flag(builder, "signB", operation.getSignB()));
    attributes.push_back(flag(builder, "clamp", operation.getClamp()));
  } else if (intrinsic->modifiers == Modifiers::AccumulatorModifier && accumulatorModifier != 0) {
    attributes.push_back(
        builder.getNamedAttr("modC", builder.getI16IntegerAttr(accumulatorModifier)));
  }
  return createIntrinsic(builder, call.op, "rocdl.wmma." + intrinsic->name, {a, b, c}, accumulator,
                         attributes);
}

/// Calls `intrinsic`, whose accumulator is of 16 bits. `stride` is 2 where each value has a
/// register of its own, of which it takes the low half.
template <typename Atom>
FailureOr<Value> callWith16BitSums(OpBuilder &builder, Atom operation, const MmaCall &call,
                                   const WmmaIntrinsic &intrinsic, int64_t stride) {
  Location loc = call.loc();
  Type element = bitsOfBF16(operation.getElemTyAcc());
  auto packed = VectorType::get(accumulatorValues, element);
  auto registers = VectorType::get(accumulatorValues * stride, element);
  Value a = reinterpret(builder, loc, call.a.front(), intrinsic.lane);
  Value b = reinterpret(builder, loc, call.b.front(), intrinsic.lane);
  Value c = reinterpret(builder, loc, call.c, packed);
  if (!a || !b || !c)
    return failure();
  constexpr int32_t anything = -1;
  SmallVector<int32_t> widen(accumulatorValues * stride, anything);
  SmallVector<int32_t> gather;
  for (int32_t value = 0; value < accumulatorValues; ++value) {
    widen[value * stride] = value;
    gather.push_back(static_cast<int32_t>(value * stride));
  }
  if (stride != 1)
    c = LLVM::ShuffleVectorOp::create(builder, loc, c, c, widen);
  FailureOr<Value> result =
      createIntrinsic(builder, call.op, "rocdl.wmma." + intrinsic.name, {a, b, c}, registers);
  if (succeeded(result) && stride != 1)
    return Value(LLVM::ShuffleVectorOp::create(builder, loc, *result, *result, gather));
  return result;
}

/// gfx11 and gfx120x differ in how many elements a lane holds: gfx11 keeps A and B in both halves
/// of the wave.
template <typename Atom> std::optional<WmmaIntrinsic> selectGFX11Or12(Atom type, int64_t elements) {
  Type a = type.getElemTyA();
  Type b = type.getElemTyB();
  Type i32 = IntegerType::get(type.getContext(), 32);
  if (type.getK() != 16)
    return std::nullopt;
  if (a == b && (a.isF16() || a.isBF16()))
    return WmmaIntrinsic{std::string(accumulatorName(type.getElemTyAcc())) + ".16x16x16." +
                             (a.isF16() ? "f16" : "bf16"),
                         laneType(elements, bitsOfBF16(a))};
  if (a.isInteger(8) && b.isInteger(8))
    return WmmaIntrinsic{"i32.16x16x16.iu8", laneType(elements / 4, i32), Modifiers::Signs};
  if (a.isInteger(4) && b.isInteger(4))
    return WmmaIntrinsic{"i32.16x16x16.iu4", laneType(elements / 8, i32), Modifiers::Signs};
  return std::nullopt;
}

std::optional<WmmaIntrinsic> selectGFX120X(GFX120XWMMAType type) {
  Type i32 = IntegerType::get(type.getContext(), 32);
  if (type.getK() == 32 && type.getElemTyA().isInteger(4) && type.getElemTyB().isInteger(4))
    return WmmaIntrinsic{"i32.16x16x32.iu4", laneType(2, i32), Modifiers::Signs};
  const char *a = float8Name(type.getElemTyA());
  const char *b = float8Name(type.getElemTyB());
  if (type.getK() == 16 && a && b)
    return WmmaIntrinsic{std::string("f32.16x16x16.") + a + "_" + b, laneType(2, i32)};
  return selectGFX11Or12(type, 8);
}

std::optional<WmmaIntrinsic> selectGFX1250(GFX1250WMMAType type) {
  Type a = type.getElemTyA();
  Type b = type.getElemTyB();
  Type i32 = IntegerType::get(type.getContext(), 32);
  int32_t k = type.getK();
  std::string prefix =
      std::string(accumulatorName(type.getElemTyAcc())) + ".16x16x" + std::to_string(k) + ".";
  if (k == 4 && a.isF32() && b.isF32())
    return WmmaIntrinsic{prefix + "f32", laneType(2, a), Modifiers::AccumulatorModifier};
  if (k == 32 && a == b && (a.isF16() || a.isBF16()))
    return WmmaIntrinsic{prefix + (a.isF16() ? "f16" : "bf16"), laneType(16, a),
                         Modifiers::AccumulatorModifier};
  const char *nameA = float8Name(a);
  const char *nameB = float8Name(b);
  if ((k == 64 || k == 128) && nameA && nameB)
    return WmmaIntrinsic{prefix + nameA + "_" + nameB, laneType(k / 8, i32),
                         Modifiers::AccumulatorModifier};
  if (k == 64 && a.isInteger(8) && b.isInteger(8))
    return WmmaIntrinsic{prefix + "iu8", laneType(8, i32), Modifiers::Signs};
  if (k == 32 && a.isInteger(4) && b.isInteger(4))
    return WmmaIntrinsic{prefix + "iu4", laneType(2, i32), Modifiers::Signs};
  return std::nullopt;
}

} // namespace

FailureOr<Value> lowerGFX11WMMA(OpBuilder &builder, GFX11WMMAType operation, const MmaCall &call) {
  const std::optional<WmmaIntrinsic> intrinsic = selectGFX11Or12(operation, 16);
  if (intrinsic && getElementBitWidth(operation.getElemTyAcc()) == 16)
    return callWith16BitSums(builder, operation, call, *intrinsic, /*stride=*/2);
  return callIntrinsic(builder, operation, call, intrinsic, 0);
}

FailureOr<Value> lowerGFX120XWMMA(OpBuilder &builder, GFX120XWMMAType operation,
                                  const MmaCall &call) {
  const std::optional<WmmaIntrinsic> intrinsic = selectGFX120X(operation);
  if (intrinsic && getElementBitWidth(operation.getElemTyAcc()) == 16)
    return callWith16BitSums(builder, operation, call, *intrinsic, /*stride=*/1);
  return callIntrinsic(builder, operation, call, intrinsic, 0);
}

FailureOr<Value> lowerGFX1250WMMA(OpBuilder &builder, GFX1250WMMAType operation,
                                  const MmaCall &call) {
  return callIntrinsic(builder, operation, call, selectGFX1250(operation), operation.getModC());
}

FailureOr<Value> lowerGFX1250WMMAScale(OpBuilder &builder, GFX1250WMMAScaleType operation,
                                       const MmaCall &call) {
  constexpr int64_t lanes = 32;
  Location loc = call.loc();
  FailureOr<ScaledOperands> operands = readScaledOperands(
      builder, call, operation.getElemTyA(), operation.getElemTyB(), lanes,
      int64_t(operation.getM()) * operation.getK(), int64_t(operation.getN()) * operation.getK());
  if (failed(operands))
    return failure();
  auto accumulator = VectorType::get(int64_t(operation.getM()) * operation.getN() / lanes,
                                     operation.getElemTyAcc());
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!c)
    return failure();

  auto number = [&](StringRef name, int32_t value) {
    return builder.getNamedAttr(name, builder.getI32IntegerAttr(value));
  };
  bool tall = operation.getM() == 32;
  // Scales are E8M0 (format 0); opsel chooses the half of the wave, "row", that holds them.
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("modC", builder.getI16IntegerAttr(operation.getModC())),
      number("scaleAType", operation.getOpselA()),
      number("fmtScaleA", 0),
      number("scaleBType", operation.getOpselB()),
      number("fmtScaleB", 0),
      flag(builder, "reuseA", operation.getReuseA()),
      flag(builder, "reuseB", operation.getReuseB()),
  };
  if (!tall) {
    attributes.push_back(number("fmtA", matrixFormat(operation.getElemTyA())));
    attributes.push_back(number("fmtB", matrixFormat(operation.getElemTyB())));
  }
  std::string name =
      operation.getBlockSize() == 16 ? "rocdl.wmma.scale16.f32." : "rocdl.wmma.scale.f32.";
  name += tall ? "32x16x128.f4" : "16x16x128.f8f6f4";
  return createIntrinsic(builder, call.op, name,
                         {operands->a, operands->b, c, operands->scaleA, operands->scaleB},
                         accumulator, attributes);
}

} // namespace fly::rocdl

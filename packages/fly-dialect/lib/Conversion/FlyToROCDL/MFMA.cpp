// SPDX-License-Identifier: Apache-2.0
//
// cdna3.mfma and cdna4.mfma_scale (contract section 6.4).
#include "Addressing.h"
#include "AtomCalls.h"
#include "AtomState.h"
#include "ScaledOperands.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

/// How one combination of element types and extents is called.
struct MfmaForm {
  std::string name; ///< after "rocdl.mfma."
  Type lane;        ///< of A and B
};

std::string extents(CDNA3MFMAType type) {
  return std::to_string(type.getM()) + "x" + std::to_string(type.getN()) + "x" +
         std::to_string(type.getK());
}

bool isOneOf(const std::string &text, ArrayRef<const char *> candidates) {
  return llvm::is_contained(candidates, text);
}

/// The intrinsic's name of an 8-bit float: OCP and FNUZ encodings share instructions, the
/// architecture decides.
const char *float8Name(Type type) {
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType>(type))
    return "fp8";
  if (isa<Float8E5M2Type, Float8E5M2FNUZType>(type))
    return "bf8";
  return nullptr;
}

std::optional<MfmaForm> selectForm(CDNA3MFMAType type) {
  MLIRContext *context = type.getContext();
  std::string mnk = extents(type);
  Type a = type.getElemTyA();
  Type b = type.getElemTyB();
  auto vectorOf = [](int64_t count, Type element) { return VectorType::get(count, element); };
  Type i16 = IntegerType::get(context, 16);
  Type i64 = IntegerType::get(context, 64);

  if (a.isF32() && b.isF32() && isOneOf(mnk, {"32x32x2", "16x16x4"}))
    return MfmaForm{"f32." + mnk + "f32", a};
  if (a.isF16() && b.isF16()) {
    if (isOneOf(mnk, {"32x32x8", "16x16x16"}))
      return MfmaForm{"f32." + mnk + "f16", vectorOf(4, a)};
    if (isOneOf(mnk, {"16x16x32", "32x32x16"}))
      return MfmaForm{"f32." + mnk + ".f16", vectorOf(8, a)};
  }
  if (a.isBF16() && b.isBF16()) {
    if (isOneOf(mnk, {"32x32x4", "16x16x8"}))
      return MfmaForm{"f32." + mnk + "bf16", vectorOf(2, i16)};
    if (isOneOf(mnk, {"32x32x8", "16x16x16"}))
      return MfmaForm{"f32." + mnk + "bf16.1k", vectorOf(4, i16)};
    if (isOneOf(mnk, {"16x16x32", "32x32x16"}))
      return MfmaForm{"f32." + mnk + ".bf16", vectorOf(8, a)};
  }
  if (isOneOf(mnk, {"16x16x32", "32x32x16"})) {
    if (float8Name(a) && float8Name(b))
      return MfmaForm{"f32." + mnk + "." + float8Name(a) + "." + float8Name(b), i64};
    if (a.isInteger(8) && b.isInteger(8))
      return MfmaForm{"i32." + mnk + ".i8", i64};
  }
  return std::nullopt;
}

/// The accumulator of an M x M operation: M * M / 64 values per lane.
VectorType accumulatorType(int32_t m, Type element) {
  return VectorType::get(int64_t(m) * m / 64, element);
}

} // namespace

FailureOr<Value> lowerMFMA(OpBuilder &builder, CDNA3MFMAType operation, const MmaCall &call) {
  std::optional<MfmaForm> form = selectForm(operation);
  if (!form)
    return failure();
  Location loc = call.loc();
  VectorType accumulator = accumulatorType(operation.getM(), operation.getElemTyAcc());
  Value a = reinterpret(builder, loc, call.a.front(), form->lane);
  Value b = reinterpret(builder, loc, call.b.front(), form->lane);
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!a || !b || !c)
    return failure();
  // Broadcast of A (cbsz, abid) and permutation of B (blgp) are not used.
  Value zero = constantI32(builder, loc, 0);
  return createIntrinsic(builder, call.op, "rocdl.mfma." + form->name, {a, b, c, zero, zero, zero},
                         accumulator);
}

FailureOr<Value> lowerMFMAScale(OpBuilder &builder, CDNA4MFMAScaleType operation,
                                const MmaCall &call) {
  Location loc = call.loc();
  FailureOr<ScaledOperands> operands =
      readScaledOperands(builder, call, operation.getElemTyA(), operation.getElemTyB(),
                         /*lanes=*/64, int64_t(operation.getM()) * operation.getK(),
                         int64_t(operation.getN()) * operation.getK());
  if (failed(operands))
    return failure();
  VectorType accumulator = accumulatorType(operation.getM(), operation.getElemTyAcc());
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!c)
    return failure();
  Value formatA = constantI32(builder, loc, matrixFormat(operation.getElemTyA()));
  Value formatB = constantI32(builder, loc, matrixFormat(operation.getElemTyB()));
  Value opselA = constantI32(builder, loc, operation.getOpselA());
  Value opselB = constantI32(builder, loc, operation.getOpselB());
  std::string mnk = std::to_string(operation.getM()) + "x" + std::to_string(operation.getN()) +
                    "x" + std::to_string(operation.getK());
  return createIntrinsic(builder, call.op, "rocdl.mfma.scale.f32." + mnk + ".f8f6f4",
                         {operands->a, operands->b, c, formatA, formatB, opselA, operands->scaleA,
                          opselB, operands->scaleB},
                         accumulator);
}

} // namespace fly::rocdl

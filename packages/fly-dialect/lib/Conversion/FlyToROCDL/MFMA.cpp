// SPDX-License-Identifier: Apache-2.0
//
// cdna3.mfma and cdna4.mfma_scale.
#include "../FlyToLLVM/Addressing.h"
#include "AtomCalls.h"
#include "MatrixTypes.h"
#include "ScaledOperands.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

/// How one combination of element types and extents is called.
struct MfmaIntrinsic {
  std::string name; ///< after "rocdl.mfma."
  Type lane;        ///< of A and B
};

bool isOneOf(const std::string &text, ArrayRef<const char *> candidates) {
  return llvm::is_contained(candidates, text);
}

/// One product in one call.
std::optional<MfmaIntrinsic> selectSingle(CDNA3MFMAType type) {
  MLIRContext *context = type.getContext();
  const std::string mnk = extentsOf(type);
  Type a = type.getElemTyA();
  Type b = type.getElemTyB();
  Type i16 = IntegerType::get(context, 16);
  Type i64 = IntegerType::get(context, 64);

  if (a.isF32() && b.isF32() && isOneOf(mnk, {"32x32x2", "16x16x4"}))
    return MfmaIntrinsic{"f32." + mnk + "f32", a};
  if (a.isF16() && b.isF16()) {
    if (isOneOf(mnk, {"32x32x8", "16x16x16"}))
      return MfmaIntrinsic{"f32." + mnk + "f16", laneType(4, a)};
    if (isOneOf(mnk, {"16x16x32", "32x32x16"}))
      return MfmaIntrinsic{"f32." + mnk + ".f16", laneType(8, a)};
  }
  if (a.isBF16() && b.isBF16()) {
    if (isOneOf(mnk, {"32x32x4", "16x16x8"}))
      return MfmaIntrinsic{"f32." + mnk + "bf16", laneType(2, i16)};
    if (isOneOf(mnk, {"32x32x8", "16x16x16"}))
      return MfmaIntrinsic{"f32." + mnk + "bf16.1k", laneType(4, i16)};
    if (isOneOf(mnk, {"16x16x32", "32x32x16"}))
      return MfmaIntrinsic{"f32." + mnk + ".bf16", laneType(8, a)};
  }
  if (isOneOf(mnk, {"16x16x32", "32x32x16"})) {
    if (float8Name(a) && float8Name(b))
      return MfmaIntrinsic{"f32." + mnk + "." + float8Name(a) + "." + float8Name(b), i64};
    if (a.isInteger(8) && b.isInteger(8))
      return MfmaIntrinsic{"i32." + mnk + ".i8", i64};
  }
  if (a.isInteger(8) && b.isInteger(8) && isOneOf(mnk, {"16x16x64", "32x32x32"}))
    return MfmaIntrinsic{"i32." + mnk + ".i8", laneType(4, IntegerType::get(context, 32))};
  if (a.isTF32() && b.isTF32() && isOneOf(mnk, {"16x16x8", "32x32x4"}))
    return MfmaIntrinsic{"f32." + mnk + ".xf32", laneType(2, Float32Type::get(context))};
  if (a.isF64() && b.isF64())
    return MfmaIntrinsic{"f64." + mnk + "f64", a};
  return std::nullopt;
}

/// One product per block. The verifier knows which there are.
MfmaIntrinsic selectBlocks(CDNA3MFMAType type) {
  const std::string mnk = extentsOf(type);
  Type a = type.getElemTyA();
  if (a.isF64() || a.isF32())
    return {(a.isF64() ? "f64." : "f32.") + mnk + (a.isF64() ? "f64" : "f32"), a};
  if (a.isF16())
    return {"f32." + mnk + "f16", laneType(4, a)};
  if (a.isBF16())
    return {"f32." + mnk + "bf16.1k", laneType(4, IntegerType::get(type.getContext(), 16))};
  return {"i32." + mnk + "i8", IntegerType::get(type.getContext(), 32)};
}

std::optional<MfmaIntrinsic> selectIntrinsic(CDNA3MFMAType type) {
  return type.getBlocks() == 1 ? selectSingle(type) : std::optional(selectBlocks(type));
}

/// The accumulator of an M x M operation: M * M / 64 values per lane and block.
Type accumulatorType(int32_t m, int32_t blocks, Type element) {
  return laneType(int64_t(m) * m * blocks / 64, element);
}

} // namespace

FailureOr<Value> lowerMFMA(OpBuilder &builder, CDNA3MFMAType operation, const MmaCall &call) {
  std::optional<MfmaIntrinsic> intrinsic = selectIntrinsic(operation);
  if (!intrinsic)
    return failure();
  Location loc = call.loc();
  Type accumulator =
      accumulatorType(operation.getM(), operation.getBlocks(), operation.getElemTyAcc());
  Value a = reinterpret(builder, loc, call.a.front(), intrinsic->lane);
  Value b = reinterpret(builder, loc, call.b.front(), intrinsic->lane);
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!a || !b || !c)
    return failure();
  // Broadcast of A (cbsz, abid) and permutation of B (blgp) are not used.
  Value zero = constantI32(builder, loc, 0);
  return createIntrinsic(builder, call.op, "rocdl.mfma." + intrinsic->name,
                         {a, b, c, zero, zero, zero}, accumulator);
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
  Type accumulator = accumulatorType(operation.getM(), /*blocks=*/1, operation.getElemTyAcc());
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!c)
    return failure();
  Value formatA = constantI32(builder, loc, matrixFormat(operation.getElemTyA()));
  Value formatB = constantI32(builder, loc, matrixFormat(operation.getElemTyB()));
  Value opselA = constantI32(builder, loc, operation.getOpselA());
  Value opselB = constantI32(builder, loc, operation.getOpselB());
  return createIntrinsic(builder, call.op,
                         "rocdl.mfma.scale.f32." + extentsOf(operation) + ".f8f6f4",
                         {operands->a, operands->b, c, formatA, formatB, opselA, operands->scaleA,
                          opselB, operands->scaleB},
                         accumulator);
}

} // namespace fly::rocdl

// SPDX-License-Identifier: Apache-2.0
//
// cdna3.smfmac: matrix operations whose A is sparse.
#include "../FlyToLLVM/Addressing.h"
#include "AtomCalls.h"
#include "AuxiliaryOperand.h"
#include "MatrixTypes.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

constexpr int64_t lanes = 64;
constexpr int64_t sparseIndexField = 0;

/// The intrinsic, after "rocdl.smfmac.".
std::string nameOf(CDNA3SMFMACType operation) {
  Type a = operation.getElemTyA();
  std::string types = a.isF16()    ? "f16"
                      : a.isBF16() ? "bf16"
                      : a.isInteger()
                          ? "i8"
                          : std::string(float8Name(a)) + "." + float8Name(operation.getElemTyB());
  return (a.isInteger() ? "i32." : "f32.") + extentsOf(operation) + "." + types;
}

/// What one lane holds of an operand with `k` columns.
Type operandType(CDNA3SMFMACType operation, Type element, int64_t k) {
  const int64_t perLane = operation.getM() * k / lanes;
  MLIRContext *context = operation.getContext();
  if (getElementBitWidth(element) == 8)
    return VectorType::get(perLane / 4, IntegerType::get(context, 32));
  // The intrinsics that gfx950 added take bf16, the older ones its bits.
  const bool isOlder = operation.getM() * operation.getK() == 512;
  return VectorType::get(perLane,
                         element.isBF16() && isOlder ? IntegerType::get(context, 16) : element);
}

} // namespace

FailureOr<Value> lowerSMFMAC(OpBuilder &builder, CDNA3SMFMACType operation, const MmaCall &call) {
  if (call.a.size() > 2 || call.b.size() != 1)
    return call.op->emitError("sparse MMA expects [data] or [data, index] for A, and [data] for B");
  Location loc = call.loc();
  FailureOr<Value> index =
      readAuxiliary(builder, call, call.a, sparseIndexField, "the index of sparse data");
  if (failed(index))
    return failure();
  const int64_t m = operation.getM();
  auto accumulator = VectorType::get(m * m / lanes, operation.getElemTyAcc());
  Type typeA = operandType(operation, operation.getElemTyA(), operation.getK() / 2);
  Type typeB = operandType(operation, operation.getElemTyB(), operation.getK());
  Value a = reinterpret(builder, loc, call.a.front(), typeA);
  Value b = reinterpret(builder, loc, call.b.front(), typeB);
  Value c = reinterpret(builder, loc, call.c, accumulator);
  if (!a || !b || !c)
    return failure();
  // Without broadcast (cbsz), abid names the set of indices.
  Value cbsz = constantI32(builder, loc, 0);
  Value abid = constantI32(builder, loc, operation.getIndexSet());
  return createIntrinsic(builder, call.op, "rocdl.smfmac." + nameOf(operation),
                         {a, b, c, *index, cbsz, abid}, accumulator);
}

} // namespace fly::rocdl

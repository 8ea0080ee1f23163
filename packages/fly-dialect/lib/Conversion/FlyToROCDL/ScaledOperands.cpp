// SPDX-License-Identifier: Apache-2.0
#include "ScaledOperands.h"
#include "../FlyToLLVM/Addressing.h"
#include "AuxiliaryOperand.h"

using namespace mlir;

namespace fly::rocdl {

constexpr int64_t scaleAField = 0;
constexpr int64_t scaleBField = 1;

int32_t matrixFormat(Type elementType) {
  if (isa<Float8E5M2Type>(elementType))
    return 1;
  if (isa<Float6E2M3FNType>(elementType))
    return 2;
  if (isa<Float6E3M2FNType>(elementType))
    return 3;
  if (isa<Float4E2M1FNType>(elementType))
    return 4;
  return 0;
}

/// The scale of one operand: the group's second member, or the state's field.
static FailureOr<Value> readScale(OpBuilder &builder, const MmaCall &call, ArrayRef<Value> group,
                                  int64_t field) {
  if (group.empty() || group.size() > 2)
    return call.op->emitError("scaled MMA expects [data] or [data, scale] for each operand");
  return readAuxiliary(builder, call, group, field, "a scale");
}

FailureOr<ScaledOperands> readScaledOperands(OpBuilder &builder, const MmaCall &call, Type elementA,
                                             Type elementB, int64_t lanes, int64_t elementsA,
                                             int64_t elementsB) {
  FailureOr<Value> scaleA = readScale(builder, call, call.a, scaleAField);
  FailureOr<Value> scaleB = readScale(builder, call, call.b, scaleBField);
  if (failed(scaleA) || failed(scaleB))
    return failure();
  auto dataType = [&](Type element, int64_t elements) {
    int64_t bits = elements / lanes * getElementBitWidth(element);
    return VectorType::get(bits / 32, builder.getI32Type());
  };
  Location loc = call.loc();
  Value a = reinterpret(builder, loc, call.a.front(), dataType(elementA, elementsA));
  Value b = reinterpret(builder, loc, call.b.front(), dataType(elementB, elementsB));
  if (!a || !b)
    return failure();
  return ScaledOperands{a, b, *scaleA, *scaleB};
}

} // namespace fly::rocdl

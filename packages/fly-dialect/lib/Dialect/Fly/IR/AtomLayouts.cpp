// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Recast.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

using namespace mlir;

FailureOr<fly::Layout> fly::getValueLayout(CopyAtomType atom, CopyOperand operand) {
  auto op = dyn_cast<CopyOpTypeInterface>(atom.getCopyOp());
  if (!op || atom.getValBits() <= 0)
    return failure();
  Layout bits = operand == CopyOperand::Source        ? op.getSourceBitLayout()
                : operand == CopyOperand::Destination ? op.getDestinationBitLayout()
                                                      : op.getReferenceBitLayout();
  AlgebraContext cx;
  Layout values = recast(cx, bits, atom.getValBits(), 1);
  return cx.failed() ? FailureOr<Layout>(failure()) : FailureOr<Layout>(values);
}

bool fly::isTileable(MmaAtomType atom) {
  auto op = dyn_cast<MmaOpTypeInterface>(atom.getMmaOp());
  return !op || op.isTileable();
}

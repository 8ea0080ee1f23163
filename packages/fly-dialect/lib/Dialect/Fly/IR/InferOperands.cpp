// SPDX-License-Identifier: Apache-2.0
//
// The operands that inference is given.

#include "fly/Dialect/Fly/IR/Infer.h"

using namespace mlir;
using namespace fly;

LogicalResult fly::checkOperands(InferLocation loc, StringRef opName,
                                 ArrayRef<OperandConstraint> constraints, ValueRange operands) {
  auto isSingle = [](const OperandConstraint &one) {
    return one.arity == OperandConstraint::Single;
  };
  const size_t singles = llvm::count_if(constraints, isSingle);
  assert(constraints.size() - singles <= 1 && "which operand is whose is not known");
  const OperandConstraint *other = llvm::find_if_not(constraints, isSingle);
  const bool variadic = other != constraints.end() && other->arity == OperandConstraint::Variadic;
  if (operands.size() < singles || (!variadic && operands.size() > constraints.size()))
    return emitOptionalError(loc, "'", opName, "' op expected ",
                             variadic || other != constraints.end() ? "at least " : "", singles,
                             singles == 1 ? " operand" : " operands", ", but found ",
                             operands.size());

  unsigned index = 0;
  for (const OperandConstraint &constraint : constraints) {
    const size_t count = isSingle(constraint) ? 1 : operands.size() - singles;
    for (unsigned last = index + count; index != last; ++index) {
      Value operand = operands[index];
      if (!constraint.admits(operand.getType()))
        return emitOptionalError(loc, "'", opName, "' op operand #", index, " must be ",
                                 constraint.summary, ", but got ", operand.getType());
    }
  }
  return success();
}

// SPDX-License-Identifier: Apache-2.0
//
// Ops that have a value in the algebra, and those whose results are integers.

#include "LayoutLowering.h"

#include "fly/Algebra/Construct.h"
#include "fly/Algebra/TupleArithmetic.h"
#include "fly/Dialect/Fly/IR/EvaluateOps.h"

using namespace mlir;

namespace fly {

static Lowered lowerGetIter(LoweringState &state, GetIterOp op) {
  std::optional<TensorOperand> tensor = state.readTensor(op.getSource());
  if (!tensor)
    return Lowered::Left;
  if (tensor->pointer)
    state.definePointer(op.getResult(), *tensor->pointer);
  else
    state.define(op.getResult(), FlyValue(tensor->value.offset));
  return Lowered::Done;
}

/// Whether `op` advances the pointer of `tensor`, if only by 0.
static bool advancesPointer(Operation *op, const TensorOperand &tensor) {
  if (tensor.value.layout.isComposed())
    return isa<DecompositionOp>(op);
  return isa<SliceOp, TiledCopyPartitionSrcOp, TiledCopyPartitionDstOp, TiledMmaPartitionOp>(op);
}

/// An op that leaves its operand as it is, and does not construct it again.
static bool forwards(LoweringState &state, Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return false;
  if (auto recast = dyn_cast<RecastLayoutOp>(op))
    return recast.getNewTypeBitsAttr() && recast.getOldTypeBitsAttr() &&
           recast.getNewTypeBits() == recast.getOldTypeBits();
  if (!isa<DecompositionOp>(op))
    return false;
  std::optional<TensorOperand> tensor = state.readTensor(op->getOperand(0));
  return tensor && !tensor->value.layout.isComposed();
}

/// The operand that the result is a view of: behind the tiled operation, if there is one.
static Value viewedTensor(Operation *op) {
  Value first = op->getOperand(0);
  return isa<TiledCopyType, TiledMmaType>(first.getType()) ? op->getOperand(1) : first;
}

Lowered lowerAlgebra(LoweringState &state, Operation *op) {
  if (auto iterator = dyn_cast<GetIterOp>(op))
    return lowerGetIter(state, iterator);
  if (forwards(state, op)) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    return Lowered::Done;
  }
  AlgebraContext cx(&state.arith);
  std::optional<FlyValue> result;
  switch (evaluateOp(cx, op, [&](Value value) { return state.read(value); }, result)) {
  case Evaluation::NotAlgebra:
    return Lowered::NotMine;
  case Evaluation::Unknown:
    return Lowered::Left;
  case Evaluation::Done:
    break;
  }
  if (!cx.failed()) {
    if (auto *tensor = std::get_if<TensorValue>(&*result)) {
      const TensorOperand from = *state.readTensor(viewedTensor(op));
      state.define(op->getResult(0),
                   state.moved(cx, from, std::move(*tensor), advancesPointer(op, from)));
    } else {
      state.define(op->getResult(0), std::move(*result));
    }
    state.keepParts(op->getResult(0), viewedTensor(op), isa<DecompositionOp>(op));
  }
  // Declared types hold what the operation infers, so failing means that the operands were never
  // admissible.
  return doneUnlessFailed(op, cx);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Lowered lowerGetScalar(LoweringState &state, GetScalarOp op) {
  std::optional<IntTuple> tuple = state.readTuple(op.getSource());
  if (!tuple)
    return Lowered::Left;
  const IntTuple *leaf = &*tuple;
  while (leaf->isTuple())
    leaf = &leaf->mode(0);
  Value value =
      leaf->isNone() ? state.arith.integer(0, op.getType()) : state.emitLeaf(leaf->withPath({}));
  op.getResult().replaceAllUsesWith(value);
  return Lowered::Done;
}

static Lowered lowerGetLeaves(LoweringState &state, GetLeavesOp op) {
  std::optional<IntTuple> tuple = state.readTuple(op.getSource());
  if (!tuple)
    return Lowered::Left;
  SmallVector<Value> leaves;
  // An op may have lost the attribute.
  BoolAttr attribute = op.getDynamicOnlyAttr();
  const bool onlyDynamic = attribute && attribute.getValue();
  forEachLeaf(*tuple, [&](const IntTuple &leaf) {
    if (leaf.isDynamicLeaf() || !onlyDynamic)
      leaves.push_back(state.emitLeaf(leaf.withPath({})));
  });
  op->replaceAllUsesWith(leaves);
  return Lowered::Done;
}

static Lowered lowerComparison(LoweringState &state, Operation *op) {
  std::optional<IntTuple> lhs = state.readTuple(op->getOperand(0));
  std::optional<IntTuple> rhs = state.readTuple(op->getOperand(1));
  if (!lhs || !rhs)
    return Lowered::Left;
  AlgebraContext cx(&state.arith);
  const Truth truth = isa<EqualOp>(op) ? tupleEqual(cx, *lhs, *rhs) : elemLess(cx, *lhs, *rhs);
  if (cx.failed())
    return doneUnlessFailed(op, cx);
  Value value = truth.known ? state.arith.integer(*truth.known, op->getResult(0).getType())
                            : toValue(truth.handle);
  op->getResult(0).replaceAllUsesWith(value);
  return Lowered::Done;
}

Lowered lowerScalars(LoweringState &state, Operation *op) {
  if (auto scalar = dyn_cast<GetScalarOp>(op))
    return lowerGetScalar(state, scalar);
  if (auto leaves = dyn_cast<GetLeavesOp>(op))
    return lowerGetLeaves(state, leaves);
  if (isa<EqualOp, ElemLessOp>(op))
    return lowerComparison(state, op);
  return Lowered::NotMine;
}

} // namespace fly

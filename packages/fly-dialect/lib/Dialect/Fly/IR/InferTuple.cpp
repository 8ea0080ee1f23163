// SPDX-License-Identifier: Apache-2.0
//
// Result types of tuple arithmetic.

#include "InferSupport.h"

#include "fly/Algebra/TupleArithmetic.h"

using namespace mlir;
using namespace fly;

using Binary = IntTuple (*)(AlgebraContext &, const IntTuple &, const IntTuple &);
using Unary = IntTuple (*)(AlgebraContext &, const IntTuple &);

static InferredType inferBinary(InferLocation loc, StringRef opName, Type lhs, Type rhs,
                                Binary compute) {
  return inferWith(loc, opName, lhs.getContext(),
                   [&](AlgebraContext &cx) { return compute(cx, tupleOf(lhs), tupleOf(rhs)); });
}

static InferredType inferUnary(InferLocation loc, StringRef opName, Type tuple, Unary compute) {
  return inferWith(loc, opName, tuple.getContext(),
                   [&](AlgebraContext &cx) { return compute(cx, tupleOf(tuple)); });
}

InferredType fly::inferIntTupleAdd(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "IntTupleAddOp", lhs, rhs, tupleAdd);
}
InferredType fly::inferIntTupleSub(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "IntTupleSubOp", lhs, rhs, tupleSub);
}
InferredType fly::inferIntTupleMul(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "IntTupleMulOp", lhs, rhs, tupleMul);
}
InferredType fly::inferIntTupleDiv(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "IntTupleDivOp", lhs, rhs, tupleDiv);
}
InferredType fly::inferIntTupleMod(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "IntTupleModOp", lhs, rhs, tupleMod);
}
InferredType fly::inferShapeDiv(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "ShapeDivOp", lhs, rhs, tupleShapeDiv);
}
InferredType fly::inferCeilDiv(InferLocation loc, Type lhs, Type rhs) {
  return inferBinary(loc, "CeilDivOp", lhs, rhs, tupleCeilDiv);
}
InferredType fly::inferIntTupleProduct(InferLocation loc, Type tuple) {
  return inferUnary(loc, "IntTupleProductOp", tuple, tupleProduct);
}
InferredType fly::inferIntTupleProductEach(InferLocation loc, Type tuple) {
  return inferUnary(loc, "IntTupleProductEachOp", tuple, tupleProductEach);
}
InferredType fly::inferIntTupleProductLike(InferLocation loc, Type tuple, Type guide) {
  return inferBinary(loc, "IntTupleProductLikeOp", tuple, guide, tupleProductLike);
}

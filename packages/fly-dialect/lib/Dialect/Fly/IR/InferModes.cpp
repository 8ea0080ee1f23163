// SPDX-License-Identifier: Apache-2.0
//
// Result types of the ops that pick, order and nest modes.

#include "InferSupport.h"

using namespace mlir;
using namespace fly;

/// The nesting depth of a tuple, or of the shape of what has a layout.
static unsigned depthOf(Type tupleLike) {
  if (auto tuple = dyn_cast<IntTupleType>(tupleLike))
    return tuple.getValue().depth();
  return getAnyLayout(tupleLike)->outermost().shape().depth();
}

InferredType fly::inferGet(InferLocation loc, Type source, ArrayRef<int32_t> mode) {
  if (mode.size() > depthOf(source))
    return emitOptionalError(loc, "GetOp: mode length ", mode.size(), " exceeds input depth ",
                             depthOf(source));
  return inferWith(loc, "GetOp", source.getContext(),
                   [&](AlgebraContext &cx) { return evaluate::get(cx, valueOf(source), mode); });
}

InferredType fly::inferTake(InferLocation loc, Type source, int32_t begin, int32_t end) {
  return inferWith(loc, "TakeOp", source.getContext(), [&](AlgebraContext &cx) {
    return evaluate::take(cx, valueOf(source), begin, end);
  });
}

InferredType fly::inferGroup(InferLocation loc, Type source, int32_t begin, int32_t end) {
  return inferWith(loc, "GroupOp", source.getContext(), [&](AlgebraContext &cx) {
    return evaluate::group(cx, valueOf(source), begin, end);
  });
}

InferredType fly::inferSelect(InferLocation loc, Type source, ArrayRef<int32_t> indices) {
  return inferWith(loc, "SelectOp", source.getContext(), [&](AlgebraContext &cx) {
    return evaluate::select(cx, valueOf(source), indices);
  });
}

/// Fails unless both are tuples or both are layouts.
static LogicalResult requireSameCategory(InferLocation loc, StringRef opName, Type tuple,
                                         Type elem) {
  if (isa<IntTupleType>(tuple) == isa<IntTupleType>(elem))
    return success();
  return emitOptionalError(loc, opName, ": tuple and elem must be the same category");
}

/// A given target rank must not be read as "none given".
static LogicalResult requireRank(InferLocation loc, StringRef opName, std::optional<int32_t> n) {
  if (!n || *n > 0)
    return success();
  return emitOptionalError(loc, opName, ": target rank must be positive, got ", *n);
}

InferredType fly::inferAppend(InferLocation loc, Type tuple, Type elem, std::optional<int32_t> n) {
  if (failed(requireSameCategory(loc, "AppendOp", tuple, elem)) ||
      failed(requireRank(loc, "AppendOp", n)))
    return failure();
  return inferWith(loc, "AppendOp", tuple.getContext(), [&](AlgebraContext &cx) {
    return evaluate::append(cx, valueOf(tuple), valueOf(elem), n.value_or(-1));
  });
}

InferredType fly::inferPrepend(InferLocation loc, Type tuple, Type elem, std::optional<int32_t> n) {
  if (failed(requireSameCategory(loc, "PrependOp", tuple, elem)) ||
      failed(requireRank(loc, "PrependOp", n)))
    return failure();
  return inferWith(loc, "PrependOp", tuple.getContext(), [&](AlgebraContext &cx) {
    return evaluate::prepend(cx, valueOf(tuple), valueOf(elem), n.value_or(-1));
  });
}

InferredType fly::inferSlice(InferLocation loc, Type source, Type coord) {
  return inferWith(loc, "SliceOp", source.getContext(), [&](AlgebraContext &cx) {
    return evaluate::slice(cx, valueOf(source), tupleOf(coord));
  });
}

InferredType fly::inferDice(InferLocation loc, Type source, Type coord) {
  if (!isa<IntTupleType, LayoutType>(source))
    return emitOptionalError(loc, "DiceOp: expected IntTupleType or LayoutType, got ", source);
  return inferWith(loc, "DiceOp", source.getContext(), [&](AlgebraContext &cx) {
    return evaluate::dice(cx, valueOf(source), tupleOf(coord));
  });
}

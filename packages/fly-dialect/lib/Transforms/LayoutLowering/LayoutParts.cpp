// SPDX-License-Identifier: Apache-2.0

#include "LayoutParts.h"

#include "fly/Algebra/TupleArithmetic.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

using namespace mlir;

namespace fly {

static void collectLayoutParts(Value layout, LayoutParts &parts) {
  while (auto composed = layout.getDefiningOp<MakeComposedLayoutOp>()) {
    parts.maps.push_back({composed.getInner(), composed.getOffset()});
    layout = composed.getOuter();
  }
  if (layout.getDefiningOp<MakeLayoutOp>())
    parts.outermost = layout;
}

LayoutParts partsOf(Value value) {
  LayoutParts parts;
  if (auto view = value.getDefiningOp<MakeViewOp>()) {
    if (isa<CoordTensorType>(value.getType()))
      parts.base = view.getIter();
    value = view.getLayout();
  }
  collectLayoutParts(value, parts);
  return parts;
}

/// Whether both are the same value, also where it is only known at run time.
static bool isSame(const IntTuple &a, const IntTuple &b) {
  if (a != b)
    return false;
  return llvm::equal(flatten(a), flatten(b), [](const IntTuple &left, const IntTuple &right) {
    return left.handle() == right.handle();
  });
}

static const AnyLayout *layoutOf(const FlyValue &value) {
  if (const auto *tensor = std::get_if<TensorValue>(&value))
    return &tensor->layout;
  return std::get_if<AnyLayout>(&value);
}

Value keptOutermost(const LayoutParts &parts, const FlyValue &before, const FlyValue &after) {
  const AnyLayout *from = layoutOf(before);
  const AnyLayout *to = layoutOf(after);
  const bool same = from && to && isSame(from->outermost().shape(), to->outermost().shape()) &&
                    isSame(from->outermost().stride(), to->outermost().stride());
  return same ? parts.outermost : Value();
}

LayoutParts keptParts(const LayoutParts &parts, const FlyValue &before, const FlyValue &after) {
  LayoutParts kept;
  const auto *tensorBefore = std::get_if<TensorValue>(&before);
  const auto *tensorAfter = std::get_if<TensorValue>(&after);
  if (tensorBefore && tensorAfter && isSame(tensorBefore->offset, tensorAfter->offset))
    kept.base = parts.base;
  const AnyLayout *from = layoutOf(before);
  const AnyLayout *to = layoutOf(after);
  if (!from || !to)
    return kept;
  for (const LayoutParts::Map &map : parts.maps) {
    if (!from->isComposed() || !to->isComposed())
      return kept;
    const ComposedLayout &a = from->composed();
    const ComposedLayout &b = to->composed();
    // Inner maps with run-time leaves are not compared.
    const bool sameInner = a.inner().isStatic() && a.inner() == b.inner();
    kept.maps.push_back(
        {sameInner ? map.inner : Value(), isSame(a.offset(), b.offset()) ? map.offset : Value()});
    from = &a.outer();
    to = &b.outer();
  }
  return kept;
}

} // namespace fly

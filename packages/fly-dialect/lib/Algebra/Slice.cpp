// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Slice.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace fly;

namespace {
enum class Keep { WhereNone, WhereInteger };
} // namespace

static void collect(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord, Keep keep,
                    llvm::SmallVectorImpl<IntTuple> &kept) {
  if (coord.isLeaf()) {
    if (coord.isNone() == (keep == Keep::WhereNone))
      kept.push_back(tuple);
    return;
  }
  if (tuple.isLeaf() || tuple.rank() != coord.rank()) {
    cx.fail("coordinate " + coord.str() + " does not match " + tuple.str());
    return;
  }
  for (const auto &[part, partCoord] : llvm::zip_equal(tuple.modes(), coord.modes()))
    collect(cx, part, partCoord, keep, kept);
}

static IntTuple collect(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord,
                        Keep keep) {
  llvm::SmallVector<IntTuple, 4> kept;
  collect(cx, tuple, coord, keep, kept);
  return kept.size() == 1 ? kept.front() : makeTuple(cx, kept);
}

IntTuple fly::slice(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord) {
  OperationScope scope(cx, "slice", tuple, coord);
  return collect(cx, tuple, coord, Keep::WhereNone);
}

IntTuple fly::dice(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord) {
  OperationScope scope(cx, "dice", tuple, coord);
  return collect(cx, tuple, coord, Keep::WhereInteger);
}

Layout fly::slice(AlgebraContext &cx, const Layout &layout, const IntTuple &coord) {
  return {slice(cx, layout.shape(), coord), slice(cx, layout.stride(), coord)};
}

Layout fly::dice(AlgebraContext &cx, const Layout &layout, const IntTuple &coord) {
  return {dice(cx, layout.shape(), coord), dice(cx, layout.stride(), coord)};
}

SlicedLayout fly::sliceWithOffset(AlgebraContext &cx, const AnyLayout &layout,
                                  const IntTuple &coord) {
  if (!layout.isComposed()) {
    Layout sliced = slice(cx, layout.plain(), coord);
    if (cx.failed())
      return {std::move(sliced), 0};
    return {std::move(sliced), crd2idx(cx, coord, layout.plain())};
  }
  const ComposedLayout &composed = layout.composed();
  SlicedLayout outer = sliceWithOffset(cx, composed.outer(), coord);
  return {ComposedLayout(composed.inner(), tupleAdd(cx, outer.offset, composed.offset()),
                         std::move(outer.layout)),
          0};
}

// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Modes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace fly;

using Modes = llvm::SmallVector<IntTuple, 4>;

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

/// A single mode comes unwrapped.
static IntTuple unwrapSingle(AlgebraContext &cx, llvm::ArrayRef<IntTuple> modes) {
  return modes.size() == 1 ? modes.front() : makeTuple(cx, modes);
}

IntTuple fly::getMode(AlgebraContext &cx, const IntTuple &tuple, llvm::ArrayRef<int32_t> mode) {
  OperationScope scope(cx, "get", tuple);
  IntTuple part = tuple;
  for (int32_t index : mode) {
    if (part.isLeaf()) {
      cx.fail("mode length " + llvm::Twine(mode.size()) + " exceeds input depth " +
              llvm::Twine(tuple.depth()));
      return 0;
    }
    if (index < 0 || static_cast<unsigned>(index) >= part.rank()) {
      cx.fail("mode " + llvm::Twine(index) + " is out of range for " + part.str());
      return 0;
    }
    part = IntTuple(part.mode(index));
  }
  return part;
}

/// Resolves end = -1 and checks 0 <= begin <= end <= rank.
static bool resolveRange(AlgebraContext &cx, const IntTuple &tuple, int32_t begin, int32_t &end) {
  const int32_t rank = static_cast<int32_t>(tuple.rank());
  if (end == -1)
    end = rank;
  if (begin >= 0 && begin <= end && end <= rank)
    return true;
  cx.fail("modes [" + llvm::Twine(begin) + ", " + llvm::Twine(end) +
          ") are out of range for rank " + llvm::Twine(rank));
  return false;
}

IntTuple fly::takeModes(AlgebraContext &cx, const IntTuple &tuple, int32_t begin, int32_t end) {
  OperationScope scope(cx, "take", tuple);
  if (tuple.isLeaf()) {
    cx.fail("an integer has no modes to take");
    return 0;
  }
  if (!resolveRange(cx, tuple, begin, end))
    return 0;
  return unwrapSingle(cx, tuple.modes().slice(begin, end - begin));
}

IntTuple fly::selectModes(AlgebraContext &cx, const IntTuple &tuple,
                          llvm::ArrayRef<int32_t> indices) {
  OperationScope scope(cx, "select", tuple);
  Modes modes;
  for (int32_t index : indices) {
    if (tuple.isLeaf() || index < 0 || static_cast<unsigned>(index) >= tuple.rank()) {
      cx.fail("mode " + llvm::Twine(index) + " is out of range");
      return 0;
    }
    modes.push_back(tuple.mode(index));
  }
  return unwrapSingle(cx, modes);
}

IntTuple fly::groupModes(AlgebraContext &cx, const IntTuple &tuple, int32_t begin, int32_t end) {
  if (tuple.isLeaf())
    return tuple;
  OperationScope scope(cx, "group", tuple);
  if (!resolveRange(cx, tuple, begin, end) || begin == end)
    return tuple;
  Modes modes(tuple.modes().take_front(begin));
  modes.push_back(makeTuple(cx, tuple.modes().slice(begin, end - begin)));
  llvm::append_range(modes, tuple.modes().drop_front(end));
  return makeTuple(cx, modes);
}

/// How many elements have to be added to reach `rank`, or one without a target rank.
static std::optional<size_t> repetitions(AlgebraContext &cx, const IntTuple &tuple, int32_t rank) {
  if (rank < 0)
    return 1;
  if (static_cast<unsigned>(rank) < tuple.rank() || rank > static_cast<int32_t>(kMaxLeaves)) {
    cx.fail("rank " + llvm::Twine(rank) + " can't be reached from rank " +
            llvm::Twine(tuple.rank()));
    return std::nullopt;
  }
  return rank - tuple.rank();
}

IntTuple fly::appendMode(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &element,
                         int32_t rank) {
  OperationScope scope(cx, "append", tuple, element);
  std::optional<size_t> count = repetitions(cx, tuple, rank);
  if (!count)
    return 0;
  Modes modes(tuple.modes());
  modes.append(*count, element);
  return makeTuple(cx, modes);
}

IntTuple fly::prependMode(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &element,
                          int32_t rank) {
  OperationScope scope(cx, "prepend", tuple, element);
  std::optional<size_t> count = repetitions(cx, tuple, rank);
  if (!count)
    return 0;
  Modes modes(*count, element);
  llvm::append_range(modes, tuple.modes());
  return makeTuple(cx, modes);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Layout fly::getMode(AlgebraContext &cx, const Layout &layout, llvm::ArrayRef<int32_t> mode) {
  return {getMode(cx, layout.shape(), mode), getMode(cx, layout.stride(), mode)};
}

Layout fly::takeModes(AlgebraContext &cx, const Layout &layout, int32_t begin, int32_t end) {
  return {takeModes(cx, layout.shape(), begin, end), takeModes(cx, layout.stride(), begin, end)};
}

Layout fly::selectModes(AlgebraContext &cx, const Layout &layout, llvm::ArrayRef<int32_t> indices) {
  return {selectModes(cx, layout.shape(), indices), selectModes(cx, layout.stride(), indices)};
}

Layout fly::groupModes(AlgebraContext &cx, const Layout &layout, int32_t begin, int32_t end) {
  return {groupModes(cx, layout.shape(), begin, end), groupModes(cx, layout.stride(), begin, end)};
}

Layout fly::appendMode(AlgebraContext &cx, const Layout &layout, const Layout &element,
                       int32_t rank) {
  return {appendMode(cx, layout.shape(), element.shape(), rank),
          appendMode(cx, layout.stride(), element.stride(), rank)};
}

Layout fly::prependMode(AlgebraContext &cx, const Layout &layout, const Layout &element,
                        int32_t rank) {
  return {prependMode(cx, layout.shape(), element.shape(), rank),
          prependMode(cx, layout.stride(), element.stride(), rank)};
}

static void failIncongruent(AlgebraContext &cx, const Layout &layout) {
  cx.fail("shape and stride of " + layout.str() + " are not congruent");
}

llvm::SmallVector<Layout, 4> fly::modesOf(AlgebraContext &cx, const Layout &layout) {
  const IntTuple &shape = layout.shape(), &stride = layout.stride();
  llvm::SmallVector<Layout, 4> modes;
  if (shape.isLeaf() != stride.isLeaf() || shape.rank() != stride.rank()) {
    failIncongruent(cx, layout);
    return modes;
  }
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    modes.emplace_back(s, d);
  return modes;
}

static bool collectLeaves(const IntTuple &shape, const IntTuple &stride,
                          llvm::SmallVectorImpl<Layout> &leaves) {
  if (shape.isLeaf() != stride.isLeaf() || shape.rank() != stride.rank())
    return false;
  if (shape.isLeaf()) {
    leaves.emplace_back(shape, stride);
    return true;
  }
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    if (!collectLeaves(s, d, leaves))
      return false;
  return true;
}

llvm::SmallVector<Layout, 8> fly::flatten(AlgebraContext &cx, const Layout &layout) {
  llvm::SmallVector<Layout, 8> leaves;
  leaves.reserve(layout.shape().leafCount());
  if (!collectLeaves(layout.shape(), layout.stride(), leaves)) {
    failIncongruent(cx, layout);
    leaves.assign(1, Layout(1, 0));
  }
  return leaves;
}

Layout fly::makeLayout(AlgebraContext &cx, llvm::ArrayRef<Layout> modes) {
  Modes shape, stride;
  for (const Layout &mode : modes) {
    shape.push_back(mode.shape());
    stride.push_back(mode.stride());
  }
  return {makeTuple(cx, shape), makeTuple(cx, stride)};
}

bool fly::requireCongruent(AlgebraContext &cx, const Layout &layout) {
  if (!isCongruent(layout.shape(), layout.stride()))
    failIncongruent(cx, layout);
  return !cx.failed();
}

AnyLayout fly::mapOutermost(const AnyLayout &layout,
                            llvm::function_ref<Layout(const Layout &)> fn) {
  if (!layout.isComposed())
    return fn(layout.plain());
  const ComposedLayout &composed = layout.composed();
  return ComposedLayout(composed.inner(), composed.offset(), mapOutermost(composed.outer(), fn));
}

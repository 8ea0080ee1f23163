// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Construct.h"

#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/Product.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Modes = llvm::SmallVector<IntTuple, 4>;

/// Column-major strides for `shape` from `next` on, which moves behind them.
static IntTuple compactStrides(AlgebraContext &cx, const IntTuple &shape, IntTuple &next) {
  return mapLeaves(cx, shape, [&](const IntTuple &extent) {
    IntTuple stride = next;
    next = leafMul(cx, next, extent);
    return stride;
  });
}

Layout fly::columnMajor(AlgebraContext &cx, const IntTuple &shape) {
  IntTuple next = 1;
  return {shape, compactStrides(cx, shape, next)};
}

//===----------------------------------------------------------------------===//
// identity
//===----------------------------------------------------------------------===//

static IntTuple identityStrides(AlgebraContext &cx, const IntTuple &shape, BasisPath path) {
  if (shape.isLeaf())
    return IntTuple(1).withPath(path);
  if (!path.canAppend(shape.rank() - 1)) {
    cx.fail("the shape has more than " + llvm::Twine(BasisPath::kMaxMode + 1) +
            " modes or is deeper than " + llvm::Twine(BasisPath::kMaxLength) + " levels");
    return 0;
  }
  Modes strides;
  for (const auto &[index, mode] : llvm::enumerate(shape.modes()))
    strides.push_back(identityStrides(cx, mode, path.append(index)));
  return makeTuple(cx, strides);
}

Layout fly::identityLayout(AlgebraContext &cx, const IntTuple &shape) {
  OperationScope scope(cx, "make_identity_layout", shape);
  return {shape, identityStrides(cx, shape, {})};
}

//===----------------------------------------------------------------------===//
// Ordered layouts
//===----------------------------------------------------------------------===//

namespace {
/// A part of the shape with the leaf that orders it.
struct OrderedPart {
  IntTuple shape;
  IntTuple order;
  IntTuple start;
};
} // namespace

static void collectParts(AlgebraContext &cx, const IntTuple &shape, const IntTuple &order,
                         llvm::SmallVectorImpl<OrderedPart> &parts) {
  if (order.isLeaf()) {
    parts.push_back({shape, order, 1});
    return;
  }
  if (shape.isLeaf() || shape.rank() != order.rank()) {
    cx.fail("order " + order.str() + " does not match shape " + shape.str());
    return;
  }
  for (const auto &[mode, modeOrder] : llvm::zip_equal(shape.modes(), order.modes()))
    collectParts(cx, mode, modeOrder, parts);
}

/// Whether `a` is ordered before `b`: static orders by value and before dynamic ones. Equal ones
/// are ordered by position, so that parts never overlap.
static bool before(const OrderedPart *a, const OrderedPart *b) {
  const IntTuple &x = a->order, &y = b->order;
  if (x.isStaticLeaf() && y.isStaticLeaf() && x.staticValue() != y.staticValue())
    return x.staticValue() < y.staticValue();
  if (x.isStaticLeaf() != y.isStaticLeaf())
    return x.isStaticLeaf();
  return a < b;
}

/// Gives each part the product of all parts that are ordered before it.
static void assignStarts(AlgebraContext &cx, llvm::MutableArrayRef<OrderedPart> parts) {
  // Multiplied in the order of the shape, as a reader of the computation expects it. Each part has
  // a product of its own then, which takes too long for very many.
  constexpr size_t kMaxOwnProducts = 64;
  if (parts.size() <= kMaxOwnProducts) {
    for (OrderedPart &part : parts)
      for (const OrderedPart &other : parts)
        if (before(&other, &part))
          part.start = leafMul(cx, part.start, tupleProduct(cx, other.shape));
    return;
  }
  llvm::SmallVector<OrderedPart *, 8> sorted;
  for (OrderedPart &part : parts)
    sorted.push_back(&part);
  llvm::sort(sorted, before);
  IntTuple next = 1;
  for (OrderedPart *part : sorted) {
    part->start = next;
    next = leafMul(cx, next, tupleProduct(cx, part->shape));
  }
}

/// Strides with the profile of `shape`, each part compact from its start on.
static IntTuple stridesFrom(AlgebraContext &cx, const IntTuple &shape, const IntTuple &order,
                            llvm::ArrayRef<OrderedPart> &parts) {
  if (order.isLeaf()) {
    IntTuple next = parts.front().start;
    parts = parts.drop_front();
    return compactStrides(cx, shape, next);
  }
  Modes strides;
  for (const auto &[mode, modeOrder] : llvm::zip_equal(shape.modes(), order.modes()))
    strides.push_back(stridesFrom(cx, mode, modeOrder, parts));
  return makeTuple(cx, strides);
}

Layout fly::orderedLayout(AlgebraContext &cx, const IntTuple &shape, const IntTuple &order) {
  OperationScope scope(cx, "make_ordered_layout", shape, order);
  if (order.leafCount() == 1)
    return columnMajor(cx, shape);
  llvm::SmallVector<OrderedPart, 8> parts;
  collectParts(cx, shape, order, parts);
  if (cx.failed())
    return {shape, shape};
  assignStarts(cx, parts);
  llvm::ArrayRef<OrderedPart> remaining = parts;
  return {shape, stridesFrom(cx, shape, order, remaining)};
}

/// `layout`'s shape with extent 1 where the stride is 0.
static IntTuple shapeWithoutBroadcasts(AlgebraContext &cx, const IntTuple &shape,
                                       const IntTuple &stride) {
  if (shape.isLeaf())
    return stride.isStaticInt(0) ? IntTuple(1) : shape;
  Modes modes;
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    modes.push_back(shapeWithoutBroadcasts(cx, s, d));
  return makeTuple(cx, modes);
}

Layout fly::layoutLike(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "make_layout_like", layout);
  if (!requireCongruent(cx, layout))
    return layout;
  const IntTuple room = shapeWithoutBroadcasts(cx, layout.shape(), layout.stride());
  return {layout.shape(), orderedLayout(cx, room, layout.stride()).stride()};
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Column-major strides; leaves of stride 0 keep it and take no room.
static IntTuple compactAtomStrides(AlgebraContext &cx, const IntTuple &shape,
                                   const IntTuple &stride, IntTuple &next) {
  if (shape.isLeaf()) {
    if (stride.isStaticInt(0))
      return 0;
    IntTuple own = next;
    next = leafMul(cx, next, shape);
    return own;
  }
  Modes strides;
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    strides.push_back(compactAtomStrides(cx, s, d, next));
  return makeTuple(cx, strides);
}

Layout fly::fragmentLayout(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "fragment layout", layout);
  if (!requireCongruent(cx, layout))
    return layout;
  if (layout.rank() == 1)
    return columnMajor(cx, layout.shape());
  const llvm::SmallVector<Layout, 4> modes = modesOf(cx, layout);
  IntTuple next = 1;
  const Layout atom(modes[0].shape(),
                    compactAtomStrides(cx, modes[0].shape(), modes[0].stride(), next));
  const Layout rest = makeLayout(cx, llvm::ArrayRef<Layout>(modes).drop_front());
  return tiledProduct(cx, atom, orderedLayout(cx, rest.shape(), rest.stride()));
}

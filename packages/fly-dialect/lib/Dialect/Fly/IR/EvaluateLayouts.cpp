// SPDX-License-Identifier: Apache-2.0
//
// How the algebra lifts from layouts to everything that has one: it acts on the plain layout that
// coordinates enter first, and keeps what surrounds it.

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Divide.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/Product.h"
#include "fly/Algebra/Recast.h"
#include "fly/Algebra/Slice.h"
#include "fly/Algebra/TupleArithmetic.h"
#include "fly/Dialect/Fly/IR/Evaluate.h"

using namespace fly;

/// `fn` on a tuple, or on the layout of anything that has one.
template <typename Fn> static FlyValue onTupleOrLayout(const FlyValue &value, const Fn &fn) {
  if (const auto *tuple = std::get_if<IntTuple>(&value))
    return fn(*tuple);
  auto onLayout = [&](const Layout &layout) -> Layout { return fn(layout); };
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return mapOutermost(*layout, onLayout);
  TensorValue tensor = std::get<TensorValue>(value);
  tensor.layout = mapOutermost(tensor.layout, onLayout);
  return tensor;
}

/// `fn` on the layout of anything that has one.
static FlyValue onLayout(const FlyValue &value, llvm::function_ref<Layout(const Layout &)> fn) {
  if (const auto *layout = std::get_if<AnyLayout>(&value))
    return mapOutermost(*layout, fn);
  TensorValue tensor = std::get<TensorValue>(value);
  tensor.layout = mapOutermost(tensor.layout, fn);
  return tensor;
}

static const Layout &plainLayout(const FlyValue &value) {
  return std::get<AnyLayout>(value).plain();
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

FlyValue evaluate::get(AlgebraContext &cx, const FlyValue &tupleLike,
                       llvm::ArrayRef<int32_t> mode) {
  FlyValue result =
      onTupleOrLayout(tupleLike, [&](const auto &value) { return getMode(cx, value, mode); });
  auto *tensor = std::get_if<TensorValue>(&result);
  // The base coordinate of a part is the part of the base, where there is one.
  if (tensor && !tensor->isMemRef() && tensor->offset.isTuple())
    tensor->offset = getMode(cx, tensor->offset, mode);
  return result;
}

FlyValue evaluate::take(AlgebraContext &cx, const FlyValue &tupleLike, int32_t begin, int32_t end) {
  return onTupleOrLayout(tupleLike,
                         [&](const auto &value) { return takeModes(cx, value, begin, end); });
}

FlyValue evaluate::group(AlgebraContext &cx, const FlyValue &tupleLike, int32_t begin,
                         int32_t end) {
  return onTupleOrLayout(tupleLike,
                         [&](const auto &value) { return groupModes(cx, value, begin, end); });
}

FlyValue evaluate::select(AlgebraContext &cx, const FlyValue &tupleLike,
                          llvm::ArrayRef<int32_t> indices) {
  return onTupleOrLayout(tupleLike,
                         [&](const auto &value) { return selectModes(cx, value, indices); });
}

FlyValue evaluate::append(AlgebraContext &cx, const FlyValue &tuple, const FlyValue &element,
                          int32_t n) {
  if (const auto *integers = std::get_if<IntTuple>(&tuple))
    return appendMode(cx, *integers, std::get<IntTuple>(element), n);
  return onLayout(
      tuple, [&](const Layout &layout) { return appendMode(cx, layout, plainLayout(element), n); });
}

FlyValue evaluate::prepend(AlgebraContext &cx, const FlyValue &tuple, const FlyValue &element,
                           int32_t n) {
  if (const auto *integers = std::get_if<IntTuple>(&tuple))
    return prependMode(cx, *integers, std::get<IntTuple>(element), n);
  return onLayout(tuple, [&](const Layout &layout) {
    return prependMode(cx, layout, plainLayout(element), n);
  });
}

FlyValue evaluate::slice(AlgebraContext &cx, const FlyValue &tupleLike, const IntTuple &coord) {
  if (const auto *tuple = std::get_if<IntTuple>(&tupleLike))
    return fly::slice(cx, *tuple, coord);
  if (const auto *layout = std::get_if<AnyLayout>(&tupleLike)) {
    if (!layout->isComposed())
      return AnyLayout(fly::slice(cx, layout->plain(), coord));
    return sliceWithOffset(cx, *layout, coord).layout;
  }
  const auto &tensor = std::get<TensorValue>(tupleLike);
  SlicedLayout sliced = sliceWithOffset(cx, tensor.layout, coord);
  return advance(cx, {tensor.pointer, tensor.offset, std::move(sliced.layout)}, sliced.offset);
}

FlyValue evaluate::dice(AlgebraContext &cx, const FlyValue &tupleOrLayout, const IntTuple &coord) {
  return onTupleOrLayout(tupleOrLayout,
                         [&](const auto &value) { return fly::dice(cx, value, coord); });
}

//===----------------------------------------------------------------------===//
// Layout functions
//===----------------------------------------------------------------------===//

IntTuple evaluate::size(AlgebraContext &cx, const FlyValue &tupleLike) {
  if (const auto *tuple = std::get_if<IntTuple>(&tupleLike))
    return tupleProduct(cx, *tuple);
  if (const auto *layout = std::get_if<AnyLayout>(&tupleLike))
    return layoutSize(cx, layout->outermost());
  return layoutSize(cx, std::get<TensorValue>(tupleLike).layout.outermost());
}

IntTuple evaluate::crd2idx(AlgebraContext &cx, const IntTuple &coord, const FlyValue &map) {
  if (const auto *layout = std::get_if<AnyLayout>(&map))
    return fly::crd2idx(cx, coord, *layout);
  return applyMap(cx, coord, std::get<InnerMap>(map));
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

FlyValue evaluate::coalesce(AlgebraContext &cx, const FlyValue &layoutLike,
                            const IntTuple *pattern) {
  return onLayout(layoutLike, [&](const Layout &layout) {
    return pattern ? fly::coalesce(cx, layout, *pattern) : fly::coalesce(cx, layout);
  });
}

FlyValue evaluate::composition(AlgebraContext &cx, const FlyValue &layoutLike,
                               const FlyValue &layoutOrTile) {
  return onLayout(layoutLike, [&](const Layout &layout) {
    if (const auto *tile = std::get_if<Tile>(&layoutOrTile))
      return fly::composition(cx, layout, *tile);
    return fly::composition(cx, layout, plainLayout(layoutOrTile));
  });
}

FlyValue evaluate::complement(AlgebraContext &cx, const FlyValue &layout,
                              const IntTuple *codomain) {
  return onLayout(layout, [&](const Layout &plain) {
    return codomain ? fly::complement(cx, plain, *codomain) : fly::complement(cx, plain);
  });
}

FlyValue evaluate::rightInverse(AlgebraContext &cx, const FlyValue &layout) {
  return onLayout(layout, [&](const Layout &plain) { return fly::rightInverse(cx, plain); });
}

FlyValue evaluate::leftInverse(AlgebraContext &cx, const FlyValue &layout) {
  return onLayout(layout, [&](const Layout &plain) { return fly::leftInverse(cx, plain); });
}

FlyValue evaluate::divide(AlgebraContext &cx, Divide kind, const FlyValue &layoutLike,
                          const FlyValue &layoutOrTile) {
  const auto *tile = std::get_if<Tile>(&layoutOrTile);
  const Divisor divisor = tile ? Divisor(*tile) : Divisor(plainLayout(layoutOrTile));
  return onLayout(layoutLike, [&](const Layout &layout) {
    switch (kind) {
    case Divide::Logical:
      return logicalDivide(cx, layout, divisor);
    case Divide::Zipped:
      return zippedDivide(cx, layout, divisor);
    case Divide::Tiled:
      return tiledDivide(cx, layout, divisor);
    case Divide::Flat:
      break;
    }
    return flatDivide(cx, layout, divisor);
  });
}

FlyValue evaluate::product(AlgebraContext &cx, Product kind, const FlyValue &layout,
                           const Layout &tiler) {
  return onLayout(layout, [&](const Layout &plain) {
    switch (kind) {
    case Product::Logical:
    case Product::Zipped:
      return logicalProduct(cx, plain, tiler);
    case Product::Tiled:
      return tiledProduct(cx, plain, tiler);
    case Product::Flat:
      return flatProduct(cx, plain, tiler);
    case Product::Blocked:
      return blockedProduct(cx, plain, tiler);
    case Product::Raked:
      break;
    }
    return rakedProduct(cx, plain, tiler);
  });
}

FlyValue evaluate::recastLayout(AlgebraContext &cx, const FlyValue &layout, int32_t newBits,
                                int32_t oldBits) {
  return recast(cx, std::get<AnyLayout>(layout), newBits, oldBits);
}

FlyValue evaluate::tileToShape(AlgebraContext &cx, const FlyValue &block, const IntTuple &target,
                               const IntTuple &order) {
  return onLayout(block,
                  [&](const Layout &plain) { return fly::tileToShape(cx, plain, target, order); });
}

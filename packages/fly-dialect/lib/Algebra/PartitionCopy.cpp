// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Partition.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Divide.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/Product.h"
#include "fly/Algebra/Recast.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Modes = llvm::SmallVector<Layout, 4>;

/// The two modes of a layout that must have two.
static std::pair<Layout, Layout> splitPair(AlgebraContext &cx, const Layout &layout) {
  const Modes modes = modesOf(cx, layout);
  if (!cx.failed() && (modes.size() != 2 || layout.shape().isLeaf()))
    cx.fail("expected two modes in " + layout.str());
  if (cx.failed())
    return {{1, 0}, {1, 0}};
  return {modes[0], modes[1]};
}

static Tile integerTile(AlgebraContext &cx, llvm::ArrayRef<IntTuple> extents) {
  llvm::SmallVector<Tile, 4> modes;
  for (const IntTuple &extent : extents) {
    if (!extent.isStaticLeaf() || extent.isBasis() || extent.isNone()) {
      cx.fail("extent " + extent.str() + " must be a static integer");
      return Tile::keepAll(1);
    }
    modes.emplace_back(extent);
  }
  return Tile(modes);
}

/// (thread, (atom values, other values)) -> column-major index into the tile.
static Layout threadValuesOfSide(AlgebraContext &cx, const TiledCopyDesc &copy) {
  const auto [referenceThreads, referenceValues] = splitPair(cx, copy.reference);
  const Tile atom =
      integerTile(cx, {layoutSize(cx, referenceThreads), layoutSize(cx, referenceValues)});
  if (cx.failed())
    return {1, 0};
  const auto [perAtom, perRest] = splitPair(cx, zippedDivide(cx, copy.threadValue, atom));
  // From the side's numbering to the reference numbering, which threadValue speaks.
  const Layout toReference = composition(cx, rightInverse(cx, copy.reference), copy.side);
  const auto [atomThreads, atomValues] = splitPair(cx, composition(cx, perAtom, toReference));
  const auto [restThreads, restValues] = splitPair(cx, perRest);
  if (cx.failed())
    return {1, 0};
  const Layout zipped = makeLayout(
      cx, {makeLayout(cx, {atomThreads, restThreads}), makeLayout(cx, {atomValues, restValues})});
  const IntTuple pattern = IntTuple::tuple({1, IntTuple::tuple({1, 1})});
  return coalesce(cx, zipped, pattern);
}

SlicedLayout fly::partitionCopy(AlgebraContext &cx, const TiledCopyDesc &copy,
                                const AnyLayout &tensor, const IntTuple &thread) {
  OperationScope scope(cx, "tiled_copy.partition", tensor, copy.threadValue, copy.tile, thread);
  const Layout threadValues = threadValuesOfSide(cx, copy);
  const AnyLayout view = mapOutermost(tensor, [&](const Layout &layout) {
    const auto [tile, rest] = splitPair(cx, zippedDivide(cx, layout, copy.tile));
    if (cx.failed())
      return layout;
    Modes modes = modesOf(cx, composition(cx, tile, threadValues));
    llvm::append_range(modes, modesOf(cx, rest));
    return makeLayout(cx, modes);
  });
  if (cx.failed())
    return {tensor, 0};
  llvm::SmallVector<IntTuple, 4> coord(view.outermost().rank(), IntTuple::none());
  coord.front() = thread;
  return sliceWithOffset(cx, view, makeTuple(cx, coord));
}

/// The extents of the modes of a tile.
static IntTuple tileShape(AlgebraContext &cx, const Tile &tile) {
  if (tile.isInteger())
    return *tile.leaf();
  if (const Layout *tiler = tile.layout())
    return layoutSize(cx, *tiler);
  if (!tile.isBracketed()) {
    cx.fail("the tile " + tile.str() + " has no extent");
    return 1;
  }
  llvm::SmallVector<IntTuple, 4> extents;
  for (const Tile &mode : tile.modes())
    extents.push_back(tileShape(cx, mode));
  return makeTuple(cx, extents);
}

Layout fly::retile(AlgebraContext &cx, const TiledCopyDesc &copy, const Layout &fragment) {
  OperationScope scope(cx, "tiled_copy.retile", fragment, copy.threadValue, copy.tile);
  const Modes fragmentModes = modesOf(cx, fragment);
  const auto [threads, values] = splitPair(cx, copy.threadValue);
  const auto [referenceThreads, referenceValues] = splitPair(cx, copy.reference);
  if (cx.failed())
    return fragment;
  const IntTuple perAtom = layoutSize(cx, fragmentModes.front());
  const IntTuple perStep = leafMul(cx, layoutSize(cx, threads), perAtom);
  if (cx.failed() || !perStep.isStaticLeaf() || perStep.staticValue() <= 0) {
    cx.fail("threads and values per thread must be static and positive");
    return fragment;
  }
  const Layout tile = columnMajor(cx, tileShape(cx, copy.tile));
  const Layout steps =
      upcast(cx, composition(cx, rightInverse(cx, copy.threadValue), tile), perStep.staticValue());
  const Layout ordered =
      zippedDivide(cx, logicalProduct(cx, Layout(perAtom, 1), rightInverse(cx, steps)),
                   Layout(layoutSize(cx, referenceValues), 1));
  const IntTuple stepExtents = tupleProductEach(cx, steps.shape());
  if (cx.failed())
    return fragment;
  llvm::SmallVector<IntTuple, 4> divisor = {perAtom};
  llvm::append_range(divisor, stepExtents.modes());
  const auto [tiled, rest] = splitPair(cx, zippedDivide(cx, fragment, integerTile(cx, divisor)));
  Modes modes = {composition(cx, tiled, ordered)};
  llvm::append_range(modes, llvm::drop_begin(modesOf(cx, rest), cx.failed() ? 0 : 1));
  return makeLayout(cx, modes);
}

// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Product.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Modes = llvm::SmallVector<Layout, 4>;

/// Where the repetitions of `a` start.
static Layout repetitions(AlgebraContext &cx, const Layout &a, const Layout &b) {
  const IntTuple codomain = leafMul(cx, layoutSize(cx, a), cosize(cx, b));
  return composition(cx, complement(cx, a, codomain), b);
}

Layout fly::logicalProduct(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "logical_product", a, b);
  return canonicalise(cx, makeLayout(cx, {a, repetitions(cx, a, b)}));
}

/// Both modes of the logical product.
static std::pair<Layout, Layout> productModes(AlgebraContext &cx, const Layout &a,
                                              const Layout &b) {
  const Modes modes = modesOf(cx, logicalProduct(cx, a, b));
  if (cx.failed() || modes.size() != 2)
    return {a, b};
  return {modes[0], modes[1]};
}

Layout fly::tiledProduct(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "tiled_product", a, b);
  const auto [block, repeats] = productModes(cx, a, b);
  Modes modes = {block};
  llvm::append_range(modes, modesOf(cx, repeats));
  return makeLayout(cx, modes);
}

Layout fly::flatProduct(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "flat_product", a, b);
  const auto [block, repeats] = productModes(cx, a, b);
  Modes modes = modesOf(cx, block);
  llvm::append_range(modes, modesOf(cx, repeats));
  return makeLayout(cx, modes);
}

/// The modes of `a` and of its repetitions, in pairs.
static Layout pairedProduct(AlgebraContext &cx, const Layout &a, const Layout &b,
                            bool repetitionFirst) {
  const unsigned rank = std::max(a.rank(), b.rank());
  const Layout one(1, 0);
  const Layout paddedA = rank == a.rank() ? a : appendMode(cx, a, one, rank);
  const Layout paddedB = rank == b.rank() ? b : appendMode(cx, b, one, rank);
  Modes blocks = modesOf(cx, paddedA);
  const Layout repeated = repetitions(cx, paddedA, paddedB);
  // Composition unwraps a tuple of rank 1, so a single mode is the repetitions as a whole.
  Modes repeats = rank == 1 ? Modes{repeated} : modesOf(cx, repeated);
  Modes pairs;
  for (const auto &[block, repeat] : llvm::zip(blocks, repeats))
    pairs.push_back(repetitionFirst ? makeLayout(cx, {repeat, block})
                                    : makeLayout(cx, {block, repeat}));
  return canonicalise(cx, makeLayout(cx, pairs));
}

Layout fly::blockedProduct(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "blocked_product", a, b);
  return pairedProduct(cx, a, b, /*repetitionFirst=*/false);
}

Layout fly::rakedProduct(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "raked_product", a, b);
  return pairedProduct(cx, a, b, /*repetitionFirst=*/true);
}

Layout fly::tileToShape(AlgebraContext &cx, const Layout &block, const IntTuple &target,
                        const IntTuple &order) {
  OperationScope scope(cx, "tile_to_shape", block, target, order);
  if (block.rank() > target.rank()) {
    cx.fail("the block has more modes than the target shape");
    return block;
  }
  const Layout padded =
      block.rank() == target.rank() ? block : appendMode(cx, block, Layout(1, 0), target.rank());
  llvm::SmallVector<IntTuple, 4> counts;
  for (const auto &[extent, mode] : llvm::zip(target.modes(), padded.shape().modes()))
    counts.push_back(leafCeilDiv(cx, tupleProduct(cx, extent), tupleProduct(cx, mode)));
  const IntTuple repeats = target.isLeaf() ? counts.front() : makeTuple(cx, counts);
  return blockedProduct(cx, padded, orderedLayout(cx, repeats, order));
}

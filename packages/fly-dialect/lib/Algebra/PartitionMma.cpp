// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Divide.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/MmaTiling.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/Partition.h"
#include "fly/Algebra/Product.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Modes = llvm::SmallVector<Layout, 4>;

/// Which of M, N, K the two axes of a role's matrix are.
static std::array<unsigned, 2> axesOf(MmaRole role) {
  switch (role) {
  case MmaRole::A:
    return {0, 2};
  case MmaRole::B:
    return {1, 2};
  case MmaRole::C:
    break;
  }
  return {0, 1};
}

namespace {
/// The tilers of one role, one tile mode per axis of its matrix.
struct AxisTiles {
  Tile permutation = Tile::keepAll(2);
  Tile atom = Tile::keepAll(2);
  Tile groups = Tile::keepAll(2);
};

/// The modes of a partitioned matrix: which threads, and what each of them holds.
struct MmaView {
  Layout threadsInAtom;
  Layout groups;
  Layout valuesInAtom;
  Layout rest;
};
} // namespace

/// The atoms along M, N and K, a mode of `mma.atomLayout` each.
static Modes atomModes(AlgebraContext &cx, const TiledMmaDesc &mma) {
  Modes modes = modesOf(cx, mma.atomLayout);
  if (!cx.failed() &&
      (modes.size() != 3 || mma.permutation.rank() != 3 || !mma.permutation.isBracketed()))
    cx.fail("atom layout and permutation must have the three modes M, N, K");
  return modes;
}

/// What an axis of M, N, K is permuted by before it is cut into atoms, by default the extent that
/// they cover together; and how many atoms there are along it.
static std::pair<Tile, IntTuple> axisTile(AlgebraContext &cx, const TiledMmaDesc &mma,
                                          const Modes &atoms, unsigned axis) {
  const IntTuple count = layoutSize(cx, atoms[axis]);
  const IntTuple covered = leafMul(cx, mma.atomShape[axis], count);
  if (cx.failed() || !count.isStaticLeaf()) {
    cx.fail("the atom layout must be static");
    return {Tile(IntTuple(1)), 1};
  }
  const Tile &permutation = mma.permutation.modes()[axis];
  return {permutation.isKeep() ? Tile(covered) : permutation, count};
}

static AxisTiles axisTiles(AlgebraContext &cx, const TiledMmaDesc &mma) {
  AxisTiles result;
  const Modes atoms = atomModes(cx, mma);
  if (cx.failed())
    return result;
  llvm::SmallVector<Tile, 2> permutation, atom, groups;
  for (unsigned axis : axesOf(mma.role)) {
    auto [permuted, count] = axisTile(cx, mma, atoms, axis);
    if (cx.failed())
      return result;
    permutation.push_back(permuted);
    atom.emplace_back(IntTuple(mma.atomShape[axis]));
    groups.emplace_back(count);
  }
  return {Tile(permutation), Tile(atom), Tile(groups)};
}

/// How many elements a tile covers.
static IntTuple extentOf(AlgebraContext &cx, const Tile &tile) {
  IntTuple extent = 1;
  if (tile.isBracketed()) {
    for (const Tile &mode : tile.modes())
      extent = leafMul(cx, extent, extentOf(cx, mode));
  } else {
    extent = tile.layout() ? layoutSize(cx, *tile.layout()) : *tile.leaf();
  }
  if (!cx.failed() && !extent.isStaticLeaf())
    cx.fail("the permutation must be static");
  return extent;
}

/// Both modes of a zipped layout.
static std::pair<Layout, Layout> zippedModes(AlgebraContext &cx, const Layout &zipped) {
  const Modes modes = modesOf(cx, zipped);
  if (cx.failed() || modes.size() != 2)
    return {{1, 0}, {1, 0}};
  return {modes[0], modes[1]};
}

static MmaView viewOf(AlgebraContext &cx, const TiledMmaDesc &mma, const AxisTiles &tiles,
                      const Layout &tensor) {
  MmaView view;
  if (tensor.shape().isLeaf()) {
    cx.fail("a matrix needs at least two modes");
    return view;
  }
  const Layout permuted = logicalDivide(cx, tensor, tiles.permutation);
  const auto [atom, beyond] = zippedModes(cx, zippedDivide(cx, permuted, tiles.atom));
  const Modes threadValue = modesOf(cx, composition(cx, atom, mma.operand));
  const auto [groups, rest] = zippedModes(cx, zippedDivide(cx, beyond, tiles.groups));
  if (!cx.failed() && threadValue.size() != 2)
    cx.fail("expected the two modes (thread, value) in " + mma.operand.str());
  if (!cx.failed())
    view = {threadValue[0], groups, threadValue[1], rest};
  return view;
}

/// (values, rest0, rest1, ...), what each thread holds.
static Layout valuesOf(AlgebraContext &cx, const MmaView &view) {
  Modes modes = {view.valuesInAtom};
  llvm::append_range(modes, modesOf(cx, view.rest));
  return makeLayout(cx, modes);
}

/// ((thread in atom, groups), (the part of the thread coordinate that selects them)).
static IntTuple threadCoord(AlgebraContext &cx, const TiledMmaDesc &mma, const IntTuple &thread) {
  const Layout vmnk = mmaThreads(cx, mma);
  const IntTuple coord = idx2crd(cx, thread, vmnk);
  if (cx.failed() || coord.rank() != 4) {
    cx.fail("expected the modes (V, M, N, K) in " + vmnk.str());
    return 0;
  }
  const std::array<unsigned, 2> axes = axesOf(mma.role);
  return makeTuple(
      cx, {coord.mode(0), makeTuple(cx, {coord.mode(1 + axes[0]), coord.mode(1 + axes[1])})});
}

SlicedLayout fly::partitionMma(AlgebraContext &cx, const TiledMmaDesc &mma, const AnyLayout &tensor,
                               const IntTuple &thread) {
  OperationScope scope(cx, "tiled_mma.partition", tensor, mma.atomLayout, mma.permutation, thread);
  const AxisTiles tiles = axisTiles(cx, mma);
  const AnyLayout view = mapOutermost(tensor, [&](const Layout &layout) {
    const MmaView modes = viewOf(cx, mma, tiles, layout);
    return makeLayout(cx,
                      {makeLayout(cx, {modes.threadsInAtom, modes.groups}), valuesOf(cx, modes)});
  });
  const IntTuple coord = threadCoord(cx, mma, thread);
  if (cx.failed())
    return {tensor, 0};
  const IntTuple keep = IntTuple::none();
  const llvm::SmallVector<IntTuple, 4> values(view.outermost().shape().mode(1).rank(), keep);
  return sliceWithOffset(cx, view, makeTuple(cx, {coord, makeTuple(cx, values)}));
}

IntTuple fly::partitionMmaShape(AlgebraContext &cx, const TiledMmaDesc &mma,
                                const IntTuple &shape) {
  OperationScope scope(cx, "tiled_mma.partition_shape", shape, mma.atomLayout, mma.permutation);
  const MmaView view = viewOf(cx, mma, axisTiles(cx, mma), columnMajor(cx, shape));
  return valuesOf(cx, view).shape();
}

Layout fly::mmaFragment(AlgebraContext &cx, const TiledMmaDesc &mma, const AnyLayout &tensor,
                        int32_t stages) {
  OperationScope scope(cx, "mma.make_fragment", tensor, mma.atomLayout, mma.permutation);
  const Layout values = valuesOf(cx, viewOf(cx, mma, axisTiles(cx, mma), tensor.outermost()));
  if (cx.failed() || stages <= 0)
    return fragmentLayout(cx, values);
  const Layout fragment = fragmentLayout(cx, takeModes(cx, values, 0, 3));
  return appendMode(cx, fragment, Layout(stages, cosize(cx, fragment)));
}

Layout fly::mmaThreads(AlgebraContext &cx, const TiledMmaDesc &mma) {
  OperationScope scope(cx, "tiled_mma.threads", mma.atomThreads, mma.atomLayout);
  return tiledProduct(cx, mma.atomThreads, mma.atomLayout);
}

IntTuple fly::mmaTile(AlgebraContext &cx, const TiledMmaDesc &mma) {
  OperationScope scope(cx, "tiled_mma.tile", mma.atomLayout, mma.permutation);
  const Modes atoms = atomModes(cx, mma);
  llvm::SmallVector<IntTuple, 3> extents;
  for (unsigned axis = 0; axis < 3 && !cx.failed(); ++axis)
    extents.push_back(extentOf(cx, axisTile(cx, mma, atoms, axis).first));
  return cx.failed() ? IntTuple(1) : makeTuple(cx, extents);
}

Layout fly::mmaThreadValues(AlgebraContext &cx, const TiledMmaDesc &mma) {
  OperationScope scope(cx, "tiled_mma.tv_layout", mma.atomLayout, mma.permutation);
  const AxisTiles tiles = axisTiles(cx, mma);
  llvm::SmallVector<IntTuple, 2> extents;
  for (const Tile &axis : tiles.permutation.modes())
    extents.push_back(cx.failed() ? IntTuple(1) : extentOf(cx, axis));
  const MmaView view = viewOf(cx, mma, tiles, columnMajor(cx, makeTuple(cx, extents)));
  const Modes groups = modesOf(cx, view.groups);
  if (cx.failed() || groups.size() != 2)
    return {1, 0};
  // Atoms along the axis that the matrix does not have hold the same elements.
  Modes modes = {view.threadsInAtom};
  for (const Layout &atoms : atomModes(cx, mma))
    modes.emplace_back(layoutSize(cx, atoms), 0);
  const std::array<unsigned, 2> axes = axesOf(mma.role);
  modes[1 + axes[0]] = groups[0];
  modes[1 + axes[1]] = groups[1];
  const Layout threads =
      composition(cx, makeLayout(cx, modes), rightInverse(cx, mmaThreads(cx, mma)));
  return makeLayout(cx, {threads, makeLayout(cx, {view.valuesInAtom, view.rest})});
}

// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Divide.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Inverse.h"
#include "fly/Algebra/Modes.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Modes = llvm::SmallVector<Layout, 4>;

void Divisor::print(llvm::raw_ostream &os) const {
  std::visit([&](const auto &value) { os << value; }, alternative);
}

//===----------------------------------------------------------------------===//
// logical_divide
//===----------------------------------------------------------------------===//

static Layout divideByLayout(AlgebraContext &cx, const Layout &layout, const Layout &tiler) {
  const IntTuple size = layoutSize(cx, coalesce(cx, layout));
  return composition(cx, layout, makeLayout(cx, {tiler, complement(cx, tiler, size)}));
}

static Layout divideByTile(AlgebraContext &cx, const Layout &layout, const Tile &tile) {
  if (cx.failed() || tile.isKeep())
    return layout;
  if (const Layout *tiler = tile.layout())
    return divideByLayout(cx, layout, *tiler);
  if (tile.isInteger())
    return divideByLayout(cx, layout, Layout(*tile.leaf(), 1));
  if (!tile.isBracketed()) {
    cx.fail("a dynamic tile mode can't be applied");
    return layout;
  }
  Modes modes = modesOf(cx, layout);
  if (tile.rank() > modes.size()) {
    cx.fail("the tile has more modes than the layout");
    return layout;
  }
  for (const auto &[mode, modeTile] : llvm::zip(modes, tile.modes()))
    mode = divideByTile(cx, mode, modeTile);
  return makeLayout(cx, modes);
}

static Layout divide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  if (const Layout *tiler = divisor.layout())
    return divideByLayout(cx, layout, *tiler);
  return divideByTile(cx, layout, *divisor.tile());
}

Layout fly::logicalDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  OperationScope scope(cx, "logical_divide", layout, divisor);
  return divide(cx, layout, divisor);
}

//===----------------------------------------------------------------------===//
// Zipping
//===----------------------------------------------------------------------===//

namespace {
struct TileAndRest {
  Layout tile;
  Layout rest;
};
} // namespace

static TileAndRest zip(AlgebraContext &cx, const Layout &divided, const Tile *tile) {
  Modes modes = modesOf(cx, divided);
  if (cx.failed())
    return {};
  if (!tile || !tile->isBracketed()) {
    if (tile && tile->isKeep())
      cx.fail("a tile mode '*' has no rest to separate");
    else if (modes.size() != 2 || divided.shape().isLeaf())
      cx.fail("expected the two modes (tile, rest) in " + divided.str());
    return cx.failed() ? TileAndRest() : TileAndRest{modes[0], modes[1]};
  }
  Modes tiles, rests;
  for (const auto &[mode, modeTile] : llvm::zip(modes, tile->modes())) {
    TileAndRest zipped = zip(cx, mode, &modeTile);
    if (cx.failed())
      return {};
    tiles.push_back(std::move(zipped.tile));
    rests.push_back(std::move(zipped.rest));
  }
  rests.append(modes.begin() + tiles.size(), modes.end());
  return {makeLayout(cx, tiles), makeLayout(cx, rests)};
}

static TileAndRest divideAndZip(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  return zip(cx, divide(cx, layout, divisor), divisor.tile());
}

Layout fly::zippedDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  OperationScope scope(cx, "zipped_divide", layout, divisor);
  TileAndRest zipped = divideAndZip(cx, layout, divisor);
  return makeLayout(cx, {zipped.tile, zipped.rest});
}

Layout fly::tiledDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  OperationScope scope(cx, "tiled_divide", layout, divisor);
  TileAndRest zipped = divideAndZip(cx, layout, divisor);
  Modes modes = {zipped.tile};
  llvm::append_range(modes, modesOf(cx, zipped.rest));
  return makeLayout(cx, modes);
}

Layout fly::flatDivide(AlgebraContext &cx, const Layout &layout, const Divisor &divisor) {
  OperationScope scope(cx, "flat_divide", layout, divisor);
  TileAndRest zipped = divideAndZip(cx, layout, divisor);
  Modes modes = modesOf(cx, zipped.tile);
  llvm::append_range(modes, modesOf(cx, zipped.rest));
  return makeLayout(cx, modes);
}

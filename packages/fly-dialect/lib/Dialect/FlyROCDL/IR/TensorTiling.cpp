// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/FlyROCDL/IR/TensorTiling.h"
#include "fly/Algebra/Compose.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <tuple>

using namespace llvm;

namespace fly::rocdl {
namespace {

/// One leaf of the tensor.
struct Axis {
  IntTuple extent;
  IntTuple stride;
  unsigned mode;
  int64_t tile = 1; ///< elements of the tile along it
  int64_t box = 1;  ///< of those, elements of the box
};

/// A run of tile elements along one axis that are equally far apart in LDS.
struct Piece {
  unsigned axis;
  unsigned number; ///< within its axis
  int64_t extent;
  int64_t stride;
};

void collectAxes(const IntTuple &shape, const IntTuple &stride, unsigned mode,
                 SmallVectorImpl<Axis> &axes) {
  if (shape.isLeaf()) {
    axes.push_back({shape, stride, mode});
    return;
  }
  for (auto [subShape, subStride] : zip_equal(shape.modes(), stride.modes()))
    collectAxes(subShape, subStride, mode, axes);
}

class BoxFitter {
public:
  BoxFitter(const Layout &tensor, const Layout &lds, const Tile &tiler)
      : tensor(tensor), lds(lds), tiler(tiler) {}

  Error fit(int32_t numWarps, TensorBox &box);

private:
  Error readTile();
  Error distribute(unsigned mode, int64_t elements);
  Error collectPieces();
  Error growBox(TensorBox &box);
  void orderRest();
  Error splitWarps(int32_t numWarps);
  IntTuple dimensionsOf(const IntTuple &shape, unsigned &leaf) const;

  const Layout &tensor;
  const Layout &lds;
  const Tile &tiler;
  SmallVector<Axis> axes;
  SmallVector<Piece> pieces;
  SmallVector<unsigned> order; ///< axes, innermost first
};

} // namespace

/// Checks the tile against LDS, and gives each axis its share.
Error BoxFitter::readTile() {
  if (!isCongruent(tensor.shape(), tensor.stride()))
    return createStringError("the tensor's stride is not congruent with its shape: " +
                             tensor.str());
  for (auto [index, mode] : enumerate(lds.shape().modes())) {
    const IntTuple &stride = lds.stride().isLeaf() ? lds.stride() : lds.stride().mode(index);
    if (!mode.isStatic() || !stride.isStatic())
      return createStringError("the LDS tile must be fully static, mode " + Twine(index) +
                               " is not");
  }
  for (auto [index, mode] : enumerate(tensor.shape().modes()))
    collectAxes(mode, tensor.stride().isLeaf() ? tensor.stride() : tensor.stride().mode(index),
                index, axes);

  ArrayRef<Tile> modes = tiler.isBracketed() ? tiler.modes() : ArrayRef<Tile>(tiler);
  if (modes.size() > tensor.rank())
    return createStringError("the tiler " + tiler.str() + " is deeper than the tensor " +
                             tensor.str());
  int64_t tilerElements = 1;
  SmallVector<int64_t> extents;
  for (const Tile &mode : modes) {
    if (mode.isBracketed())
      return createStringError("the tiler " + tiler.str() + " is deeper than the tensor " +
                               tensor.str());
    if (const Layout *layout = mode.layout()) {
      if (!layout->shape().isStaticLeaf() || !layout->stride().isStaticInt(1))
        return createStringError("tiler mode " + layout->str() +
                                 ": a strided (layout) tiler mode is not modelled");
      extents.push_back(layout->shape().staticValue());
    } else {
      extents.push_back(mode.isInteger() ? mode.leaf()->staticValue() : 0);
    }
    tilerElements *= extents.back();
  }
  int64_t ldsElements = 1;
  forEachLeaf(lds.shape(), [&](const IntTuple &leaf) { ldsElements *= leaf.staticValue(); });
  if (tilerElements != ldsElements || tilerElements <= 0)
    return createStringError("the tiler holds " + Twine(tilerElements) +
                             " elements but the LDS tile holds " + Twine(ldsElements) +
                             "; a tiler reshapes the tile, it does not shrink it");
  for (auto [mode, extent] : enumerate(extents))
    if (Error error = distribute(mode, extent))
      return error;
  return Error::success();
}

/// Spreads the tile's extent along a tensor mode over its leaves, the first ones first.
Error BoxFitter::distribute(unsigned mode, int64_t elements) {
  SmallVector<Axis *> own;
  for (Axis &axis : axes)
    if (axis.mode == mode)
      own.push_back(&axis);
  for (Axis *axis : own) {
    bool last = axis == own.back();
    if (!last && axis->extent.isStaticLeaf() && elements > axis->extent.staticValue()) {
      int64_t extent = axis->extent.staticValue();
      if (extent <= 0 || elements % extent != 0)
        return createStringError("tiler mode " + Twine(mode) + " cuts a mode of " + tensor.str() +
                                 " unevenly");
      axis->tile = extent;
    } else {
      axis->tile = elements;
    }
    elements /= axis->tile;
  }
  return Error::success();
}

/// Looks up where the tile's elements along each axis lie in LDS.
Error BoxFitter::collectPieces() {
  int64_t before = 1; // Elements of the tile that one step along the axis passes.
  for (auto [index, axis] : enumerate(axes)) {
    if (axis.tile == 1)
      continue;
    AlgebraContext algebra;
    Layout run =
        coalesce(algebra, composition(algebra, lds, Layout(int32_t(axis.tile), int32_t(before))));
    if (algebra.failed())
      return createStringError("the tile does not fit the LDS layout: " + algebra.message());
    SmallVector<std::pair<int64_t, int64_t>> runs;
    SmallVector<Axis> leaves;
    collectAxes(run.shape(), run.stride(), 0, leaves);
    unsigned number = 0;
    for (const Axis &leaf : leaves) {
      int64_t extent = leaf.extent.staticValue();
      int64_t stride = leaf.stride.staticValue();
      if (extent == 1)
        continue;
      if (stride <= 0)
        return createStringError("the LDS tile " + lds.str() + " has a mode of stride " +
                                 Twine(stride));
      pieces.push_back({static_cast<unsigned>(index), number++, extent, stride});
    }
    before *= axis.tile;
  }
  return Error::success();
}

/// Takes pieces in the order of LDS as long as each continues the box.
Error BoxFitter::growBox(TensorBox &box) {
  sort(pieces, [](const Piece &a, const Piece &b) {
    return std::tie(a.stride, a.axis, a.number) < std::tie(b.stride, b.axis, b.number);
  });
  if (!pieces.empty() && pieces.front().stride != 1)
    return createStringError("the LDS tile is not contiguous along its fastest axis");
  SmallVector<unsigned> taken(axes.size(), 0);
  int64_t elements = 1;
  int64_t end = 1; // Where the next element would lie in LDS.
  for (const Piece &piece : pieces) {
    bool continues = !order.empty() && order.back() == piece.axis;
    if (piece.number != taken[piece.axis] || (piece.number != 0 && !continues))
      break; // The rest takes further boxes.
    if (piece.stride != end) {
      if (piece.stride < end || box.padInterval != 0)
        return createStringError("the LDS strides are not of single-pad form");
      box.padInterval = static_cast<int32_t>(elements);
      box.padAmount = static_cast<int32_t>(piece.stride - end);
    }
    if (!continues)
      order.push_back(piece.axis);
    ++taken[piece.axis];
    axes[piece.axis].box *= piece.extent;
    elements *= piece.extent;
    end = piece.stride * piece.extent;
  }
  return Error::success();
}

/// Axes along which the box has one element are outer dimensions, by their distance in global
/// memory.
void BoxFitter::orderRest() {
  SmallVector<unsigned> rest;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (!is_contained(order, axis))
      rest.push_back(axis);
  auto distance = [&](unsigned axis) {
    const IntTuple &stride = axes[axis].stride;
    return stride.isStaticLeaf() ? int64_t(stride.staticValue())
                                 : std::numeric_limits<int64_t>::max();
  };
  sort(rest, [&](unsigned a, unsigned b) {
    return std::pair(distance(a), a) < std::pair(distance(b), b);
  });
  order.append(rest);
}

Error BoxFitter::splitWarps(int32_t numWarps) {
  if (numWarps <= 0)
    return createStringError("num_warps must be positive, got " + Twine(numWarps));
  int64_t rest = numWarps;
  for (unsigned axis : reverse(order)) {
    int64_t &extent = axes[axis].box;
    if (extent % rest == 0) {
      extent /= rest;
      rest = 1;
    } else if (rest % extent == 0) {
      rest /= extent;
      extent = 1;
    } else {
      return createStringError("num_warps cuts a descriptor axis unevenly");
    }
  }
  if (rest != 1)
    return createStringError("num_warps exceeds the logical descriptor box");
  return Error::success();
}

/// `1Ed` for each leaf, d being its dimension, outermost first.
IntTuple BoxFitter::dimensionsOf(const IntTuple &shape, unsigned &leaf) const {
  if (shape.isLeaf()) {
    auto position = static_cast<unsigned>(find(order, leaf++) - order.begin());
    return IntTuple(1).withPath(BasisPath().append(order.size() - 1 - position));
  }
  SmallVector<IntTuple> modes;
  for (const IntTuple &mode : shape.modes())
    modes.push_back(dimensionsOf(mode, leaf));
  return IntTuple::tuple(modes);
}

Error BoxFitter::fit(int32_t numWarps, TensorBox &box) {
  if (Error error = readTile())
    return error;
  if (Error error = collectPieces())
    return error;
  if (Error error = growBox(box))
    return error;
  orderRest();
  constexpr size_t maxRank = 5;
  if (order.size() > maxRank)
    return createStringError("a tensor copy has at most 5 dimensions, the tensor has " +
                             Twine(order.size()));
  if (!axes[order.front()].stride.isStaticInt(1)) {
    if (any_of(axes, [](const Axis &axis) { return axis.stride.isStaticInt(1); }))
      return createStringError("the majorness of the LDS tile and of the tensor differ");
    return createStringError("the innermost descriptor dim is not contiguous in global memory");
  }
  if (Error error = splitWarps(numWarps))
    return error;
  for (unsigned axis : reverse(order)) {
    box.shape.push_back(static_cast<int32_t>(axes[axis].box));
    box.leafOfDimension.push_back(axis);
  }
  unsigned leaf = 0;
  box.tensorToTDM = dimensionsOf(tensor.shape(), leaf);
  return Error::success();
}

Expected<TensorBox> fitTensorBox(const Layout &tensor, const Layout &lds, const Tile &tiler,
                                 int32_t numWarps) {
  TensorBox box;
  if (Error error = BoxFitter(tensor, lds, tiler).fit(numWarps, box))
    return error;
  return box;
}

} // namespace fly::rocdl

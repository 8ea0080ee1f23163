// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Coordinates.h"

#include "fly/Algebra/Modes.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <numeric>

using namespace fly;

using Modes = llvm::SmallVector<IntTuple, 4>;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

IntTuple fly::layoutSize(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "size", layout);
  return tupleProduct(cx, layout.shape());
}

IntTuple fly::coprofile(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "coprofile", layout);
  // Only which paths occur matters: sums of static representatives, so that nothing is computed at
  // run time and nothing overflows.
  IntTuple profile = 0;
  forEachLeaf(layout.stride(), [&](const IntTuple &stride) {
    const bool plainZero = stride.isStaticInt(0);
    IntTuple representative = plainZero ? IntTuple(0) : IntTuple(1).withPath(stride.path());
    if (profile.isPlainInt() && representative.isPlainInt())
      profile = plainZero ? profile : representative;
    else
      profile = tupleAdd(cx, profile, representative);
  });
  return mapLeaves(cx, expandBasis(cx, profile), [](const IntTuple &) { return IntTuple(0); });
}

/// The last index of each leaf of a layout.
static IntTuple lastIndices(AlgebraContext &cx, const IntTuple &shape, const IntTuple &stride) {
  if (shape.isLeaf())
    return leafMul(cx, shape, stride);
  Modes modes;
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    modes.push_back(lastIndices(cx, s, d));
  return makeTuple(cx, modes);
}

static IntTuple sumOfLeaves(AlgebraContext &cx, const IntTuple &tuple) {
  if (tuple.isLeaf())
    return tuple;
  IntTuple sum = 0;
  for (const IntTuple &mode : tuple.modes())
    sum = tupleAdd(cx, sum, sumOfLeaves(cx, mode));
  return sum;
}

IntTuple fly::coshape(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "coshape", layout);
  if (!requireCongruent(cx, layout))
    return 0;
  if (!layout.isStatic())
    announceConstants(cx, 1);
  const IntTuple last =
      mapLeaves(cx, layout.shape(), [&](const IntTuple &extent) { return leafSub(cx, extent, 1); });
  const IntTuple sum = sumOfLeaves(cx, lastIndices(cx, last, layout.stride()));
  return mapLeaves(cx, expandBasis(cx, sum),
                   [&](const IntTuple &leaf) { return leafAdd(cx, leaf, 1); });
}

IntTuple fly::cosize(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "cosize", layout);
  return tupleProduct(cx, coshape(cx, layout));
}

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

/// gcd(divisibility, 2^bit): what is still known of a value whose bits from `bit` on changed.
static int32_t divisibilityAbove(const IntTuple &value, int32_t bit) {
  return std::gcd(value.divisibility(), 1 << bit);
}

IntTuple fly::applySwizzle(AlgebraContext &cx, const IntTuple &index, const Swizzle &swizzle) {
  OperationScope scope(cx, "swizzle", index, swizzle);
  if (!index.isLeaf() || index.isBasis()) {
    cx.fail("a swizzle applies to an integer");
    return 0;
  }
  if (swizzle.isTrivial())
    return index;
  if (!swizzle.isApplicable()) {
    cx.fail("the swizzle's bits don't lie within 31 bits");
    return 0;
  }
  if (index.isStaticLeaf())
    return swizzle.apply(index.staticValue());
  announceConstants(cx, {static_cast<int32_t>(swizzle.sourceMask()), std::abs(swizzle.shift)},
                    index.width());
  IntTuple bits = leafAnd(cx, index, static_cast<int32_t>(swizzle.sourceMask()));
  bits = swizzle.shift >= 0 ? leafShiftRight(cx, bits, swizzle.shift)
                            : leafShiftLeft(cx, bits, -swizzle.shift);
  return leafXor(cx, index, bits, divisibilityAbove(index, swizzle.base));
}

/// `tuple` with the part at `path` replaced.
static IntTuple replaceAt(AlgebraContext &cx, const IntTuple &tuple, llvm::ArrayRef<int32_t> path,
                          const IntTuple &part) {
  if (path.empty())
    return part;
  Modes modes(tuple.modes());
  modes[path.front()] = replaceAt(cx, tuple.mode(path.front()), path.drop_front(), part);
  return makeTuple(cx, modes);
}

IntTuple fly::applySwizzle(AlgebraContext &cx, const IntTuple &coord, const CoordSwizzle &swizzle) {
  OperationScope scope(cx, "coord_swizzle", coord, swizzle);
  if (swizzle.isTrivial())
    return coord;
  if (!swizzle.isApplicable()) {
    cx.fail("the swizzle's bits don't lie within 31 bits");
    return 0;
  }
  const IntTuple row = getMode(cx, coord, swizzle.rowPath);
  const IntTuple col = getMode(cx, coord, swizzle.colPath);
  if (cx.failed())
    return 0;
  if (!row.isLeaf() || row.isBasis() || !col.isLeaf() || col.isBasis()) {
    cx.fail("the paths must lead to integers");
    return 0;
  }
  const auto mask = static_cast<int32_t>((uint32_t(1) << swizzle.mask) - 1);
  if (col.isStaticLeaf() && !row.isStaticLeaf())
    announceConstants(cx, col.staticValue(), row.width());
  if (!row.isStaticLeaf()) {
    announceConstants(cx, mask, row.width());
    for (int32_t distance : {swizzle.baseRow, swizzle.baseCol})
      if (distance != 0)
        announceConstants(cx, distance, row.width());
  }
  IntTuple bits = leafShiftRight(cx, row, swizzle.baseRow);
  bits = leafAnd(cx, bits, mask);
  bits = leafShiftLeft(cx, bits, swizzle.baseCol);
  IntTuple swizzled = leafXor(cx, col, bits, divisibilityAbove(col, swizzle.baseCol));
  return replaceAt(cx, coord, swizzle.colPath, swizzled);
}

//===----------------------------------------------------------------------===//
// Coordinate to index
//===----------------------------------------------------------------------===//

static IntTuple indexOf(AlgebraContext &cx, const IntTuple &coord, const IntTuple &shape,
                        const IntTuple &stride) {
  if (cx.failed())
    return 0;
  if (shape.isLeaf()) {
    if (coord.isTuple() && coord.rank() == 1)
      return indexOf(cx, coord.mode(0), shape, stride);
    if (coord.isTuple()) {
      cx.fail("coordinate " + coord.str() + " has more modes than " + shape.str());
      return 0;
    }
    return leafMul(cx, coord, stride);
  }
  if (coord.isTuple() && coord.rank() != shape.rank()) {
    cx.fail("coordinate " + coord.str() + " and shape " + shape.str() + " differ in rank");
    return 0;
  }
  IntTuple index = 0;
  IntTuple rest = coord;
  for (unsigned i = 0, rank = shape.rank(); i != rank; ++i) {
    IntTuple part;
    if (coord.isTuple()) {
      part = coord.mode(i);
    } else if (i + 1 == rank) {
      part = rest;
    } else {
      const IntTuple extent = tupleProduct(cx, shape.mode(i));
      part = leafMod(cx, rest, extent);
      rest = leafDiv(cx, rest, extent);
    }
    index = tupleAdd(cx, index, indexOf(cx, part, shape.mode(i), stride.mode(i)));
  }
  return index;
}

IntTuple fly::crd2idx(AlgebraContext &cx, const IntTuple &coord, const Layout &layout) {
  OperationScope scope(cx, "crd2idx", coord, layout);
  if (!requireCongruent(cx, layout))
    return 0;
  return indexOf(cx, coord, layout.shape(), layout.stride());
}

IntTuple fly::crd2idx(AlgebraContext &cx, const IntTuple &coord, const AnyLayout &layout) {
  if (!layout.isComposed())
    return crd2idx(cx, coord, layout.plain());
  const ComposedLayout &composed = layout.composed();
  const IntTuple index = crd2idx(cx, coord, composed.outer());
  return applyMap(cx, tupleAdd(cx, composed.offset(), index), composed.inner());
}

IntTuple fly::applyMap(AlgebraContext &cx, const IntTuple &coord, const InnerMap &map) {
  if (const Swizzle *swizzle = map.swizzle())
    return applySwizzle(cx, coord, *swizzle);
  if (const CoordSwizzle *swizzle = map.coordSwizzle())
    return applySwizzle(cx, coord, *swizzle);
  if (const Layout *layout = map.layout())
    return crd2idx(cx, coord, *layout);
  return crd2idx(cx, coord, AnyLayout(*map.composed()));
}

//===----------------------------------------------------------------------===//
// Index to coordinate
//===----------------------------------------------------------------------===//

static IntTuple coordOf(AlgebraContext &cx, const IntTuple &index, const IntTuple &shape,
                        const IntTuple &stride) {
  if (cx.failed())
    return 0;
  if (shape.isTuple()) {
    if (index.isTuple() && index.rank() != shape.rank()) {
      cx.fail("index " + index.str() + " and shape " + shape.str() + " differ in rank");
      return 0;
    }
    Modes modes;
    for (unsigned i = 0, rank = shape.rank(); i != rank; ++i)
      modes.push_back(
          coordOf(cx, index.isTuple() ? index.mode(i) : index, shape.mode(i), stride.mode(i)));
    return makeTuple(cx, modes);
  }
  if (index.isTuple() && index.rank() == 1)
    return coordOf(cx, index.mode(0), shape, stride);
  if (index.isTuple()) {
    cx.fail("index " + index.str() + " has more modes than " + shape.str());
    return 0;
  }
  if (shape.isStaticInt(1))
    return 0;
  if (stride.isStaticInt(0)) {
    cx.fail("a mode of extent " + shape.str() + " with stride 0 has no inverse");
    return 0;
  }
  return leafMod(cx, leafDiv(cx, index, stride), shape);
}

IntTuple fly::idx2crd(AlgebraContext &cx, const IntTuple &index, const Layout &layout) {
  OperationScope scope(cx, "idx2crd", index, layout);
  if (!requireCongruent(cx, layout))
    return 0;
  return coordOf(cx, index, layout.shape(), layout.stride());
}

/// The column-major index of a coordinate of this shape, which is congruent with it.
static IntTuple linearise(AlgebraContext &cx, const IntTuple &coord, const IntTuple &shape) {
  if (coord.isLeaf())
    return coord;
  // Horner's rule, from the slowest mode on.
  size_t mode = coord.rank() - 1;
  IntTuple index = linearise(cx, coord.mode(mode), shape.mode(mode));
  while (mode-- != 0) {
    const IntTuple slower = leafMul(cx, tupleProduct(cx, shape.mode(mode)), index);
    index = leafAdd(cx, linearise(cx, coord.mode(mode), shape.mode(mode)), slower);
  }
  return index;
}

IntTuple fly::flatCoord(AlgebraContext &cx, const IntTuple &index, const Layout &layout) {
  OperationScope scope(cx, "get_flat_coord", index, layout);
  IntTuple coord = idx2crd(cx, index, layout);
  if (cx.failed() || coord.isLeaf())
    return coord;
  Modes modes;
  for (const auto &[c, s] : llvm::zip(coord.modes(), layout.shape().modes()))
    modes.push_back(linearise(cx, c, s));
  return makeTuple(cx, modes);
}

IntTuple fly::linearCoord(AlgebraContext &cx, const IntTuple &index, const Layout &layout) {
  OperationScope scope(cx, "get_1d_coord", index, layout);
  return linearise(cx, idx2crd(cx, index, layout), layout.shape());
}

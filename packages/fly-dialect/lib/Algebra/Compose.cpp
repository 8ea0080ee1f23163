// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Compose.h"

#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace fly;

using Leaves = llvm::SmallVector<Layout, 8>;

//===----------------------------------------------------------------------===//
// coalesce
//===----------------------------------------------------------------------===//

/// Whether `next` continues where `first` ends, so that both are one mode.
static bool continues(const Layout &first, const Layout &next) {
  const IntTuple &s0 = first.shape(), &d0 = first.stride();
  const IntTuple &s1 = next.shape(), &d1 = next.stride();
  if (!first.isStatic() || !next.isStatic() || d0.path() != d1.path())
    return false;
  return int64_t(s0.staticValue()) * d0.staticValue() == d1.staticValue() &&
         llvm::isInt<32>(int64_t(s0.staticValue()) * s1.staticValue());
}

/// The coalesced leaves; empty when all extents are 1.
static Leaves coalesceLeaves(const Leaves &leaves) {
  // From the back, so that a chain of modes grows towards its first one.
  Leaves reversed;
  for (const Layout &leaf : llvm::reverse(leaves)) {
    if (leaf.shape().isStaticInt(1))
      continue;
    if (!reversed.empty() && continues(leaf, reversed.back()))
      reversed.back() = {leaf.shape().staticValue() * reversed.back().shape().staticValue(),
                         leaf.stride()};
    else
      reversed.push_back(leaf);
  }
  return {reversed.rbegin(), reversed.rend()};
}

static Layout fromLeaves(AlgebraContext &cx, const Leaves &leaves) {
  if (leaves.empty())
    return {1, 0};
  return leaves.size() == 1 ? leaves.front() : makeLayout(cx, leaves);
}

Layout fly::coalesce(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "coalesce", layout);
  const Leaves leaves = flatten(cx, layout);
  if (leaves.size() == 1 && !leaves.front().shape().isStaticInt(1))
    return layout;
  return fromLeaves(cx, coalesceLeaves(leaves));
}

Layout fly::coalesce(AlgebraContext &cx, const Layout &layout, const IntTuple &pattern) {
  if (pattern.isLeaf())
    return coalesce(cx, layout);
  OperationScope scope(cx, "coalesce", layout, pattern);
  llvm::SmallVector<Layout, 4> modes = modesOf(cx, layout);
  if (layout.shape().isLeaf())
    return cx.failed() ? layout : coalesce(cx, layout, pattern.mode(0));
  for (const auto &[mode, modePattern] : llvm::zip(modes, pattern.modes()))
    mode = coalesce(cx, mode, modePattern);
  return makeLayout(cx, modes);
}

//===----------------------------------------------------------------------===//
// composition
//===----------------------------------------------------------------------===//

Layout fly::canonicalise(AlgebraContext &cx, const Layout &layout) {
  llvm::SmallVector<Layout, 4> modes = modesOf(cx, layout);
  if (cx.failed())
    return layout;
  if (layout.shape().isLeaf())
    return layout.shape().isStaticInt(1) ? Layout(1, 0) : layout;
  for (Layout &mode : modes)
    mode = canonicalise(cx, mode);
  return modes.size() == 1 ? modes.front() : makeLayout(cx, modes);
}

/// The coalesced leaves of `layout` for indices that may run past its end: a last mode of extent 1
/// still says with which stride they go on.
static Leaves coalesceUnbounded(AlgebraContext &cx, const Layout &layout) {
  Leaves leaves = flatten(cx, layout);
  Layout &last = leaves.back();
  if (last.shape().isStaticInt(1))
    last = Layout(2, last.stride());
  Leaves coalesced = coalesceLeaves(leaves);
  if (coalesced.empty())
    coalesced.emplace_back(1, 0);
  return coalesced;
}

/// Fails, when the operands are static, unless `extent` steps of `stride` through a mode of
/// `modeExtent`, of which the first `count` stay within the mode, reach the following modes at the
/// same multiples.
static void requireDivides(AlgebraContext &cx, const IntTuple &extent, const IntTuple &stride,
                           const IntTuple &modeExtent, const IntTuple &count) {
  if (!extent.isStaticLeaf() || !count.isStaticLeaf() || count.isStaticInt(0))
    return;
  const int32_t s = extent.staticValue(), m = count.staticValue();
  if (s % m != 0) {
    cx.fail("extent " + llvm::Twine(s) + " is not divisible by the " + llvm::Twine(m) +
            " steps that stay within a mode of extent " + modeExtent.str());
    return;
  }
  if (s != m && stride.isStaticLeaf() && modeExtent.isStaticLeaf() &&
      stride.staticValue() < modeExtent.staticValue() &&
      modeExtent.staticValue() % stride.staticValue() != 0)
    cx.fail("a mode of extent " + modeExtent.str() + " is not divisible by stride " + stride.str());
}

/// Composes the coalesced leaves `a`, the last of which is unbounded, with one leaf
/// `extent:stride`.
static Layout composeLeaf(AlgebraContext &cx, llvm::ArrayRef<Layout> a, const IntTuple &extent,
                          const IntTuple &stride) {
  if (stride.isStaticInt(0))
    return {extent, 0};
  Leaves emitted;
  IntTuple rest = extent;
  IntTuple step = stride;
  for (const Layout &mode : a.drop_back()) {
    if (cx.failed())
      break;
    const IntTuple within = leafCeilDiv(cx, mode.shape(), step);
    const IntTuple beyond = leafCeilDiv(cx, step, mode.shape());
    if (within.isStaticInt(1) || rest.isStaticInt(1)) {
      if (!rest.isStaticInt(1) && step.isStaticLeaf() && mode.shape().isStaticLeaf() &&
          step.staticValue() > mode.shape().staticValue() &&
          step.staticValue() % mode.shape().staticValue() != 0)
        cx.fail("stride " + step.str() + " is not divisible by extent " + mode.shape().str());
      step = beyond;
      continue;
    }
    const IntTuple count = leafMin(cx, within, rest);
    if (count.isStaticLeaf() && count.staticValue() <= 0)
      cx.fail("extent " + count.str() + " is not positive");
    requireDivides(cx, rest, step, mode.shape(), count);
    emitted.emplace_back(count, leafMul(cx, step, mode.stride()));
    rest = leafDiv(cx, rest, count);
    step = beyond;
  }
  if (emitted.empty() || !rest.isStaticInt(1))
    emitted.emplace_back(rest, leafMul(cx, step, a.back().stride()));
  return fromLeaves(cx, emitted);
}

namespace {
/// Composes leaf by leaf, coalescing each part of the left operand that is needed once.
class Composer {
public:
  Composer(AlgebraContext &cx, const Layout &a) : cx(cx), a(a) {}

  Layout compose(const IntTuple &shape, const IntTuple &stride) {
    if (cx.failed())
      return {1, 0};
    if (shape.isLeaf())
      return composeLeaf(cx, leavesAt(stride.path()), shape, stride.withPath({}));
    llvm::SmallVector<Layout, 4> modes;
    for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
      modes.push_back(compose(s, d));
    return makeLayout(cx, modes);
  }

private:
  const Leaves &leavesAt(BasisPath path) {
    for (const auto &[known, leaves] : parts)
      if (known == path)
        return leaves;
    llvm::SmallVector<int32_t, 4> mode;
    for (unsigned level = 0; level != path.size(); ++level)
      mode.push_back(static_cast<int32_t>(path[level]));
    Layout part = getMode(cx, a, mode);
    if (cx.failed())
      part = Layout(1, 0);
    parts.emplace_back(path, coalesceUnbounded(cx, part));
    return parts.back().second;
  }

  AlgebraContext &cx;
  const Layout &a;
  llvm::SmallVector<std::pair<BasisPath, Leaves>, 2> parts;
};
} // namespace

Layout fly::composition(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "composition", a, b);
  if (!requireCongruent(cx, a) || !requireCongruent(cx, b))
    return b;
  return canonicalise(cx, Composer(cx, a).compose(b.shape(), b.stride()));
}

static Layout composeTile(AlgebraContext &cx, const Layout &a, const Tile &tile) {
  if (cx.failed() || tile.isKeep())
    return a;
  if (const Layout *tiler = tile.layout())
    return composition(cx, a, *tiler);
  if (tile.isInteger())
    return composition(cx, a, Layout(*tile.leaf(), 1));
  if (!tile.isBracketed()) {
    cx.fail("a dynamic tile mode can't be applied");
    return a;
  }
  llvm::SmallVector<Layout, 4> modes = modesOf(cx, a);
  if (tile.rank() > modes.size()) {
    cx.fail("the tile has more modes than the layout");
    return a;
  }
  for (const auto &[mode, modeTile] : llvm::zip(modes, tile.modes()))
    mode = composeTile(cx, mode, modeTile);
  return makeLayout(cx, modes);
}

Layout fly::composition(AlgebraContext &cx, const Layout &a, const Tile &tile) {
  OperationScope scope(cx, "composition", a, tile);
  if (!tile.isBracketed()) {
    cx.fail("a tile must be bracketed to be composed with");
    return a;
  }
  return canonicalise(cx, composeTile(cx, a, tile));
}

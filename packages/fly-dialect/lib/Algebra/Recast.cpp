// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Recast.h"

#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <numeric>

using namespace fly;

namespace {
/// New elements are `up / down` times as wide as old ones, in lowest terms.
struct Ratio {
  int32_t up;
  int32_t down;

  static Ratio of(int32_t newBits, int32_t oldBits) {
    if (newBits <= 0 || oldBits <= 0)
      return {1, 1};
    const int32_t common = std::gcd(newBits, oldBits);
    return {newBits / common, oldBits / common};
  }
  bool isIdentity() const { return up == 1 && down == 1; }
};
} // namespace

/// A value times `path`'s unit vector, if there is one.
static IntTuple withPathOf(const IntTuple &value, const IntTuple &stride) {
  return stride.isBasis() ? value.withPath(stride.path()) : value;
}

static Layout upcastLeaf(AlgebraContext &cx, const Layout &leaf, int32_t factor) {
  const IntTuple &shape = leaf.shape(), &stride = leaf.stride();
  const IntTuple value = stride.withPath({});
  if (stride.isDynamicLeaf())
    return {shape, withPathOf(leafExactDiv(cx, value, factor), stride)};
  const int64_t d = value.staticValue();
  if (d == 0)
    return leaf;
  const int64_t magnitude = std::abs(d);
  if (magnitude % factor == 0)
    return {shape, withPathOf(static_cast<int32_t>(d / factor), stride)};
  if (factor % magnitude != 0) {
    cx.fail("elements " + llvm::Twine(factor) + " times as wide cut stride " + stride.str());
    return leaf;
  }
  const int32_t perElement = static_cast<int32_t>(factor / magnitude);
  return {leafCeilDiv(cx, shape, perElement), withPathOf(d > 0 ? 1 : -1, stride)};
}

static Layout downcastLeaf(AlgebraContext &cx, const Layout &leaf, int32_t factor) {
  const IntTuple &shape = leaf.shape(), &stride = leaf.stride();
  const IntTuple value = stride.withPath({});
  if (value.isStaticInt(1) || value.isStaticInt(-1))
    return {leafMul(cx, shape, factor), stride};
  return {shape, leafMul(cx, stride, factor)};
}

static Layout recastLeaves(AlgebraContext &cx, const Layout &layout, Ratio ratio) {
  if (layout.shape().isTuple()) {
    llvm::SmallVector<Layout, 4> modes = modesOf(cx, layout);
    for (Layout &mode : modes)
      mode = recastLeaves(cx, mode, ratio);
    return makeLayout(cx, modes);
  }
  Layout leaf = layout;
  if (ratio.up > 1)
    leaf = upcastLeaf(cx, leaf, ratio.up);
  if (ratio.down > 1 && !cx.failed())
    leaf = downcastLeaf(cx, leaf, ratio.down);
  return leaf;
}

static Layout recastPlain(AlgebraContext &cx, const Layout &layout, Ratio ratio) {
  return requireCongruent(cx, layout) ? recastLeaves(cx, layout, ratio) : layout;
}

Layout fly::recast(AlgebraContext &cx, const Layout &layout, int32_t newBits, int32_t oldBits) {
  const Ratio ratio = Ratio::of(newBits, oldBits);
  if (ratio.isIdentity())
    return layout;
  OperationScope scope(cx, "recast_layout", layout);
  return recastPlain(cx, layout, ratio);
}

Layout fly::upcast(AlgebraContext &cx, const Layout &layout, int32_t factor) {
  return recast(cx, layout, factor, 1);
}

/// A swizzle's base bit in units of the new elements.
static int32_t recastBase(AlgebraContext &cx, int32_t base, Ratio ratio) {
  if (!llvm::isPowerOf2_32(ratio.up) || !llvm::isPowerOf2_32(ratio.down)) {
    cx.fail("a swizzle can only be recast by a power of two");
    return base;
  }
  const int64_t recast = int64_t(base) - llvm::Log2_32(ratio.up) + llvm::Log2_32(ratio.down);
  if (recast < 0 || !llvm::isInt<32>(recast)) {
    cx.fail("the swizzle's base bit " + llvm::Twine(base) + " can't be recast to " +
            llvm::Twine(recast));
    return base;
  }
  return static_cast<int32_t>(recast);
}

static AnyLayout recastAny(AlgebraContext &cx, const AnyLayout &layout, Ratio ratio);

static InnerMap recastInner(AlgebraContext &cx, const InnerMap &inner, Ratio ratio) {
  if (const Swizzle *swizzle = inner.swizzle())
    return Swizzle{swizzle->mask, recastBase(cx, swizzle->base, ratio), swizzle->shift};
  if (const CoordSwizzle *swizzle = inner.coordSwizzle()) {
    CoordSwizzle recast = *swizzle;
    recast.baseRow = recastBase(cx, swizzle->baseRow, ratio);
    recast.baseCol = recastBase(cx, swizzle->baseCol, ratio);
    return recast;
  }
  if (const Layout *plain = inner.layout())
    return recastPlain(cx, *plain, ratio);
  const AnyLayout nested = recastAny(cx, *inner.composed(), ratio);
  return nested.composed();
}

static AnyLayout recastAny(AlgebraContext &cx, const AnyLayout &layout, Ratio ratio) {
  if (!layout.isComposed())
    return recastPlain(cx, layout.plain(), ratio);
  const ComposedLayout &composed = layout.composed();
  InnerMap inner = recastInner(cx, composed.inner(), ratio);
  const IntTuple scaled = leafMul(cx, leafExactDiv(cx, composed.offset(), ratio.up), ratio.down);
  return ComposedLayout(std::move(inner), scaled, recastAny(cx, composed.outer(), ratio));
}

AnyLayout fly::recast(AlgebraContext &cx, const AnyLayout &layout, int32_t newBits,
                      int32_t oldBits) {
  const Ratio ratio = Ratio::of(newBits, oldBits);
  if (ratio.isIdentity())
    return layout;
  OperationScope scope(cx, "recast_layout", layout);
  return recastAny(cx, layout, ratio);
}

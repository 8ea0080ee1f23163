// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Inverse.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"

#include "llvm/ADT/STLExtras.h"

using namespace fly;

using Leaves = llvm::SmallVector<Layout, 8>;

namespace {
/// A leaf with a static stride, and the product of the extents in front of it.
struct LeafWithPrefix {
  Layout leaf;
  IntTuple prefix;
};
} // namespace

/// The leaves with a static stride, ascending by it; equal ones in their order.
static llvm::SmallVector<LeafWithPrefix, 8> sortedByStride(AlgebraContext &cx,
                                                           const Leaves &leaves) {
  llvm::SmallVector<LeafWithPrefix, 8> placed;
  IntTuple prefix = 1;
  for (const Layout &leaf : leaves) {
    if (leaf.stride().isStaticLeaf())
      placed.push_back({leaf, prefix});
    prefix = leafMul(cx, prefix, leaf.shape());
  }
  llvm::SmallVector<std::pair<int32_t, unsigned>, 8> order;
  for (const auto &[index, entry] : llvm::enumerate(placed))
    order.emplace_back(entry.leaf.stride().staticValue(), index);
  llvm::sort(order);
  llvm::SmallVector<LeafWithPrefix, 8> sorted;
  for (const auto &[stride, index] : order)
    sorted.push_back(placed[index]);
  return sorted;
}

//===----------------------------------------------------------------------===//
// complement
//===----------------------------------------------------------------------===//

/// `layout` with the modes of stride 0 left out, coalesced.
static Layout withoutBroadcasts(AlgebraContext &cx, const Layout &layout) {
  Leaves leaves = flatten(cx, layout);
  for (Layout &leaf : leaves)
    if (leaf.stride().isStaticInt(0))
      leaf = Layout(1, 0);
  return coalesce(cx, makeLayout(cx, leaves));
}

static Layout complementOf(AlgebraContext &cx, const Layout &filtered, const IntTuple &codomain) {
  if (!codomain.isLeaf() || codomain.isBasis()) {
    cx.fail("the co-domain must be an integer");
    return {1, 0};
  }
  if (filtered.stride().hasBasis()) {
    cx.fail("basis strides have no complement");
    return {1, 0};
  }
  Leaves leaves = flatten(cx, filtered);
  if (leaves.size() == 1 && leaves.front().stride().isStaticInt(0))
    return {codomain, 1};
  if (leaves.size() > 1) {
    if (!filtered.stride().isStatic()) {
      cx.fail("more than one mode requires static strides");
      return {1, 0};
    }
    Leaves sorted;
    for (const LeafWithPrefix &placed : sortedByStride(cx, leaves))
      sorted.push_back(placed.leaf);
    leaves = std::move(sorted);
  }
  Leaves gaps;
  IntTuple covered = 1;
  for (const Layout &leaf : leaves) {
    const IntTuple gap = leafDiv(cx, leaf.stride(), covered);
    if (gap.isStaticLeaf() && gap.staticValue() <= 0)
      cx.fail("the mode " + leaf.str() + " overlaps the ones below it, or runs backwards");
    if (cx.failed())
      return {1, 0};
    gaps.emplace_back(gap, covered);
    covered = leafMul(cx, leaf.stride(), leaf.shape());
  }
  gaps.emplace_back(leafCeilDiv(cx, codomain, covered), covered);
  return coalesce(cx, makeLayout(cx, gaps));
}

Layout fly::complement(AlgebraContext &cx, const Layout &layout, const IntTuple &codomain) {
  OperationScope scope(cx, "complement", layout, codomain);
  return complementOf(cx, withoutBroadcasts(cx, layout), codomain);
}

Layout fly::complement(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "complement", layout);
  const Layout filtered = withoutBroadcasts(cx, layout);
  return complementOf(cx, filtered, cosize(cx, filtered));
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

Layout fly::rightInverse(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "right_inverse", layout);
  Leaves result;
  int64_t expected = 1;
  for (const auto &[leaf, prefix] : sortedByStride(cx, flatten(cx, coalesce(cx, layout)))) {
    if (!leaf.shape().isStaticLeaf() || leaf.stride().staticValue() != expected)
      continue;
    result.emplace_back(leaf.shape(), prefix);
    expected *= leaf.shape().staticValue();
  }
  if (result.empty())
    return {1, 0};
  return coalesce(cx, result.size() == 1 ? result.front() : makeLayout(cx, result));
}

Layout fly::leftInverse(AlgebraContext &cx, const Layout &layout) {
  OperationScope scope(cx, "left_inverse", layout);
  if (layout.stride().hasBasis()) {
    cx.fail("basis strides have no integer inverse");
    return {1, 0};
  }
  Leaves result;
  int32_t covered = 1;
  int64_t end = 1;
  IntTuple previousStride = 0;
  IntTuple lastExtent = 1;
  for (const auto &[leaf, prefix] : sortedByStride(cx, flatten(cx, coalesce(cx, layout)))) {
    const int32_t stride = leaf.stride().staticValue();
    if (stride == 0)
      continue;
    if (stride < 0)
      cx.fail("stride " + llvm::Twine(stride) + " runs backwards");
    else if (stride < end)
      cx.fail("the layout is not injective: stride " + llvm::Twine(stride) + " is below " +
              llvm::Twine(end) + ", where the mode before ends");
    else if (stride % covered != 0)
      cx.fail("stride " + llvm::Twine(stride) + " is no multiple of " + llvm::Twine(covered) +
              ", so that no layout is the inverse");
    if (cx.failed())
      return {1, 0};
    result.emplace_back(stride / covered, previousStride);
    covered = stride;
    end = leaf.shape().isStaticLeaf() ? int64_t(stride) * leaf.shape().staticValue() : stride;
    previousStride = prefix;
    lastExtent = leaf.shape();
  }
  result.emplace_back(lastExtent, previousStride);
  return coalesce(cx, makeLayout(cx, result));
}

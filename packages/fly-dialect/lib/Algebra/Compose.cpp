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

/// What goes on past the end of a layout whose last mode has extent 1: that mode, or the one
/// before.
enum class PastEnd { LastMode, LastModeNotUnit };

/// The coalesced leaves of `layout` for indices that may run past its end.
static Leaves coalesceUnbounded(AlgebraContext &cx, const Layout &layout, PastEnd pastEnd) {
  Leaves leaves = flatten(cx, layout);
  Layout &last = leaves.back();
  if (pastEnd == PastEnd::LastMode && last.shape().isStaticInt(1))
    last = Layout(2, last.stride());
  Leaves coalesced = coalesceLeaves(leaves);
  if (coalesced.empty())
    coalesced.emplace_back(1, 0);
  return coalesced;
}

namespace {
/// The left operand of a composition, or the mode of it that a basis stride picks.
struct Target {
  explicit Target(Leaves coalesced)
      : modes(std::move(coalesced)), forward(modes.size()), backward(modes.size()) {}

  /// Coalesced; the last one is unbounded.
  Leaves modes;
  /// How far the leaves of the right operand reach together in each mode, by the sign of their
  /// strides. Counts static leaves.
  llvm::SmallVector<int64_t, 8> forward, backward;
};

/// Composes leaf by leaf, coalescing each part of the left operand that is needed once.
class Composer {
public:
  Composer(AlgebraContext &cx, const Layout &a, PastEnd pastEnd) : cx(cx), a(a), pastEnd(pastEnd) {}

  Layout compose(const Layout &b) {
    Layout result = compose(b.shape(), b.stride());
    if (b.shape().isTuple())
      for (const auto &[path, target] : targets)
        requireNoCarry(target);
    return result;
  }

private:
  Layout compose(const IntTuple &shape, const IntTuple &stride);
  Layout composeLeaf(Target &target, const IntTuple &extent, const IntTuple &stride);
  void requireSplits(const IntTuple &extent, const IntTuple &stride, const IntTuple &modeExtent,
                     const IntTuple &count);
  void requireNoCarry(const Target &target);
  Target &targetAt(BasisPath path);

  AlgebraContext &cx;
  const Layout &a;
  PastEnd pastEnd;
  llvm::SmallVector<std::pair<BasisPath, Target>, 1> targets;
};
} // namespace

Layout Composer::compose(const IntTuple &shape, const IntTuple &stride) {
  if (cx.failed())
    return {1, 0};
  if (shape.isLeaf())
    return composeLeaf(targetAt(stride.path()), shape, stride.withPath({}));
  llvm::SmallVector<Layout, 4> modes;
  for (const auto &[s, d] : llvm::zip_equal(shape.modes(), stride.modes()))
    modes.push_back(compose(s, d));
  return makeLayout(cx, modes);
}

Target &Composer::targetAt(BasisPath path) {
  for (auto &[known, target] : targets)
    if (known == path)
      return target;
  llvm::SmallVector<int32_t, 4> mode;
  for (unsigned level = 0; level != path.size(); ++level)
    mode.push_back(static_cast<int32_t>(path[level]));
  const Layout part = getMode(cx, a, mode);
  Leaves modes = cx.failed() ? Leaves{Layout(1, 0)} : coalesceUnbounded(cx, part, pastEnd);
  targets.emplace_back(path, Target(std::move(modes)));
  return targets.back().second;
}

/// Fails, where that is static, unless steps of `stride` through a mode, of which `count` stay
/// within it, reach the following modes at the same multiples of it.
void Composer::requireSplits(const IntTuple &extent, const IntTuple &stride,
                             const IntTuple &modeExtent, const IntTuple &count) {
  if (cx.failed() || !extent.isStaticLeaf() || !count.isStaticLeaf())
    return;
  const int32_t s = extent.staticValue(), m = count.staticValue();
  if (m <= 0) {
    cx.fail("extent " + count.str() + " is not positive");
  } else if (s % m != 0) {
    cx.fail("extent " + llvm::Twine(s) + " is not divisible by the " + llvm::Twine(m) +
            " steps that stay within a mode of extent " + modeExtent.str());
  } else if (s != m && stride.isStaticLeaf() && modeExtent.isStaticLeaf() &&
             modeExtent.staticValue() % stride.staticValue() != 0) {
    cx.fail("a mode of extent " + modeExtent.str() + " is not divisible by stride " + stride.str());
  }
}

Layout Composer::composeLeaf(Target &target, const IntTuple &extent, const IntTuple &stride) {
  if (stride.isStaticInt(0))
    return {extent, 0};
  const size_t last = target.modes.size() - 1;
  if (last == 0)
    return {extent, leafMul(cx, target.modes.front().stride(), stride)};
  // Steps are counted forwards; a negative stride turns the result round.
  const bool backwards = stride.isStaticLeaf() && stride.staticValue() < 0;
  const IntTuple sign = backwards ? -1 : 1;
  Leaves emitted;
  IntTuple rest = extent;
  IntTuple step = backwards ? leafSub(cx, 0, stride) : stride;
  auto emit = [&](size_t index, const IntTuple &count) {
    emitted.emplace_back(count, leafMul(cx, leafMul(cx, sign, step), target.modes[index].stride()));
    if (count.isStaticLeaf() && step.isStaticLeaf())
      (backwards ? target.backward : target.forward)[index] +=
          (int64_t(count.staticValue()) - 1) * step.staticValue();
  };
  for (size_t i = 0; i != last && !cx.failed(); ++i) {
    const IntTuple &modeExtent = target.modes[i].shape();
    const IntTuple within = leafCeilDiv(cx, modeExtent, step);
    const IntTuple beyond = leafCeilDiv(cx, step, modeExtent);
    if (within.isStaticInt(1) || rest.isStaticInt(1)) {
      if (!rest.isStaticInt(1) && step.isStaticLeaf() && modeExtent.isStaticLeaf() &&
          step.staticValue() % modeExtent.staticValue() != 0 &&
          step.staticValue() > modeExtent.staticValue())
        cx.fail("stride " + step.str() + " is not divisible by extent " + modeExtent.str());
      step = beyond;
      continue;
    }
    const IntTuple count = leafMin(cx, within, rest);
    requireSplits(rest, step, modeExtent, count);
    emit(i, count);
    if (!cx.failed())
      rest = leafDiv(cx, rest, count);
    step = beyond;
  }
  if (emitted.empty() || !rest.isStaticInt(1))
    emit(last, rest);
  return fromLeaves(cx, emitted);
}

/// Fails if leaves that split evenly each run over the end of a mode together.
void Composer::requireNoCarry(const Target &target) {
  for (size_t i = 0; i + 1 < target.modes.size() && !cx.failed(); ++i) {
    const IntTuple &extent = target.modes[i].shape();
    const int64_t reach = std::max(target.forward[i], target.backward[i]);
    if (extent.isStaticLeaf() && reach >= extent.staticValue())
      cx.fail("modes together reach " + llvm::Twine(reach) + " in a mode of extent " +
              extent.str());
  }
  auto reaches = [](int64_t reach) { return reach != 0; };
  if (target.modes.size() > 1 && llvm::any_of(target.forward, reaches) &&
      llvm::any_of(target.backward, reaches))
    cx.fail("strides of both signs can't be composed with more than one mode");
}

/// A last mode of extent 1 says with which stride `a` goes on past its end. Where that leaves no
/// composition with `b`, the mode before it does: modes of extent 1 do not decide whether there is
/// one.
static PastEnd choosePastEnd(const Layout &a, const Layout &b) {
  AlgebraContext probe;
  if (llvm::none_of(flatten(probe, a),
                    [](const Layout &leaf) { return leaf.shape().isStaticInt(1); }))
    return PastEnd::LastMode;
  Composer(probe, a, PastEnd::LastMode).compose(b);
  return probe.failed() ? PastEnd::LastModeNotUnit : PastEnd::LastMode;
}

Layout fly::composition(AlgebraContext &cx, const Layout &a, const Layout &b) {
  OperationScope scope(cx, "composition", a, b);
  if (!requireCongruent(cx, a) || !requireCongruent(cx, b))
    return b;
  return canonicalise(cx, Composer(cx, a, choosePastEnd(a, b)).compose(b));
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

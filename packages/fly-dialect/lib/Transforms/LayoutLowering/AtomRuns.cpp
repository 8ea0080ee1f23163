// SPDX-License-Identifier: Apache-2.0
#include "AtomRuns.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Modes.h"

#include "llvm/Support/MathExtras.h"

using namespace fly;
using llvm::SmallVector;
using llvm::Twine;

namespace {

/// Whether a swizzle of element indices moves `run` elements as a whole.
bool isCoarse(const Swizzle &swizzle, int64_t run) {
  return swizzle.isTrivial() ||
         (swizzle.base >= 0 && swizzle.base < 31 && run <= (int64_t(1) << swizzle.base));
}

/// Whether `run` elements that lie side by side where `map` takes them lie side by side where it
/// puts them. An offset that is only known at run time is trusted to be a multiple of the run.
bool keepsRun(const AnyLayout &map, int64_t run) {
  AlgebraContext algebra;
  if (!map.isComposed()) {
    const SmallVector<Layout, 8> leaves = flatten(algebra, coalesce(algebra, map.plain()));
    if (algebra.failed() || leaves.empty() || !leaves[0].stride().isStaticInt(1))
      return false;
    // A leaf alone has no bounds.
    const IntTuple &extent = leaves[0].shape();
    return leaves.size() == 1 || (extent.isStaticLeaf() && extent.staticValue() % run == 0);
  }
  const ComposedLayout &composed = map.composed();
  if (map.isStatic()) {
    const IntTuple first = crd2idx(algebra, IntTuple(0), map);
    if (!first.isStaticLeaf())
      return false;
    for (int32_t i = 1; i < run; ++i)
      if (!crd2idx(algebra, IntTuple(i), map).isStaticInt(first.staticValue() + i))
        return false;
    return !algebra.failed();
  }
  if (!keepsRun(composed.outer(), run))
    return false;
  const InnerMap &inner = composed.inner();
  if (const Swizzle *swizzle = inner.swizzle()) {
    if (swizzle->isTrivial())
      return true;
    if (!isCoarse(*swizzle, run))
      return false;
    // Runs that don't divide the swizzle's pieces have to begin where a piece does.
    const int64_t piece = int64_t(1) << swizzle->base;
    return piece % run == 0 || (!composed.outer().isComposed() && composed.offset().isLeaf() &&
                                composed.offset().divisibility() % piece == 0);
  }
  if (const CoordSwizzle *swizzle = inner.coordSwizzle())
    return swizzle->isTrivial();
  return keepsRun(inner.layout() ? AnyLayout(*inner.layout()) : AnyLayout(*inner.composed()), run);
}

/// A swizzle of the layout that tears runs of this length apart, or null.
const Swizzle *findTooFine(const AnyLayout &layout, int64_t run) {
  if (!layout.isComposed())
    return nullptr;
  const Swizzle *swizzle = layout.composed().inner().swizzle();
  const bool found = swizzle && swizzle->isApplicable() && !isCoarse(*swizzle, run);
  return found ? swizzle : findTooFine(layout.composed().outer(), run);
}

} // namespace

std::optional<std::string> fly::tornApart(const AnyLayout &layout, int64_t run,
                                          int64_t elementBits) {
  if (run <= 1 || !layout.isComposed() ||
      keepsRun(mapOutermost(layout, [&](const Layout &) { return Layout(int32_t(run), 1); }), run))
    return std::nullopt;
  std::string text = ("layout " + layout.str() + " does not keep the " + Twine(run * elementBits) +
                      " bits that one atom call moves side by side: use an atom of fewer bits")
                         .str();
  if (const Swizzle *swizzle = findTooFine(layout, run))
    text += (", at most " + Twine((int64_t(1) << swizzle->base) * elementBits) +
             ", or in place of " + swizzle->str() + " a swizzle with a base of at least " +
             Twine(llvm::Log2_64_Ceil(run)) + ", which counts elements")
                .str();
  return text;
}

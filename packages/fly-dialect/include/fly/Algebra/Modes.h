// SPDX-License-Identifier: Apache-2.0
//
// Selecting and rearranging the modes of tuples and layouts.

#ifndef FLY_ALGEBRA_MODES_H
#define FLY_ALGEBRA_MODES_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace fly {

/// The part at the mode path `mode`; an empty path is the whole.
IntTuple getMode(AlgebraContext &cx, const IntTuple &tuple, llvm::ArrayRef<int32_t> mode);
/// The modes [begin, end) of a tuple, end = -1 meaning its rank; a single one comes unwrapped.
IntTuple takeModes(AlgebraContext &cx, const IntTuple &tuple, int32_t begin, int32_t end);
/// The listed modes in that order; a single one comes unwrapped.
IntTuple selectModes(AlgebraContext &cx, const IntTuple &tuple, llvm::ArrayRef<int32_t> indices);
/// The modes [begin, end) wrapped into one, end = -1 meaning the rank. Nothing to wrap, or a leaf,
/// is left as it is.
IntTuple groupModes(AlgebraContext &cx, const IntTuple &tuple, int32_t begin, int32_t end);
/// `element` as a new last (first) mode; with a rank >= 0, as often as it takes to reach that rank.
IntTuple appendMode(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &element,
                    int32_t rank = -1);
IntTuple prependMode(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &element,
                     int32_t rank = -1);

Layout getMode(AlgebraContext &cx, const Layout &layout, llvm::ArrayRef<int32_t> mode);
Layout takeModes(AlgebraContext &cx, const Layout &layout, int32_t begin, int32_t end);
Layout selectModes(AlgebraContext &cx, const Layout &layout, llvm::ArrayRef<int32_t> indices);
Layout groupModes(AlgebraContext &cx, const Layout &layout, int32_t begin, int32_t end);
Layout appendMode(AlgebraContext &cx, const Layout &layout, const Layout &element,
                  int32_t rank = -1);
Layout prependMode(AlgebraContext &cx, const Layout &layout, const Layout &element,
                   int32_t rank = -1);

/// The modes of a layout as layouts; a leaf is its own only mode. Fails when shape and stride have
/// different ranks, or one of them is a leaf and the other is not.
llvm::SmallVector<Layout, 4> modesOf(AlgebraContext &cx, const Layout &layout);
/// The leaves of a layout, depth first. Fails when shape and stride are not congruent.
llvm::SmallVector<Layout, 8> flatten(AlgebraContext &cx, const Layout &layout);
/// The layout with these modes.
Layout makeLayout(AlgebraContext &cx, llvm::ArrayRef<Layout> modes);
/// Fails unless shape and stride have the same nesting.
bool requireCongruent(AlgebraContext &cx, const Layout &layout);

/// `fn` applied to the plain layout that coordinates enter first; what surrounds it is kept.
AnyLayout mapOutermost(const AnyLayout &layout, llvm::function_ref<Layout(const Layout &)> fn);

} // namespace fly

#endif // FLY_ALGEBRA_MODES_H

// SPDX-License-Identifier: Apache-2.0
//
// Fixing some coordinates of a tuple or layout.

#ifndef FLY_ALGEBRA_SLICE_H
#define FLY_ALGEBRA_SLICE_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

// Where `coord` is `*`, the corresponding part is kept (by dice: dropped), where it is an integer,
// dropped (by dice: kept); tuples go mode by mode. The kept parts form one flat list of modes; a
// single one comes unwrapped, and keeping nothing is an error.

IntTuple slice(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord);
IntTuple dice(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &coord);
Layout slice(AlgebraContext &cx, const Layout &layout, const IntTuple &coord);
Layout dice(AlgebraContext &cx, const Layout &layout, const IntTuple &coord);

/// A sliced layout, and the index that the fixed coordinates contribute where the layout can't hold
/// it itself: a composed layout adds it to the offset in front of its outermost plain layout, and
/// leaves 0 here.
struct SlicedLayout {
  AnyLayout layout;
  IntTuple offset;
};
SlicedLayout sliceWithOffset(AlgebraContext &cx, const AnyLayout &layout, const IntTuple &coord);

} // namespace fly

#endif // FLY_ALGEBRA_SLICE_H

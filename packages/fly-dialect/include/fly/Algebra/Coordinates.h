// SPDX-License-Identifier: Apache-2.0
//
// Sizes of layouts, and the two ways between coordinates and indices.

#ifndef FLY_ALGEBRA_COORDINATES_H
#define FLY_ALGEBRA_COORDINATES_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

/// The number of coordinates.
IntTuple layoutSize(AlgebraContext &cx, const Layout &layout);
/// The profile of the co-domain, with 0 in every leaf: `0` for integer strides.
IntTuple coprofile(AlgebraContext &cx, const Layout &layout);
/// The last element of the co-domain plus one, `1 + sum((shape - 1) * stride)`, in each leaf.
IntTuple coshape(AlgebraContext &cx, const Layout &layout);
/// The product of the leaves of coshape.
IntTuple cosize(AlgebraContext &cx, const Layout &layout);

/// The index of a coordinate: the sum of coordinate times stride over the leaves. An integer
/// coordinate of a tuple is split column-major, the last mode taking the whole rest. There are no
/// bounds. None counts as 0. Basis strides give a tuple.
IntTuple crd2idx(AlgebraContext &cx, const IntTuple &coord, const Layout &layout);
IntTuple crd2idx(AlgebraContext &cx, const IntTuple &coord, const AnyLayout &layout);
/// `map(coord)` for any inner map: a swizzle takes a leaf.
IntTuple applyMap(AlgebraContext &cx, const IntTuple &coord, const InnerMap &map);
IntTuple applySwizzle(AlgebraContext &cx, const IntTuple &index, const Swizzle &swizzle);
IntTuple applySwizzle(AlgebraContext &cx, const IntTuple &coord, const CoordSwizzle &swizzle);

/// For each leaf (index / stride) mod shape, on its own; 0 where the shape is 1. The inverse of
/// crd2idx for compact layouts.
IntTuple idx2crd(AlgebraContext &cx, const IntTuple &index, const Layout &layout);
/// idx2crd with each top-level mode linearised column-major.
IntTuple flatCoord(AlgebraContext &cx, const IntTuple &index, const Layout &layout);
/// idx2crd, linearised column-major.
IntTuple linearCoord(AlgebraContext &cx, const IntTuple &index, const Layout &layout);

} // namespace fly

#endif // FLY_ALGEBRA_COORDINATES_H

// SPDX-License-Identifier: Apache-2.0
//
// Coalescing and composition of layouts.

#ifndef FLY_ALGEBRA_COMPOSE_H
#define FLY_ALGEBRA_COMPOSE_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Tile.h"

namespace fly {

/// The same function of an integer coordinate with as few modes as can be known: modes of extent 1
/// are dropped, and static neighbours that continue one another (with equal basis paths) are
/// merged. A layout of one leaf keeps its wrapper; one of extent 1 becomes `1:0`.
Layout coalesce(AlgebraContext &cx, const Layout &layout);
/// Mode by mode along `pattern`, whose leaf values don't matter; modes beyond the pattern are left
/// as they are.
Layout coalesce(AlgebraContext &cx, const Layout &layout, const IntTuple &pattern);

/// R with R(c) = a(b(c)) on the domain of b, whose profile it has. Static operands must divide as
/// the result's modes require; dynamic ones are taken to. A leaf of `b` with a basis stride `vE p`
/// is composed with the mode of `a` at path p.
Layout composition(AlgebraContext &cx, const Layout &a, const Layout &b);
/// Mode by mode: an integer N stands for `N:1`; `*`, and modes beyond the tile, leave their mode.
Layout composition(AlgebraContext &cx, const Layout &a, const Tile &tile);

/// Leaves of extent 1 get stride 0, and tuples of rank 1 are unwrapped.
Layout canonicalise(AlgebraContext &cx, const Layout &layout);

} // namespace fly

#endif // FLY_ALGEBRA_COMPOSE_H

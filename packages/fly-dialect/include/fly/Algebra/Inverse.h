// SPDX-License-Identifier: Apache-2.0
//
// Complements and inverses of layouts.

#ifndef FLY_ALGEBRA_INVERSE_H
#define FLY_ALGEBRA_INVERSE_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

/// The layout of the indices below `codomain`, an integer, that `layout` leaves out, so that both
/// together reach each of them; rounded up. More than one mode requires static strides. A layout
/// whose modes overlap has no complement.
Layout complement(AlgebraContext &cx, const Layout &layout, const IntTuple &codomain);
/// With the cosize of the layout, its modes of stride 0 left out, as co-domain.
Layout complement(AlgebraContext &cx, const Layout &layout);

/// R with layout(R(i)) = i on the longest contiguous range from 0. Dynamic strides are ignored.
Layout rightInverse(AlgebraContext &cx, const Layout &layout);
/// R with R(layout(i)) = i, for a layout that is injective but for modes of stride 0, and whose
/// strides divide one another. Dynamic strides are ignored.
Layout leftInverse(AlgebraContext &cx, const Layout &layout);

} // namespace fly

#endif // FLY_ALGEBRA_INVERSE_H

// SPDX-License-Identifier: Apache-2.0
//
// The same data seen through elements of another width.

#ifndef FLY_ALGEBRA_RECAST_H
#define FLY_ALGEBRA_RECAST_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

/// The layout in units of `newBits`-wide elements of what `layout` says in units of `oldBits`-wide
/// ones. Contiguous modes change their extent, the others their stride; an element must not be cut.
/// Equal or non-positive widths change nothing.
Layout recast(AlgebraContext &cx, const Layout &layout, int32_t newBits, int32_t oldBits);
/// On a composed layout also the offset, and the bases of swizzles (which require a ratio that is a
/// power of two), are recast.
AnyLayout recast(AlgebraContext &cx, const AnyLayout &layout, int32_t newBits, int32_t oldBits);
/// recast to elements that are `factor` times as wide.
Layout upcast(AlgebraContext &cx, const Layout &layout, int32_t factor);

} // namespace fly

#endif // FLY_ALGEBRA_RECAST_H

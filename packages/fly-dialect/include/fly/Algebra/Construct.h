// SPDX-License-Identifier: Apache-2.0
//
// Layouts made from a shape.

#ifndef FLY_ALGEBRA_CONSTRUCT_H
#define FLY_ALGEBRA_CONSTRUCT_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

/// The compact column-major layout: the first mode is contiguous.
Layout columnMajor(AlgebraContext &cx, const IntTuple &shape);
/// Stride `1E p` for the leaf at mode path p; 1 for a leaf shape.
Layout identityLayout(AlgebraContext &cx, const IntTuple &shape);
/// Compact strides: parts of the shape ascend in memory as the leaves of `order` ascend, each part
/// column-major in itself. Static leaves order by value and come before dynamic ones; equal and
/// dynamic ones order by position. A leaf order gives columnMajor.
Layout orderedLayout(AlgebraContext &cx, const IntTuple &shape, const IntTuple &order);
/// The same shape with compact strides in the order of the layout's strides; modes of stride 0
/// take no room.
Layout layoutLike(AlgebraContext &cx, const Layout &layout);
/// The layout of registers that hold the values of `layout`: mode 0, the values of one atom,
/// compact and first, the other modes in the order of their strides.
Layout fragmentLayout(AlgebraContext &cx, const Layout &layout);

} // namespace fly

#endif // FLY_ALGEBRA_CONSTRUCT_H

// SPDX-License-Identifier: Apache-2.0
//
// Products: the first layout repeated as the second one says, in the arrangements of the result.
// With B' = composition(complement(a, size(a) * cosize(b)), b):

#ifndef FLY_ALGEBRA_PRODUCT_H
#define FLY_ALGEBRA_PRODUCT_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Layout.h"

namespace fly {

/// (a, B'), canonical. zipped_product is the same.
Layout logicalProduct(AlgebraContext &cx, const Layout &a, const Layout &b);
/// (a, B'0, B'1, ...)
Layout tiledProduct(AlgebraContext &cx, const Layout &a, const Layout &b);
/// (a0, a1, ..., B'0, B'1, ...)
Layout flatProduct(AlgebraContext &cx, const Layout &a, const Layout &b);
/// ((a0,B'0),(a1,B'1),...), the lower rank padded with `1:0`.
Layout blockedProduct(AlgebraContext &cx, const Layout &a, const Layout &b);
/// ((B'0,a0),(B'1,a1),...), the lower rank padded with `1:0`.
Layout rakedProduct(AlgebraContext &cx, const Layout &a, const Layout &b);

/// `block` repeated, the repetitions in the given order of modes, until it covers `target`; rounded
/// up.
Layout tileToShape(AlgebraContext &cx, const Layout &block, const IntTuple &target,
                   const IntTuple &order);

} // namespace fly

#endif // FLY_ALGEBRA_PRODUCT_H

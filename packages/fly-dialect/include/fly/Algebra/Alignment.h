// SPDX-License-Identifier: Apache-2.0
//
// What is known of a pointer's alignment after it has been advanced or swizzled.

#ifndef FLY_ALGEBRA_ALIGNMENT_H
#define FLY_ALGEBRA_ALIGNMENT_H

#include "fly/Algebra/IntTuple.h"
#include "fly/Algebra/Swizzle.h"

namespace fly {

/// The size of an element in whole bytes, which is also the least alignment.
int64_t elementBytes(unsigned elementBits);

/// The alignment, in bytes, of a pointer with `alignment` bytes to elements of `elementBits` after
/// advancing it by `offset` elements, an integer leaf.
int64_t alignmentAfterOffset(int64_t alignment, unsigned elementBits, const IntTuple &offset);

/// The alignment, in bytes, of such a pointer when `swizzle` is applied to it: what the swizzle
/// leaves alone, its base bit counted in elements.
int64_t alignmentAfterSwizzle(int64_t alignment, unsigned elementBits, const Swizzle &swizzle);

} // namespace fly

#endif // FLY_ALGEBRA_ALIGNMENT_H

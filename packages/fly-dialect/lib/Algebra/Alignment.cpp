// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Alignment.h"

#include <algorithm>
#include <numeric>

using namespace fly;

int64_t fly::elementBytes(unsigned elementBits) {
  return std::max<int64_t>(1, (int64_t(elementBits) + 7) / 8);
}

/// The alignment in bytes of a pointer that is `elements` elements away from one with `alignment`.
static int64_t alignmentAt(int64_t alignment, unsigned elementBits, int64_t elements) {
  const int64_t bits = std::max<int64_t>(1, elementBits);
  const int64_t alignedElements = alignment * 8 / bits;
  const int64_t bytes = (bits * std::gcd(alignedElements, elements) + 7) / 8;
  // Elements that are no whole number of bytes can land between multiples of their size.
  return bytes % elementBytes(elementBits) == 0 ? bytes : elementBytes(elementBits);
}

int64_t fly::alignmentAfterOffset(int64_t alignment, unsigned elementBits, const IntTuple &offset) {
  if (offset.divisibility() == 0)
    return alignment;
  return alignmentAt(alignment, elementBits, offset.divisibility());
}

int64_t fly::alignmentAfterSwizzle(int64_t alignment, unsigned elementBits,
                                   const Swizzle &swizzle) {
  const int32_t base = std::clamp(swizzle.base, 0, 62);
  return alignmentAt(alignment, elementBits, int64_t(1) << base);
}

// SPDX-License-Identifier: Apache-2.0
//
// Per-lane copies move one piece of memory. Whether a tensor is one is in its type.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_CONTIGUITY_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_CONTIGUITY_H

#include "AtomCalls.h"

namespace fly::rocdl {

/// Diagnoses a call of universal_copy or cdna3.buffer_copy that moves all elements of a tensor
/// which do not lie side by side: the instruction would move others. Tensors of another size than
/// the copy, and layouts that are not static, are taken on trust; so are two tensors in memory with
/// the same gapless layout.
mlir::LogicalResult checkContiguity(mlir::Type operation, const CopyCall &call);

/// Whether the elements of a static layout lie side by side, in order.
bool isContiguous(const AnyLayout &layout);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_CONTIGUITY_H

// SPDX-License-Identifier: Apache-2.0
// Tensors of which two elements lie at one address, as as_strided and unfold make them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flydsl::runtime {

// Whether two coordinates of a non-empty tensor have one offset. The products of extents and
// strides must not overflow. What cannot be decided in a bounded search counts as sharing.
bool shares_memory(const int64_t *shape, const int64_t *strides, size_t rank);

} // namespace flydsl::runtime

// SPDX-License-Identifier: Apache-2.0
//
// One tensor of a call against what its artifact was compiled for.
#ifndef FLYDSL_CSRC_TENSOR_CHECK_H
#define FLYDSL_CSRC_TENSOR_CHECK_H

#include "argument_error.h"

#include <dlpack/dlpack.h>

namespace flydsl::runtime {

struct CheckedTensor {
  void *data;   // of element (0, ..., 0)
  bool empty;   // some extent is 0
  char *low;    // lowest address that an element has
  size_t bytes; // from low to the end of the highest element; 0 when empty
};

// Checks dtype, rank, extents, strides, data and alignment (not the device), and writes the dynamic
// leaves into `packed` (argument.packedBytes bytes): extents as int32, then strides as int64 or
// int32, without padding. Throws a Failure that names the argument.
CheckedTensor check_tensor(const ArgumentSite &site, const DLTensor &tensor, std::byte *packed);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_TENSOR_CHECK_H

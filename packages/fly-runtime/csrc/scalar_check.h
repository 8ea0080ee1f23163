// SPDX-License-Identifier: Apache-2.0
//
// Scalars, pointers and streams of a call, as the host function takes them.
#ifndef FLYDSL_CSRC_SCALAR_CHECK_H
#define FLYDSL_CSRC_SCALAR_CHECK_H

#include "argument_error.h"

#include <tvm/ffi/c_api.h>

namespace flydsl::runtime {

// The value in the scalar's C type, in the low bytes of a word (little endian). Integers must fit;
// integers are taken for floats, and 0 and 1 for a bool, but nothing is narrowed silently.
uint64_t check_scalar(const ArgumentSite &site, const TVMFFIAny &given);

// The address that a pointer or stream argument stands for; None is NULL.
void *check_address(const ArgumentSite &site, const TVMFFIAny &given);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_SCALAR_CHECK_H

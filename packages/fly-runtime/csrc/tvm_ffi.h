// SPDX-License-Identifier: Apache-2.0
//
// The few functions of tvm-ffi that the runtime calls. They are looked up in the libtvm_ffi that
// the caller has loaded, never linked: a C++ program without tvm-ffi can use the runtime too.
#ifndef FLYDSL_CSRC_TVM_FFI_H
#define FLYDSL_CSRC_TVM_FFI_H

#include "error.h"

#include <tvm/ffi/c_api.h>

namespace flydsl::runtime {

// Makes the calling thread's last failure tvm-ffi's raised error, so that Python sees an exception
// of its class (flydsl/runtime/errors.py) with its text.
void raise_last_error_in_tvm_ffi() noexcept;

// The stream that the caller's framework has current for a device of a kind (kDLROCM, kDLCUDA);
// null is the default stream.
void *framework_stream(int kind, int device) noexcept;

// "the integer 5", "None", "a float32 tensor": for messages about what came.
std::string describe_argument(const TVMFFIAny &argument);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_TVM_FFI_H

// SPDX-License-Identifier: Apache-2.0
// What HIP 5.2's headers expect of the compiler, and clang 22 no longer says.
#pragma once

#define __AMDGCN_WAVEFRONT_SIZE 64

typedef _Float16 half_pair __attribute__((ext_vector_type(2)));

static inline __attribute__((device)) _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) {
  return __builtin_amdgcn_rcph(x);
}
static inline __attribute__((device)) half_pair __llvm_amdgcn_rcp_2f16(half_pair x) {
  return {(_Float16)__builtin_amdgcn_rcph(x.x), (_Float16)__builtin_amdgcn_rcph(x.y)};
}

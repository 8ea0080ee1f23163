/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel for the emulator, compiled by clang for amdgcn: c = a + b.
 */
#define GLOBAL __attribute__((address_space(1)))

__attribute__((amdgpu_kernel)) void
vector_add_kernel_0(const GLOBAL float *a, const GLOBAL float *b, GLOBAL float *c, int n) {
  int i = (int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x());
  if (i < n)
    c[i] = a[i] + b[i];
}

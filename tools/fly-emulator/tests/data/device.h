// SPDX-License-Identifier: Apache-2.0
// What the test kernels share: address spaces and the builtins under short names.
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16_t __attribute__((ext_vector_type(16)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef unsigned uint4_t __attribute__((ext_vector_type(4)));
#define KERNEL __attribute__((device_kernel, amdgpu_flat_work_group_size(1, 1024)))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define SHARED LDS __attribute__((loader_uninitialized))
#define TID __builtin_amdgcn_workitem_id_x()
#define TIDY __builtin_amdgcn_workitem_id_y()
#define BID __builtin_amdgcn_workgroup_id_x()
#define BIDY __builtin_amdgcn_workgroup_id_y()
#define BDIM __builtin_amdgcn_workgroup_size_x()
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

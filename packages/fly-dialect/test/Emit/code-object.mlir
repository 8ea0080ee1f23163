// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})' | FileCheck %s
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | FileCheck %s --check-prefix=ISA
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=llvm})' | FileCheck %s --check-prefix=BITCODE

// One linked code object per target, with the kernels' resources.

// CHECK: gpu.binary @kernels <#fly.explicit_module>
// CHECK-SAME: #gpu.object<#rocdl.target<chip = "gfx942">, kernels = <[#gpu.kernel_metadata<"scale", !llvm.func<void (ptr<1>, f32)>
// CHECK-SAME: agpr_count = 0
// CHECK-SAME: max_flat_workgroup_size = 256
// CHECK-SAME: occupancy = 8
// CHECK-SAME: private_segment_fixed_size = 0
// CHECK-SAME: reqd_workgroup_size = array<i32: 256, 1, 1>
// CHECK-SAME: wavefront_size = 64
// CHECK-SAME: bin = "\7FELF
// CHECK-SAME: #gpu.object<#rocdl.target<chip = "gfx1201">, kernels = <
// CHECK-SAME: wavefront_size = 32
// CHECK-SAME: bin = "\7FELF

// ISA: .amdhsa_code_object_version 6
// ISA-SAME: global_load_dword
// ISA-SAME: v_mul_f32
// ISA-SAME: .amdhsa_next_free_vgpr

// BITCODE: offload = "BC\C0\DE

gpu.module @kernels <#fly.explicit_module> [#rocdl.target<chip = "gfx942">, #rocdl.target<chip = "gfx1201">] {
  llvm.func @scale(%a: !llvm.ptr<1>, %s: f32) attributes {gpu.kernel, rocdl.kernel, rocdl.flat_work_group_size = "256,256", rocdl.reqd_work_group_size = array<i32: 256, 1, 1>} {
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %r = llvm.fmul %v, %s : f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})' | FileCheck %s

// PTX in process, old enough for common drivers, with what is known of each kernel: its shared memory.

// CHECK: gpu.binary @kernels
// CHECK-SAME: #gpu.object<#nvvm.target<chip = "sm_90a", features = "+ptx80">
// CHECK-SAME: #gpu.kernel_metadata<"scale", !llvm.func<void (ptr<1>, f32)>, metadata = {group_segment_fixed_size = 64 : i32}>
// CHECK-SAME: #gpu.kernel_metadata<"without", !llvm.func<void (ptr<1>)>, metadata = {group_segment_fixed_size = 0 : i32}>
// CHECK-SAME: .version 8.0
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .visible .entry scale(
// CHECK-SAME: .reqntid 256
// CHECK-SAME: .shared .align 16 .b8 shared[64]
// Products and sums round separately, unless the program says otherwise.
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32

gpu.module @kernels [#nvvm.target<O = 2, chip = "sm_90a", features = "+ptx80">] {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 16 : i64, dso_local} : !llvm.array<64 x i8>
  llvm.func @scale(%a: !llvm.ptr<1>, %s: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %r = llvm.fmul %v, %s : f32
    %q = llvm.fadd %r, %s : f32
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %slot = llvm.getelementptr %shared[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store volatile %q, %slot : f32, !llvm.ptr<3>
    llvm.store %q, %p : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @without(%a: !llvm.ptr<1>) attributes {nvvm.kernel} {
    llvm.return
  }
}

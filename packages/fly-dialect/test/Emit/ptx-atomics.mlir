// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})' | FileCheck %s

// LLVM writes atomic read-modify-writes without an order, which PTX takes for relaxed: those that have one get fences.

// CHECK: .visible .entry relaxed(
// CHECK-NOT: fence
// CHECK: atom.global.add.u32
// CHECK-NOT: fence
// CHECK: .visible .entry ordered(
// CHECK: fence.acq_rel.gpu;
// CHECK-NOT: fence
// CHECK: atom.global.exch.b32
// CHECK-NOT: fence
// CHECK: atom.global.add.u32
// CHECK-NOT: atom
// CHECK: fence.acq_rel.cta;
// CHECK-NOT: fence
// CHECK: fence.sc.sys;
// CHECK-NOT: fence
// CHECK: atom.global.max.s32
// CHECK: fence.acq_rel.sys;
// CHECK-NOT: fence
// CHECK: ret;

gpu.module @kernels [#nvvm.target<O = 2, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @relaxed(%a: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %0 = llvm.atomicrmw add %a, %one syncscope("device") monotonic : !llvm.ptr<1>, i32
    llvm.store %0, %out : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @ordered(%a: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %0 = llvm.atomicrmw xchg %a, %one syncscope("device") release : !llvm.ptr<1>, i32
    %1 = llvm.atomicrmw add %a, %0 syncscope("block") acquire : !llvm.ptr<1>, i32
    %2 = llvm.atomicrmw max %a, %1 seq_cst : !llvm.ptr<1>, i32
    llvm.store %2, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

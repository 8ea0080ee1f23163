// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-plain-global-locations -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

gpu.module @kernels {
  // CHECK: llvm.mlir.global external @inside() {{.*}} loc("helper.py":3:1)
  llvm.mlir.global external @inside() {addr_space = 3 : i32} : !llvm.array<4 x i8> loc(callsite(callsite("helper.py":3:1 at "kernel.py":5:1) at "launch.py":9:1))
  // CHECK: llvm.func @kernel
  llvm.func @kernel() {
    // CHECK: llvm.return loc(callsite("helper.py":4:1 at "kernel.py":6:1))
    llvm.return loc(callsite("helper.py":4:1 at "kernel.py":6:1))
  }
}
// CHECK: llvm.mlir.global external @outside() {{.*}} loc("host.py":1:1)
llvm.mlir.global external @outside() {addr_space = 0 : i32} : i32 loc(callsite("host.py":1:1 at "host.py":2:1))

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-messages-to-llvm -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Numbers, floats without a fixed number of digits, unsigned integers where the front end marks them (\01), and a place.
// CHECK: module attributes
// CHECK-SAME: fly.messages = [
// CHECK-SAME: {format = "x[%d] = %g 100%% %lu %%.2f\0A", kind = "print", types = [i32, f32, i64]}
// CHECK-SAME: {format = "device assertion failed: too large: %g\0A  block (%d, %d, %d), thread (%d, %d, %d)", kind = "assert", types = [f64, i32, i32, i32, i32, i32, i32], where = loc("kernel.py":7:3)}
// CHECK-SAME: {format = "device assertion failed\0A  block (%d, %d, %d), thread (%d, %d, %d)", kind = "assert", types = [i32, i32, i32, i32, i32, i32]
module {
  // CHECK: gpu.module @kernels
  gpu.module @kernels {
    // CHECK: llvm.mlir.global external @__flydsl_print(0 : i64) {addr_space = 1 : i32, alignment = 8 : i64} : i64
    // CHECK: llvm.func internal @__flydsl_reserve(%[[WORDS:.*]]: i64 {{.*}}) -> !llvm.ptr<1>
    // CHECK-SAME: passthrough = ["noinline"]
    // CHECK: %[[ADDRESS:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> i64
    // CHECK: llvm.icmp "eq" %[[ADDRESS]]
    // CHECK: %[[HEAD:.*]] = llvm.inttoptr %[[ADDRESS]]
    // CHECK: %[[START:.*]] = llvm.atomicrmw add %[[HEAD]], %[[WORDS]] syncscope("agent") monotonic
    // CHECK: %[[END:.*]] = llvm.add %[[START]], %[[WORDS]]
    // CHECK: llvm.getelementptr %[[HEAD]][8]
    // CHECK: llvm.icmp "ule" %[[END]]
    // CHECK: %[[RECORDS:.*]] = llvm.getelementptr %[[HEAD]][32]
    // CHECK: llvm.getelementptr %[[RECORDS]][%[[START]]] {{.*}}, i32
    // CHECK: llvm.getelementptr %[[HEAD]][16]
    // CHECK: llvm.atomicrmw add
    // CHECK: gpu.func @prints(%[[I:.*]]: i32 {{.*}}, %[[X:.*]]: f32 {{.*}}, %[[WIDE:.*]]: i64
    gpu.func @prints(%i: i32, %x: f32, %wide: i64) kernel {
      // One word for the number, and those of the values: 1 + 1 + 1 + 2.
      // CHECK: %[[SIZE:.*]] = llvm.mlir.constant(5 : i64)
      // CHECK: %[[RECORD:.*]] = llvm.call @__flydsl_reserve(%[[SIZE]])
      // CHECK: %[[THERE:.*]] = llvm.icmp "ne" %[[RECORD]]
      // CHECK: scf.if %[[THERE]] {
      // CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(1 : i32)
      // CHECK: llvm.store %[[NUMBER]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
      // CHECK: llvm.getelementptr %[[RECORD]][4]
      // CHECK: llvm.store %[[I]]
      // CHECK: llvm.getelementptr %[[RECORD]][8]
      // CHECK: llvm.store %[[X]]
      // CHECK: llvm.getelementptr %[[RECORD]][12]
      // CHECK: llvm.store %[[WIDE]]
      // CHECK-NOT: gpu.printf
      // CHECK-NOT: endpgm
      // CHECK: gpu.return
      gpu.printf "x[%d] = %.2f 100%% \01%ld %%.2f\n", %i, %x, %wide : i32, f32, i64
      gpu.return
    }
    // CHECK: gpu.func @asserts
    gpu.func @asserts(%bad: i1, %x: f64) kernel {
      // CHECK: scf.if
      scf.if %bad {
        // CHECK: gpu.block_id  x
        // CHECK: gpu.thread_id  z
        // CHECK: llvm.mlir.constant(9 : i64)
        // CHECK: llvm.mlir.constant(2 : i32)
        // CHECK: llvm.call_intrinsic "llvm.amdgcn.endpgm"()
        gpu.printf "too large: %.2f\n" {fly.assertion}, %x : f64 loc("kernel.py":7:3)
        gpu.printf "\n" {fly.assertion}
      }
      gpu.return
    }
  }
  // A device module that says nothing gets no buffer.
  // CHECK: gpu.module @quiet
  // CHECK-NOT: __flydsl_print
  gpu.module @quiet {
    gpu.func @nothing() kernel {
      gpu.return
    }
  }
}

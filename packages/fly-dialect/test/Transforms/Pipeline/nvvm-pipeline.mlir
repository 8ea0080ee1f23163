// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-default-pipeline=chip=sm_90a | FileCheck %s
// RUN: fly-opt /dev/null --fly-default-pipeline="chip=sm_90a O=3 fast=true debug-info=true" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS

// What the compiler runs for NVIDIA GPUs, from layouts to PTX.
// CHECK: gpu.binary @module
// CHECK-SAME: chip = "sm_90a"
// CHECK-SAME: .visible .entry scale(
// CHECK-SAME: ld.global.v4
// CHECK-SAME: ex2.approx.f32
// CHECK-SAME: st.global.v4
// OPTIONS-NOT: rocdl
// OPTIONS: nvvm-attach-target{{.*}}O=3{{.*}}chip=sm_90a{{.*}}fast=true{{.*}}features=+ptx80
// OPTIONS: convert-fly-messages-to-llvm
// OPTIONS: fly-expand-arith{chip=sm_90a}
// OPTIONS: fly-math-to-llvm{chip=sm_90a}
// OPTIONS: convert-arith-to-llvm
// OPTIONS: convert-gpu-to-nvvm
// OPTIONS: ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}
gpu.module @module {
  gpu.func @scale(%x: !fly.memref<f32, global, (64,4):(4,1), align<16>>, %i: i32, %factor: f32) kernel {
    %slice = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
    %row = fly.slice(%x, %slice) : (!fly.memref<f32, global, (64,4):(4,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 4:1, align<16>>
    %values = fly.memref.load_vec(%row) : (!fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
    %factors = vector.broadcast %factor : f32 to vector<4xf32>
    %scaled = arith.mulf %values, %factors : vector<4xf32>
    %powers = math.exp2 %scaled : vector<4xf32>
    fly.memref.store_vec(%powers, %row) : (vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}

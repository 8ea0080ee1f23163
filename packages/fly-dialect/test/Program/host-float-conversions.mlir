// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-define-host-float-conversions --split-input-file | FileCheck %s
// RUN: fly-opt %s --fly-define-host-float-conversions --fly-define-host-float-conversions --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @rounds
func.func @rounds(%x: f32) -> f32 {
  %short = arith.truncf %x : f32 to bf16
  %wide = arith.extf %short : bf16 to f32
  return %wide : f32
}
// CHECK: func.func @__extendhfsf2(%{{.*}}: f16) -> f32
// CHECK: arith.constant 5.96046448E-8 : f32
// CHECK: func.func @__truncsfhf2(%{{.*}}: f32) -> f16
// CHECK: func.func @__truncsfbf2(%{{.*}}: f32) -> bf16
// CHECK: func.func @__fly_truncate_to_odd(%[[X:.*]]: f64) -> f32
// CHECK: %[[NEAREST:.*]] = arith.truncf %[[X]]
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAREST]]
// CHECK: arith.cmpf one, %[[BACK]], %[[X]]
// CHECK: func.func @__truncdfhf2(%{{.*}}: f64) -> f16
// CHECK: call @__fly_truncate_to_odd
// CHECK: call @__truncsfhf2
// CHECK: func.func @__truncdfbf2(%{{.*}}: f64) -> bf16
// CHECK: call @__truncsfbf2
// CHECK-NOT: func.func

// -----

// Kernels have instructions for them, or expansions of their own.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT: func.func @__
gpu.module @kernels {
  gpu.func @kernel(%x: f16) kernel {
    %wide = arith.extf %x : f16 to f32
    gpu.return
  }
}
func.func @host(%x: f32) {
  return
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(func.func(fly-math-to-llvm))' | FileCheck %s
// RUN: fly-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(func.func(fly-math-to-llvm))' | FileCheck %s --check-prefix=NONE

// NONE-NOT: {{(math|scf)\.}}

// The reduction by the bits of 2/pi is behind a branch.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: %[[LIMIT:.*]] = arith.constant 6.553600e+04 : f32
// CHECK: %[[LARGE:.*]] = arith.cmpf oge, %{{.*}}, %[[LIMIT]] : f32
// CHECK: cf.cond_br %[[LARGE]], ^[[LONG:.*]], ^
// CHECK: ^[[LONG]]:
// CHECK: arith.muli %{{.*}} : i64
// CHECK: return
func.func @scalar(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  return %0 : f32
}

// -----

// Both results come from one reduction, whatever the shape; any lane may need the long one.
// CHECK-LABEL: func.func @vector(
// CHECK: %[[MASK:.*]] = arith.cmpf oge, %{{.*}} : vector<2x2xf32>
// CHECK: %[[FLAT:.*]] = vector.shape_cast %[[MASK]] : vector<2x2xi1> to vector<4xi1>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[FLAT]]
// CHECK-COUNT-1: cf.cond_br %[[ANY]]
// CHECK-NOT: cf.cond_br
// CHECK: return
func.func @vector(%x: vector<2x2xf32>) -> (vector<2x2xf32>, vector<2x2xf32>) {
  %0, %1 = math.sincos %x : vector<2x2xf32>
  return %0, %1 : vector<2x2xf32>, vector<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @half(
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: cf.cond_br
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: f16) -> f16 {
  %0 = math.cos %x : f16
  return %0 : f16
}

// -----

// Powers are computed in f64 unless an approximation will do.
// CHECK-LABEL: func.func @power(
// CHECK: arith.divf %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @power(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @approximate(
// CHECK-NOT: f64
// CHECK: llvm.log
// CHECK-NOT: f64
// CHECK: llvm.exp
// CHECK-NOT: f64
// CHECK: return
func.func @approximate(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y fastmath<afn> : f32
  return %0 : f32
}

// -----

// Squares and roots are that.
// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: return
func.func @square(%x: f32) -> f32 {
  %y = arith.constant 2.0 : f32
  %0 = math.powf %x, %y : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @hyperbolic(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: arith.constant 6.250000e-01 : f32
// CHECK: llvm.call_intrinsic "llvm.exp.f32"
// CHECK: return
func.func @hyperbolic(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// -----

// Functions of f64 are arithmetic throughout.
// CHECK-LABEL: func.func @double(
// CHECK-NOT: llvm.call
// CHECK-NOT: math.
// CHECK: llvm.intr.fma(%{{.*}}) : (f64, f64, f64) -> f64
// CHECK-NOT: llvm.call
// CHECK-NOT: math.
// CHECK: return
func.func @double(%x: f64, %y: f64) -> f64 {
  %0 = math.exp %x : f64
  %1 = math.log1p %0 : f64
  %2 = math.powf %1, %y : f64
  return %2 : f64
}

// -----

// The long reduction of f64 multiplies words of 64 bits, behind a branch.
// CHECK-LABEL: func.func @double_trigonometry(
// CHECK: cf.cond_br
// CHECK-COUNT-2: arith.mului_extended %{{.*}} : i64
// CHECK: return
func.func @double_trigonometry(%x: f64) -> f64 {
  %0 = math.tan %x : f64
  return %0 : f64
}

// -----

// CHECK-LABEL: func.func @unknown(
// CHECK: "unknown.op"
func.func @unknown(%x: f32) -> f32 {
  %y = "unknown.op"(%x) : (f32) -> f32
  %z = math.exp %y : f32
  return %z : f32
}

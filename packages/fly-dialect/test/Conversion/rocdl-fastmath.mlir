// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-rocdl-fastmath-ops | FileCheck %s

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[X:.*]]: f32, %[[H:.*]]: f16)
func.func @scalars(%x: f32, %h: f16) -> (f32, f32, f32, f16) {
  // CHECK: rocdl.exp2 %[[X]]
  %0 = math.exp2 %x fastmath<afn> : f32
  // CHECK: rocdl.exp2 %[[X]]
  %1 = math.exp2 %x fastmath<fast> : f32
  // CHECK: math.exp2 %[[X]] : f32
  %2 = math.exp2 %x : f32
  // CHECK: math.exp2 %[[H]] fastmath<afn> : f16
  %3 = math.exp2 %h fastmath<afn> : f16
  return %0, %1, %2, %3 : f32, f32, f32, f16
}

// CHECK-LABEL: func.func @vector(
// CHECK-SAME: %[[V:.*]]: vector<2xf32>)
func.func @vector(%v: vector<2xf32>) -> vector<2xf32> {
  // CHECK: %[[A:.*]] = vector.extract %[[V]][0]
  // CHECK: %[[EA:.*]] = rocdl.exp2 %[[A]]
  // CHECK: vector.insert %[[EA]], %{{.*}} [0]
  // CHECK: %[[B:.*]] = vector.extract %[[V]][1]
  // CHECK: %[[EB:.*]] = rocdl.exp2 %[[B]]
  // CHECK: %[[R:.*]] = vector.insert %[[EB]], %{{.*}} [1]
  // CHECK: return %[[R]]
  %0 = math.exp2 %v fastmath<afn> : vector<2xf32>
  return %0 : vector<2xf32>
}

// CHECK-LABEL: func.func @others(
func.func @others(%x: f32) -> (f32, f32, f32) {
  // CHECK: math.exp %{{.*}} fastmath<fast>
  %0 = math.exp %x fastmath<fast> : f32
  // CHECK: math.rsqrt %{{.*}} fastmath<fast>
  %1 = math.rsqrt %x fastmath<fast> : f32
  // CHECK: arith.divf %{{.*}} fastmath<fast>
  %2 = arith.divf %x, %x fastmath<fast> : f32
  return %0, %1, %2 : f32, f32, f32
}

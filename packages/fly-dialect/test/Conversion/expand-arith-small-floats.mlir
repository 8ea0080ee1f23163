// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-expand-arith="chip=gfx942" | FileCheck %s

// No chip computes with floats of 8 bits: operands are extended to f32, and every result is rounded.

// CHECK-LABEL: func.func @sum
func.func @sum(%a: f8E4M3FNUZ, %b: f8E4M3FNUZ, %c: f8E4M3FNUZ) -> f8E4M3FNUZ {
  // CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
  // CHECK: rocdl.cvt.pk.fp8.f32
  // CHECK: rocdl.cvt.f32.fp8
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: rocdl.cvt.pk.fp8.f32
  %s = arith.addf %a, %b : f8E4M3FNUZ
  %p = arith.mulf %s, %c : f8E4M3FNUZ
  return %p : f8E4M3FNUZ
}

// CHECK-LABEL: func.func @vectors
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: arith.negf %{{.*}} : vector<4xf32>
func.func @vectors(%a: vector<4xf8E5M2>, %b: vector<4xf8E5M2>) -> vector<4xf8E5M2> {
  %q = arith.divf %a, %b : vector<4xf8E5M2>
  %n = arith.negf %q : vector<4xf8E5M2>
  return %n : vector<4xf8E5M2>
}

// CHECK-LABEL: func.func @others
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f8E4M3FN
func.func @others(%a: f8E4M3FN, %b: f8E4M3FN) -> (f8E4M3FN, i32) {
  %less = arith.cmpf olt, %a, %b : f8E4M3FN
  %i = arith.fptosi %a : f8E4M3FN to i32
  %f = arith.sitofp %i : i32 to f8E4M3FN
  %e = math.exp %f : f8E4M3FN
  %s = arith.select %less, %e, %b : f8E4M3FN
  return %s, %i : f8E4M3FN, i32
}

// Integers and wider floats stay.
// CHECK-LABEL: func.func @wider
// CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} : bf16
// CHECK-NEXT: return
func.func @wider(%a: bf16, %b: bf16) -> bf16 {
  %s = arith.addf %a, %b : bf16
  return %s : bf16
}

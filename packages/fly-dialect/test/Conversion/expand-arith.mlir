// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-expand-arith=chip=gfx942 | FileCheck %s --check-prefixes=CHECK,FNUZ
// RUN: fly-opt %s --fly-expand-arith=chip=gfx950 | FileCheck %s --check-prefixes=CHECK,OCP
// RUN: fly-opt %s --fly-expand-arith=chip=gfx1100 | FileCheck %s --check-prefixes=CHECK,NONE

// Instructions where the chip has them for the encoding, arithmetic elsewhere.
// CHECK-LABEL: func.func @to_ocp
// OCP: %[[W:.+]] = rocdl.cvt.pk.fp8.f32 %arg0, %arg0 -> %{{.+}}[false] : i32
// OCP-NEXT: arith.trunci %[[W]] : i32 to i8
// FNUZ-NOT: rocdl.cvt
// FNUZ: arith.addf
// NONE-NOT: rocdl.cvt
// CHECK: arith.bitcast %{{.+}} : i8 to f8E4M3FN
func.func @to_ocp(%x: f32) -> f8E4M3FN {
  %0 = arith.truncf %x : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// CHECK-LABEL: func.func @to_fnuz
// FNUZ: rocdl.cvt.pk.bf8.f32
// OCP-NOT: rocdl.cvt
// NONE-NOT: rocdl.cvt
// CHECK: arith.bitcast %{{.+}} : i8 to f8E5M2FNUZ
func.func @to_fnuz(%x: f32) -> f8E5M2FNUZ {
  %0 = arith.truncf %x : f32 to f8E5M2FNUZ
  return %0 : f8E5M2FNUZ
}

// Four at a time, two instructions each way.
// CHECK-LABEL: func.func @vectors
// OCP-COUNT-4: rocdl.cvt.pk.f32.bf8
// OCP-COUNT-4: rocdl.cvt.pk.bf8.f32
// OCP-NOT: rocdl.cvt
// FNUZ-NOT: rocdl.cvt
// CHECK: return
func.func @vectors(%x: vector<8xf8E5M2>) -> vector<8xf8E5M2> {
  %0 = arith.extf %x : vector<8xf8E5M2> to vector<8xf32>
  %1 = arith.mulf %0, %0 : vector<8xf32>
  %2 = arith.truncf %1 : vector<8xf32> to vector<8xf8E5M2>
  return %2 : vector<8xf8E5M2>
}

// 16-bit floats go by way of f32.
// CHECK-LABEL: func.func @half
// CHECK: arith.truncf %{{.+}} : vector<2xf32> to vector<2xbf16>
// CHECK-NOT: f4E2M1FN to
// CHECK: return
func.func @half(%x: vector<2xf4E2M1FN>) -> vector<2xbf16> {
  %0 = arith.extf %x : vector<2xf4E2M1FN> to vector<2xbf16>
  return %0 : vector<2xbf16>
}

// CHECK-LABEL: func.func @remainder
// CHECK-NOT: arith.remf
// CHECK: scf.if
// CHECK: scf.while
// CHECK: arith.remui
// CHECK-NOT: arith.remf
// CHECK: return
func.func @remainder(%x: f16, %y: f16) -> f16 {
  %0 = arith.remf %x, %y : f16
  return %0 : f16
}

// f64 goes by way of f32 rounded to odd: rounding twice to nearest would differ.
// CHECK-LABEL: func.func @from_double
// CHECK: %[[NEAREST:.+]] = arith.truncf %arg0 : f64 to f32
// CHECK: %[[BACK:.+]] = arith.extf %[[NEAREST]] : f32 to f64
// CHECK: arith.cmpf one, %[[BACK]], %arg0 : f64
// CHECK: arith.bitcast %{{.+}} : i8 to f8E4M3FN
func.func @from_double(%x: f64) -> f8E4M3FN {
  %0 = arith.truncf %x : f64 to f8E4M3FN
  return %0 : f8E4M3FN
}

// A lane that does not fit leaves the others alone.
// CHECK-LABEL: func.func @to_bytes
// CHECK: %[[WORDS:.+]] = arith.fptosi %arg0 : vector<4xf32> to vector<4xi32>
// CHECK: arith.trunci %[[WORDS]] : vector<4xi32> to vector<4xi8>
// CHECK: arith.fptoui %arg0 : vector<4xf32> to vector<4xi32>
func.func @to_bytes(%x: vector<4xf32>) -> (vector<4xi8>, vector<4xi32>) {
  %0 = arith.fptoui %x : vector<4xf32> to vector<4xi8>
  %1 = arith.fptoui %x : vector<4xf32> to vector<4xi32>
  return %0, %1 : vector<4xi8>, vector<4xi32>
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl | FileCheck %s

// Every configuration of the matrix atoms, called on values.

// CHECK-LABEL: func.func @mfma_f32_32(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: vector<16xf32>)
func.func @mfma_f32_32(%a: f32, %b: f32, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x2, (f32, f32) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x2f32 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (f32, f32, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x2, (f32, f32) -> f32>>, f32, f32, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_f32_16(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: vector<4xf32>)
func.func @mfma_f32_16(%a: f32, %b: f32, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x4f32 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>, f32, f32, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_f16_32(
// CHECK-SAME: %[[A:.*]]: vector<4xf16>, %[[B:.*]]: vector<4xf16>, %[[C:.*]]: vector<16xf32>)
func.func @mfma_f16_32(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x8, (f16, f16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x8f16 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x8, (f16, f16) -> f32>>, vector<4xf16>, vector<4xf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_f16_16(
// CHECK-SAME: %[[A:.*]]: vector<4xf16>, %[[B:.*]]: vector<4xf16>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_f16_16(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x16f16 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_f16_16k32(
// CHECK-SAME: %[[A:.*]]: vector<8xf16>, %[[B:.*]]: vector<8xf16>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_f16_16k32(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f16, f16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x32.f16 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<8xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f16, f16) -> f32>>, vector<8xf16>, vector<8xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_f16_32k16(
// CHECK-SAME: %[[A:.*]]: vector<8xf16>, %[[B:.*]]: vector<8xf16>, %[[C:.*]]: vector<16xf32>)
func.func @mfma_f16_32k16(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (f16, f16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x16.f16 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<8xf16>, vector<8xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (f16, f16) -> f32>>, vector<8xf16>, vector<8xf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_bf16_32k4(
// CHECK-SAME: %[[A:.*]]: vector<2xbf16>, %[[B:.*]]: vector<2xbf16>, %[[C:.*]]: vector<16xf32>)
func.func @mfma_bf16_32k4(%a: vector<2xbf16>, %b: vector<2xbf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (bf16, bf16) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<2xbf16> to vector<2xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<2xbf16> to vector<2xi16>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x4bf16 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<2xi16>, vector<2xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (bf16, bf16) -> f32>>, vector<2xbf16>, vector<2xbf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_bf16_16k8(
// CHECK-SAME: %[[A:.*]]: vector<2xbf16>, %[[B:.*]]: vector<2xbf16>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_bf16_16k8(%a: vector<2xbf16>, %b: vector<2xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (bf16, bf16) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<2xbf16> to vector<2xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<2xbf16> to vector<2xi16>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x8bf16 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<2xi16>, vector<2xi16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (bf16, bf16) -> f32>>, vector<2xbf16>, vector<2xbf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_bf16_32(
// CHECK-SAME: %[[A:.*]]: vector<4xbf16>, %[[B:.*]]: vector<4xbf16>, %[[C:.*]]: vector<16xf32>)
func.func @mfma_bf16_32(%a: vector<4xbf16>, %b: vector<4xbf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x8, (bf16, bf16) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<4xbf16> to vector<4xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<4xbf16> to vector<4xi16>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x8bf16.1k %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x8, (bf16, bf16) -> f32>>, vector<4xbf16>, vector<4xbf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_bf16_16(
// CHECK-SAME: %[[A:.*]]: vector<4xbf16>, %[[B:.*]]: vector<4xbf16>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_bf16_16(%a: vector<4xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (bf16, bf16) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<4xbf16> to vector<4xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<4xbf16> to vector<4xi16>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x16bf16.1k %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<4xi16>, vector<4xi16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (bf16, bf16) -> f32>>, vector<4xbf16>, vector<4xbf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_bf16_16k32(
// CHECK-SAME: %[[A:.*]]: vector<8xbf16>, %[[B:.*]]: vector<8xbf16>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_bf16_16k32(%a: vector<8xbf16>, %b: vector<8xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (bf16, bf16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x32.bf16 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (vector<8xbf16>, vector<8xbf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (bf16, bf16) -> f32>>, vector<8xbf16>, vector<8xbf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_fp8(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_fp8(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E4M3FNUZ, f8E4M3FNUZ) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to i64
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to i64
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x32.fp8.fp8 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E4M3FNUZ, f8E4M3FNUZ) -> f32>>, vector<8xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_fp8_bf8(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<16xf32>)
func.func @mfma_fp8_bf8(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to i64
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to i64
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.32x32x16.fp8.bf8 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (i64, i64, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>>, vector<8xi8>, vector<8xi8>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @mfma_ocp(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<4xf32>)
func.func @mfma_ocp(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E4M3FN, f8E4M3FN) -> f32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to i64
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to i64
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f32.16x16x32.fp8.fp8 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E4M3FN, f8E4M3FN) -> f32>>, vector<8xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mfma_i8(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<4xi32>)
func.func @mfma_i8(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (i8, i8) -> i32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to i64
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to i64
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.i32.16x16x32.i8 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (i64, i64, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (i8, i8) -> i32>>, vector<8xi8>, vector<8xi8>, vector<4xi32>) -> vector<4xi32>
  return %d : vector<4xi32>
}

// CHECK-LABEL: func.func @mfma_i8_32(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<16xi32>)
func.func @mfma_i8_32(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<16xi32>) -> vector<16xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (i8, i8) -> i32>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to i64
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to i64
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.i32.32x32x16.i8 %[[X]], %[[Y]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (i64, i64, vector<16xi32>, i32, i32, i32) -> vector<16xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x16, (i8, i8) -> i32>>, vector<8xi8>, vector<8xi8>, vector<16xi32>) -> vector<16xi32>
  return %d : vector<16xi32>
}

// CHECK-LABEL: func.func @gfx11_f16(
// CHECK-SAME: %[[A:.*]]: vector<16xf16>, %[[B:.*]]: vector<16xf16>, %[[C:.*]]: vector<8xf32>)
func.func @gfx11_f16(%a: vector<16xf16>, %b: vector<16xf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: rocdl.wmma.f32.16x16x16.f16 %[[A]], %[[B]], %[[C]] : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>>, vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx11_bf16(
// CHECK-SAME: %[[A:.*]]: vector<16xbf16>, %[[B:.*]]: vector<16xbf16>, %[[C:.*]]: vector<8xf32>)
func.func @gfx11_bf16(%a: vector<16xbf16>, %b: vector<16xbf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xbf16> to vector<16xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xbf16> to vector<16xi16>
  // CHECK: rocdl.wmma.f32.16x16x16.bf16 %[[X]], %[[Y]], %[[C]] : (vector<16xi16>, vector<16xi16>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> f32, signA = false, signB = false, clamp = false>>, vector<16xbf16>, vector<16xbf16>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx11_iu8(
// CHECK-SAME: %[[A:.*]]: vector<16xi8>, %[[B:.*]]: vector<16xi8>, %[[C:.*]]: vector<8xi32>)
func.func @gfx11_iu8(%a: vector<16xi8>, %b: vector<16xi8>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xi8> to vector<4xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xi8> to vector<4xi32>
  // CHECK: rocdl.wmma.i32.16x16x16.iu8 %[[X]], %[[Y]], %[[C]] : (vector<4xi32>, vector<4xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = false, signB = false, clamp = false>>, vector<16xi8>, vector<16xi8>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx11_iu8_signed(
// CHECK-SAME: %[[A:.*]]: vector<16xi8>, %[[B:.*]]: vector<16xi8>, %[[C:.*]]: vector<8xi32>)
func.func @gfx11_iu8_signed(%a: vector<16xi8>, %b: vector<16xi8>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = true, clamp = true>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xi8> to vector<4xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xi8> to vector<4xi32>
  // CHECK: rocdl.wmma.i32.16x16x16.iu8 %[[X]], %[[Y]], %[[C]] {clamp = true, signA = true, signB = true} : (vector<4xi32>, vector<4xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = true, clamp = true>>, vector<16xi8>, vector<16xi8>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx11_iu4(
// CHECK-SAME: %[[A:.*]]: vector<16xi4>, %[[B:.*]]: vector<16xi4>, %[[C:.*]]: vector<8xi32>)
func.func @gfx11_iu4(%a: vector<16xi4>, %b: vector<16xi4>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i4, i4) -> i32, signA = false, signB = true, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xi4> to vector<2xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xi4> to vector<2xi32>
  // CHECK: rocdl.wmma.i32.16x16x16.iu4 %[[X]], %[[Y]], %[[C]] {signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i4, i4) -> i32, signA = false, signB = true, clamp = false>>, vector<16xi4>, vector<16xi4>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx120x_f16(
// CHECK-SAME: %[[A:.*]]: vector<8xf16>, %[[B:.*]]: vector<8xf16>, %[[C:.*]]: vector<8xf32>)
func.func @gfx120x_f16(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: rocdl.wmma.f32.16x16x16.f16 %[[A]], %[[B]], %[[C]] : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>>, vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx120x_bf16(
// CHECK-SAME: %[[A:.*]]: vector<8xbf16>, %[[B:.*]]: vector<8xbf16>, %[[C:.*]]: vector<8xf32>)
func.func @gfx120x_bf16(%a: vector<8xbf16>, %b: vector<8xbf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xbf16> to vector<8xi16>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xbf16> to vector<8xi16>
  // CHECK: rocdl.wmma.f32.16x16x16.bf16 %[[X]], %[[Y]], %[[C]] : (vector<8xi16>, vector<8xi16>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> f32, signA = false, signB = false, clamp = false>>, vector<8xbf16>, vector<8xbf16>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx120x_iu8(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<8xi32>)
func.func @gfx120x_iu8(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to vector<2xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to vector<2xi32>
  // CHECK: rocdl.wmma.i32.16x16x16.iu8 %[[X]], %[[Y]], %[[C]] {signA = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = false>>, vector<8xi8>, vector<8xi8>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx120x_iu4(
// CHECK-SAME: %[[A:.*]]: vector<8xi4>, %[[B:.*]]: vector<8xi4>, %[[C:.*]]: vector<8xi32>)
func.func @gfx120x_iu4(%a: vector<8xi4>, %b: vector<8xi4>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (i4, i4) -> i32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi4> to i32
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi4> to i32
  // CHECK: rocdl.wmma.i32.16x16x16.iu4 %[[X]], %[[Y]], %[[C]] : (i32, i32, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (i4, i4) -> i32, signA = false, signB = false, clamp = false>>, vector<8xi4>, vector<8xi4>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx120x_iu4_k32(
// CHECK-SAME: %[[A:.*]]: vector<16xi4>, %[[B:.*]]: vector<16xi4>, %[[C:.*]]: vector<8xi32>)
func.func @gfx120x_iu4_k32(%a: vector<16xi4>, %b: vector<16xi4>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = true>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xi4> to vector<2xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xi4> to vector<2xi32>
  // CHECK: rocdl.wmma.i32.16x16x32.iu4 %[[X]], %[[Y]], %[[C]] {clamp = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = true>>, vector<16xi4>, vector<16xi4>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx120x_fp8(
// CHECK-SAME: %[[A:.*]]: vector<8xi8>, %[[B:.*]]: vector<8xi8>, %[[C:.*]]: vector<8xf32>)
func.func @gfx120x_fp8(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f8E4M3FN, f8E5M2) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<8xi8> to vector<2xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<8xi8> to vector<2xi32>
  // CHECK: rocdl.wmma.f32.16x16x16.fp8_bf8 %[[X]], %[[Y]], %[[C]] : (vector<2xi32>, vector<2xi32>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f8E4M3FN, f8E5M2) -> f32, signA = false, signB = false, clamp = false>>, vector<8xi8>, vector<8xi8>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx1250_f32(
// CHECK-SAME: %[[A:.*]]: vector<2xf32>, %[[B:.*]]: vector<2xf32>, %[[C:.*]]: vector<8xf32>)
func.func @gfx1250_f32(%a: vector<2xf32>, %b: vector<2xf32>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x4, (f32, f32) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: rocdl.wmma.f32.16x16x4.f32 %[[A]], %[[B]], %[[C]] : (vector<2xf32>, vector<2xf32>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x4, (f32, f32) -> f32, signA = false, signB = false, clamp = false>>, vector<2xf32>, vector<2xf32>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx1250_f16(
// CHECK-SAME: %[[A:.*]]: vector<16xf16>, %[[B:.*]]: vector<16xf16>, %[[C:.*]]: vector<8xf32>)
func.func @gfx1250_f16(%a: vector<16xf16>, %b: vector<16xf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false, modC = 1>>
  // CHECK: rocdl.wmma.f32.16x16x32.f16 %[[A]], %[[B]], %[[C]] {modC = 1 : i16} : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false, modC = 1>>, vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx1250_f16_f16(
// CHECK-SAME: %[[A:.*]]: vector<16xf16>, %[[B:.*]]: vector<16xf16>, %[[C:.*]]: vector<8xf16>)
func.func @gfx1250_f16_f16(%a: vector<16xf16>, %b: vector<16xf16>, %c: vector<8xf16>) -> vector<8xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f16, signA = false, signB = false, clamp = false>>
  // CHECK: rocdl.wmma.f16.16x16x32.f16 %[[A]], %[[B]], %[[C]] : (vector<16xf16>, vector<16xf16>, vector<8xf16>) -> vector<8xf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f16, signA = false, signB = false, clamp = false>>, vector<16xf16>, vector<16xf16>, vector<8xf16>) -> vector<8xf16>
  return %d : vector<8xf16>
}

// CHECK-LABEL: func.func @gfx1250_bf16(
// CHECK-SAME: %[[A:.*]]: vector<16xbf16>, %[[B:.*]]: vector<16xbf16>, %[[C:.*]]: vector<8xbf16>)
func.func @gfx1250_bf16(%a: vector<16xbf16>, %b: vector<16xbf16>, %c: vector<8xbf16>) -> vector<8xbf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>>
  // CHECK: rocdl.wmma.bf16.16x16x32.bf16 %[[A]], %[[B]], %[[C]] : (vector<16xbf16>, vector<16xbf16>, vector<8xbf16>) -> vector<8xbf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>>, vector<16xbf16>, vector<16xbf16>, vector<8xbf16>) -> vector<8xbf16>
  return %d : vector<8xbf16>
}

// CHECK-LABEL: func.func @gfx1250_fp8_k64(
// CHECK-SAME: %[[A:.*]]: vector<32xi8>, %[[B:.*]]: vector<32xi8>, %[[C:.*]]: vector<8xf32>)
func.func @gfx1250_fp8_k64(%a: vector<32xi8>, %b: vector<32xi8>, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x64, (f8E5M2, f8E4M3FN) -> f32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<32xi8> to vector<8xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<32xi8> to vector<8xi32>
  // CHECK: rocdl.wmma.f32.16x16x64.bf8_fp8 %[[X]], %[[Y]], %[[C]] : (vector<8xi32>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x64, (f8E5M2, f8E4M3FN) -> f32, signA = false, signB = false, clamp = false>>, vector<32xi8>, vector<32xi8>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: func.func @gfx1250_fp8_k128(
// CHECK-SAME: %[[A:.*]]: vector<64xi8>, %[[B:.*]]: vector<64xi8>, %[[C:.*]]: vector<8xf16>)
func.func @gfx1250_fp8_k128(%a: vector<64xi8>, %b: vector<64xi8>, %c: vector<8xf16>) -> vector<8xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x128, (f8E4M3FN, f8E4M3FN) -> f16, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<64xi8> to vector<16xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<64xi8> to vector<16xi32>
  // CHECK: rocdl.wmma.f16.16x16x128.fp8_fp8 %[[X]], %[[Y]], %[[C]] : (vector<16xi32>, vector<16xi32>, vector<8xf16>) -> vector<8xf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x128, (f8E4M3FN, f8E4M3FN) -> f16, signA = false, signB = false, clamp = false>>, vector<64xi8>, vector<64xi8>, vector<8xf16>) -> vector<8xf16>
  return %d : vector<8xf16>
}

// CHECK-LABEL: func.func @gfx1250_iu8(
// CHECK-SAME: %[[A:.*]]: vector<32xi8>, %[[B:.*]]: vector<32xi8>, %[[C:.*]]: vector<8xi32>)
func.func @gfx1250_iu8(%a: vector<32xi8>, %b: vector<32xi8>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x64, (i8, i8) -> i32, signA = true, signB = true, clamp = true>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<32xi8> to vector<8xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<32xi8> to vector<8xi32>
  // CHECK: rocdl.wmma.i32.16x16x64.iu8 %[[X]], %[[Y]], %[[C]] {clamp = true, signA = true, signB = true} : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x64, (i8, i8) -> i32, signA = true, signB = true, clamp = true>>, vector<32xi8>, vector<32xi8>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @gfx1250_iu4(
// CHECK-SAME: %[[A:.*]]: vector<16xi4>, %[[B:.*]]: vector<16xi4>, %[[C:.*]]: vector<8xi32>)
func.func @gfx1250_iu4(%a: vector<16xi4>, %b: vector<16xi4>, %c: vector<8xi32>) -> vector<8xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = false>>
  // CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : vector<16xi4> to vector<2xi32>
  // CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : vector<16xi4> to vector<2xi32>
  // CHECK: rocdl.wmma.i32.16x16x32.iu4 %[[X]], %[[Y]], %[[C]] : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = false>>, vector<16xi4>, vector<16xi4>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

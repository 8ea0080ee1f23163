// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl | FileCheck %s

// Matrix atoms beyond the common ones: f64, xf32, i8 of twice the K, OCP bf8, and several blocks.

// CHECK-LABEL: func.func @f64(
// CHECK-SAME: %[[A:.*]]: f64, %[[B:.*]]: f64, %[[C:.*]]: vector<4xf64>)
func.func @f64(%a: f64, %b: f64, %c: vector<4xf64>) -> vector<4xf64> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f64, f64) -> f64>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.mfma.f64.16x16x4f64 %[[A]], %[[B]], %[[C]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (f64, f64, vector<4xf64>, i32, i32, i32) -> vector<4xf64>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f64, f64) -> f64>>, f64, f64, vector<4xf64>) -> vector<4xf64>
  return %d : vector<4xf64>
}

// A lane holds one value of each operand.
// CHECK-LABEL: func.func @f64_blocks(
func.func @f64_blocks(%a: !fly.memref<f64, register, 1:1>, %c: !fly.memref<f64, register, 1:1>) {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x4, (f64, f64) -> f64, blocks = 4>>
  // CHECK: %[[D:.*]] = rocdl.mfma.f64.4x4x4f64 {{.*}} : (f64, f64, f64, i32, i32, i32) -> f64
  // CHECK: llvm.store %[[D]]
  fly.mma_atom_call(%atom, %c, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x4, (f64, f64) -> f64, blocks = 4>>, !fly.memref<f64, register, 1:1>, !fly.memref<f64, register, 1:1>, !fly.memref<f64, register, 1:1>, !fly.memref<f64, register, 1:1>) -> ()
  return
}

// CHECK-LABEL: func.func @xf32(
func.func @xf32(%a: vector<2xf32>, %b: vector<2xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (tf32, tf32) -> f32>>
  // CHECK: rocdl.mfma.f32.16x16x8.xf32 {{.*}} : (vector<2xf32>, vector<2xf32>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (tf32, tf32) -> f32>>, vector<2xf32>, vector<2xf32>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// Fragments of an xf32 operation hold f32.
// CHECK-LABEL: func.func @xf32_fragment(
func.func @xf32_fragment(%t: !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>>, !fly.layout<(1,1,1):(0,0,0)>>, %m: !fly.memref<f32, register, 2:1>, %c: !fly.memref<f32, register, 16:1>) {
  %atom = fly.get_mma_atom(%t) : (!fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>>, !fly.layout<(1,1,1):(0,0,0)>>) -> !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>>
  // CHECK: rocdl.mfma.f32.32x32x4.xf32
  fly.mma_atom_call(%atom, %c, %m, %m, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>>, !fly.memref<f32, register, 16:1>, !fly.memref<f32, register, 2:1>, !fly.memref<f32, register, 2:1>, !fly.memref<f32, register, 16:1>) -> ()
  return
}

// CHECK-LABEL: func.func @i8_k64(
// CHECK-SAME: %[[A:.*]]: vector<16xi8>, %[[C:.*]]: vector<4xi32>)
func.func @i8_k64(%a: vector<16xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x64, (i8, i8) -> i32>>
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[A]] : vector<16xi8> to vector<4xi32>
  // CHECK: rocdl.mfma.i32.16x16x64.i8 %[[BITS]], {{.*}} : (vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x64, (i8, i8) -> i32>>, vector<16xi8>, vector<16xi8>, vector<4xi32>) -> vector<4xi32>
  return %d : vector<4xi32>
}

// CHECK-LABEL: func.func @ocp_bf8(
func.func @ocp_bf8(%a: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E5M2, f8E4M3FN) -> f32>>
  // CHECK: rocdl.mfma.f32.16x16x32.bf8.fp8 {{.*}} : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E5M2, f8E4M3FN) -> f32>>, vector<8xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @two_blocks(
func.func @two_blocks(%a: vector<4xf16>, %c: vector<32xf32>) -> vector<32xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (f16, f16) -> f32, blocks = 2>>
  // CHECK: rocdl.mfma.f32.32x32x4f16 {{.*}} : (vector<4xf16>, vector<4xf16>, vector<32xf32>, i32, i32, i32) -> vector<32xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x4, (f16, f16) -> f32, blocks = 2>>, vector<4xf16>, vector<4xf16>, vector<32xf32>) -> vector<32xf32>
  return %d : vector<32xf32>
}

// CHECK-LABEL: func.func @four_blocks(
func.func @four_blocks(%a: vector<4xbf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (bf16, bf16) -> f32, blocks = 4>>
  // CHECK: rocdl.mfma.f32.16x16x4bf16.1k {{.*}} : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (bf16, bf16) -> f32, blocks = 4>>, vector<4xbf16>, vector<4xbf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @sixteen_blocks(
func.func @sixteen_blocks(%a: f32, %b: vector<4xi8>, %c: vector<4xf32>, %d: vector<4xi32>) -> (vector<4xf32>, vector<4xi32>) {
  %f32 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x1, (f32, f32) -> f32, blocks = 16>>
  %i8 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x4, (i8, i8) -> i32, blocks = 16>>
  // CHECK: rocdl.mfma.f32.4x4x1f32 {{.*}} : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %0 = fly.mma_atom_call_ssa(%f32, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x1, (f32, f32) -> f32, blocks = 16>>, f32, f32, vector<4xf32>) -> vector<4xf32>
  // CHECK: rocdl.mfma.i32.4x4x4i8 {{.*}} : (i32, i32, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
  %1 = fly.mma_atom_call_ssa(%i8, %b, %b, %d) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x4, (i8, i8) -> i32, blocks = 16>>, vector<4xi8>, vector<4xi8>, vector<4xi32>) -> vector<4xi32>
  return %0, %1 : vector<4xf32>, vector<4xi32>
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl | FileCheck %s

!scale = !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 1, opselB = 2>>

// The scales of the state are zero until they are set; opsel is handed on.

// CHECK-LABEL: func.func @mfma(
// CHECK-SAME: %[[ARG0:.+]]: vector<32xi8>, %[[ARG1:.+]]: vector<32xi4>, %[[ARG2:.+]]: vector<4xf32>, %[[ARG3:.+]]: vector<4xi8>) -> vector<4xf32>
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C0_I32]], %[[V1]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[V3:.+]] = llvm.bitcast %[[ARG3]] : vector<4xi8> to i32
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[V3]], %[[V2]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V5:.+]] = llvm.bitcast %[[ARG0]] : vector<32xi8> to vector<8xi32>
// CHECK: %[[V6:.+]] = llvm.bitcast %[[ARG1]] : vector<32xi4> to vector<4xi32>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C4_I32:.+]] = arith.constant 4 : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V7:.+]] = rocdl.mfma.scale.f32.16x16x128.f8f6f4 %[[V5]], %[[V6]], %[[ARG2]], %[[C0_I32_0]], %[[C4_I32]], %[[C1_I32]], %[[V3]], %[[C2_I32]], %[[C0_I32]] : (vector<8xi32>, vector<4xi32>, vector<4xf32>, i32, i32, i32, i32, i32, i32) -> vector<4xf32>
// CHECK: return %[[V7]] : vector<4xf32>
func.func @mfma(%a: vector<32xi8>, %b: vector<32xi4>, %c: vector<4xf32>, %s: vector<4xi8>) -> vector<4xf32> {
  %default = fly.make_mma_atom : !scale
  %atom = fly.atom.set_value(%default, "scale_a", %s) : (!scale, vector<4xi8>) -> !scale
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!scale, vector<32xi8>, vector<32xi4>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// -----

!scale = !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<32x32x64, (f6E2M3FN, f8E5M2) -> f32, opselA = 0, opselB = 0>>

// A scale in the operand group takes the place of the state.

// CHECK-LABEL: func.func @mfma_group(
// CHECK-SAME: %[[A:.*]]: vector<6xi32>, %[[B:.*]]: vector<8xi32>, %[[C:.*]]: vector<16xf32>, %[[SA:.*]]: i32, %[[SB:.*]]: i32)
func.func @mfma_group(%a: vector<6xi32>, %b: vector<8xi32>, %c: vector<16xf32>, %sa: i32, %sb: i32) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !scale
  // CHECK: rocdl.mfma.scale.f32.32x32x64.f8f6f4 %[[A]], %[[B]], %[[C]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SA]], %{{.*}}, %[[SB]]
  %d = fly.mma_atom_call_ssa(%atom, [%a, %sa], [%b, %sb], %c) : (!scale, vector<6xi32>, i32, vector<8xi32>, i32, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// -----

!scale = !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 1, opselB = 0, modC = 1, reuseA = true, reuseB = false, blockSize = 32>>

// CHECK-LABEL: func.func @wmma(
func.func @wmma(%a: vector<16xi32>, %c: vector<8xf32>) -> vector<8xf32> {
  // CHECK: llvm.mlir.undef : !llvm.struct<(i32, i32)>
  %atom = fly.make_mma_atom : !scale
  // CHECK: rocdl.wmma.scale.f32.16x16x128.f8f6f4 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {modC = 1 : i16, reuseA = true, scaleAType = 1 : i32}
  // CHECK-SAME: (vector<16xi32>, vector<16xi32>, vector<8xf32>, i32, i32) -> vector<8xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!scale, vector<16xi32>, vector<16xi32>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// -----

!scale = !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<32x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1, modC = 0, reuseA = false, reuseB = true, blockSize = 16>>

// Blocks of 16 have scales of 64 bits.

// CHECK-LABEL: func.func @wmma_tall(
func.func @wmma_tall(%a: vector<16xi32>, %b: vector<8xi32>, %c: vector<16xf32>, %s: i64) -> vector<16xf32> {
  // CHECK: llvm.mlir.undef : !llvm.struct<(i64, i64)>
  %default = fly.make_mma_atom : !scale
  %atom = fly.atom.set_value(%default, "scale_b", %s) : (!scale, i64) -> !scale
  // CHECK: rocdl.wmma.scale16.f32.32x16x128.f4 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {reuseB = true, scaleBType = 1 : i32}
  // CHECK-SAME: (vector<16xi32>, vector<8xi32>, vector<16xf32>, i64, i64) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!scale, vector<16xi32>, vector<8xi32>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

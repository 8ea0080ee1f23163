// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl --split-input-file | FileCheck %s

// Matrix atoms whose A is sparse: of four elements of a row two are stored, and an index says which.

// The index is the atom's state, 0 to begin with.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: %[[A:.*]]: vector<4xf16>, %[[B:.*]]: vector<8xf16>, %[[C:.*]]: vector<4xf32>, %[[INDEX:.*]]: i32)
func.func @state(%a: vector<4xf16>, %b: vector<8xf16>, %c: vector<4xf32>, %index: i32) -> vector<4xf32> {
  // CHECK: %[[UNDEF:.*]] = llvm.mlir.undef : !llvm.struct<(i32)>
  // CHECK: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK: %[[ATOM:.*]] = llvm.insertvalue %[[NONE]], %[[UNDEF]][0]
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>
  // CHECK: llvm.insertvalue %[[INDEX]], %[[ATOM]][0]
  %set = fly.atom.set_value(%atom, "sparse_index", %index) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>, i32) -> !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[SET:.*]] = arith.constant 0 : i32
  // CHECK: rocdl.smfmac.f32.16x16x32.f16 %[[A]], %[[B]], %[[C]], %{{.*}}, %[[ZERO]], %[[SET]] : (vector<4xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %d = fly.mma_atom_call_ssa(%set, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>, vector<4xf16>, vector<8xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// -----

// An index in A's group takes the place of the state; `indexSet` picks its part.
// CHECK-LABEL: func.func @group(
// CHECK-SAME: %{{.*}}, %{{.*}}, %{{.*}}, %[[INDEX:.*]]: vector<4xi8>)
func.func @group(%a: vector<4xbf16>, %b: vector<8xbf16>, %c: vector<16xf32>, %index: vector<4xi8>) -> vector<16xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<32x32x16, (bf16, bf16) -> f32, indexSet = 3>>
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[INDEX]] : vector<4xi8> to i32
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[SET:.*]] = arith.constant 3 : i32
  // CHECK: rocdl.smfmac.f32.32x32x16.bf16 %{{.*}}, %{{.*}}, %{{.*}}, %[[BITS]], %[[ZERO]], %[[SET]] : (vector<4xi16>, vector<8xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %d = fly.mma_atom_call_ssa(%atom, [%a, %index], %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<32x32x16, (bf16, bf16) -> f32, indexSet = 3>>, vector<4xbf16>, vector<4xi8>, vector<8xbf16>, vector<16xf32>) -> vector<16xf32>
  return %d : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @eight_bit(
func.func @eight_bit(%a: vector<8xi8>, %b: vector<16xi8>, %i: vector<4xi32>, %f: vector<4xf32>) -> (vector<4xi32>, vector<4xf32>) {
  %i8 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (i8, i8) -> i32>>
  %fp8 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (f8E5M2FNUZ, f8E4M3FNUZ) -> f32>>
  // CHECK: rocdl.smfmac.i32.16x16x64.i8 {{.*}} : (vector<2xi32>, vector<4xi32>, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
  %0 = fly.mma_atom_call_ssa(%i8, %a, %b, %i) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (i8, i8) -> i32>>, vector<8xi8>, vector<16xi8>, vector<4xi32>) -> vector<4xi32>
  // CHECK: rocdl.smfmac.f32.16x16x64.bf8.fp8 {{.*}} : (vector<2xi32>, vector<4xi32>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %1 = fly.mma_atom_call_ssa(%fp8, %a, %b, %f) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (f8E5M2FNUZ, f8E4M3FNUZ) -> f32>>, vector<8xi8>, vector<16xi8>, vector<4xf32>) -> vector<4xf32>
  return %0, %1 : vector<4xi32>, vector<4xf32>
}

// -----

// gfx950 has each with twice the K.
// CHECK-LABEL: func.func @gfx950(
func.func @gfx950(%a: vector<8xbf16>, %b: vector<16xbf16>, %x: vector<16xi8>, %y: vector<32xi8>, %c: vector<4xf32>, %d: vector<16xf32>) -> (vector<4xf32>, vector<16xf32>) {
  %bf16 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (bf16, bf16) -> f32, indexSet = 1>>
  %fp8 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.smfmac<32x32x64, (f8E4M3FN, f8E4M3FN) -> f32>>
  // CHECK: rocdl.smfmac.f32.16x16x64.bf16 {{.*}} : (vector<8xbf16>, vector<16xbf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %0 = fly.mma_atom_call_ssa(%bf16, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x64, (bf16, bf16) -> f32, indexSet = 1>>, vector<8xbf16>, vector<16xbf16>, vector<4xf32>) -> vector<4xf32>
  // CHECK: rocdl.smfmac.f32.32x32x64.fp8.fp8 {{.*}} : (vector<4xi32>, vector<8xi32>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %1 = fly.mma_atom_call_ssa(%fp8, %x, %y, %d) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<32x32x64, (f8E4M3FN, f8E4M3FN) -> f32>>, vector<16xi8>, vector<32xi8>, vector<16xf32>) -> vector<16xf32>
  return %0, %1 : vector<4xf32>, vector<16xf32>
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-nvvm --canonicalize | FileCheck %s

// The intrinsic of each product, and the registers that it takes.

// CHECK-LABEL: func.func @mma_16x8x16_f16_f16_f32(
func.func @mma_16x8x16_f16_f16_f32(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"(%{{.*}}) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>>, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x16_f16_f16_f16(
func.func @mma_16x8x16_f16_f16_f16(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf16>) -> vector<4xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f16.f16"(%{{.*}}) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  // CHECK: return %{{.*}} : vector<4xf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>>, vector<8xf16>, vector<4xf16>, vector<4xf16>) -> vector<4xf16>
  return %d : vector<4xf16>
}

// CHECK-LABEL: func.func @mma_16x8x8_f16_f16_f32(
func.func @mma_16x8x8_f16_f16_f32(%a: vector<4xf16>, %b: vector<2xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f32.f32"(%{{.*}}) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f32>>, vector<4xf16>, vector<2xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x8_f16_f16_f16(
func.func @mma_16x8x8_f16_f16_f16(%a: vector<4xf16>, %b: vector<2xf16>, %c: vector<4xf16>) -> vector<4xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f16>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f16.f16"(%{{.*}}) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  // CHECK: return %{{.*}} : vector<4xf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f16>>, vector<4xf16>, vector<2xf16>, vector<4xf16>) -> vector<4xf16>
  return %d : vector<4xf16>
}

// CHECK-LABEL: func.func @mma_16x8x16_bf16_bf16_f32(
func.func @mma_16x8x16_bf16_bf16_f32(%a: vector<8xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> f32>>, vector<8xbf16>, vector<4xbf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x8_bf16_bf16_f32(
func.func @mma_16x8x8_bf16_bf16_f32(%a: vector<4xbf16>, %b: vector<2xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (bf16, bf16) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.bf16"(%{{.*}}) : (i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (bf16, bf16) -> f32>>, vector<4xbf16>, vector<2xbf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x8_tf32_tf32_f32(
func.func @mma_16x8x8_tf32_tf32_f32(%a: vector<4xf32>, %b: vector<2xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>>, vector<4xf32>, vector<2xf32>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x4_tf32_tf32_f32(
func.func @mma_16x8x4_tf32_tf32_f32(%a: vector<2xf32>, %b: f32, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x4, (tf32, tf32) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k4.row.col.tf32"(%{{.*}}) : (i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x4, (tf32, tf32) -> f32>>, vector<2xf32>, f32, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x32_i8_i8_i32(
func.func @mma_16x8x32_i8_i8_i32(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (i8, i8) -> i32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.s8"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: return %{{.*}} : vector<4xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (i8, i8) -> i32>>, vector<16xi8>, vector<8xi8>, vector<4xi32>) -> vector<4xi32>
  return %d : vector<4xi32>
}

// CHECK-LABEL: func.func @mma_16x8x16_i8_i8_i32(
func.func @mma_16x8x16_i8_i8_i32(%a: vector<8xi8>, %b: vector<4xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (i8, i8) -> i32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.s8"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: return %{{.*}} : vector<4xi32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (i8, i8) -> i32>>, vector<8xi8>, vector<4xi8>, vector<4xi32>) -> vector<4xi32>
  return %d : vector<4xi32>
}

// CHECK-LABEL: func.func @mma_16x8x32_f8E4M3FN_f8E4M3FN_f32(
func.func @mma_16x8x32_f8E4M3FN_f8E4M3FN_f32(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E4M3FN) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E4M3FN) -> f32>>, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x32_f8E4M3FN_f8E5M2_f32(
func.func @mma_16x8x32_f8E4M3FN_f8E5M2_f32(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E5M2) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E5M2) -> f32>>, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x32_f8E5M2_f8E4M3FN_f32(
func.func @mma_16x8x32_f8E5M2_f8E4M3FN_f32(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E4M3FN) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E4M3FN) -> f32>>, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_16x8x32_f8E5M2_f8E5M2_f32(
func.func @mma_16x8x32_f8E5M2_f8E5M2_f32(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E5M2) -> f32>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"(%{{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: return %{{.*}} : vector<4xf32>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E5M2) -> f32>>, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @mma_8x8x4_f64_f64_f64(
func.func @mma_8x8x4_f64_f64_f64(%a: f64, %b: f64, %c: vector<2xf64>) -> vector<2xf64> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<8x8x4, (f64, f64) -> f64>>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%{{.*}}) : (f64, f64, f64, f64) -> !llvm.struct<(f64, f64)>
  // CHECK: return %{{.*}} : vector<2xf64>
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!fly_nvvm.sm80.mma_sync<8x8x4, (f64, f64) -> f64>>, f64, f64, vector<2xf64>) -> vector<2xf64>
  return %d : vector<2xf64>
}

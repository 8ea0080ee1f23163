// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-canonicalize --fly-layout-lowering | FileCheck %s

!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>

// Operands without K make one step of it.
// CHECK-LABEL: func.func @no_k(
func.func @no_k(%p: !fly.ptr<f32, register>) {
  // CHECK-COUNT-6: fly.mma_atom_call(
  // CHECK-NOT: fly.mma_atom_call(
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,3):(0,1,2)>
  %la = fly.static : !fly.layout<(1,2):(0,1)>
  %lb = fly.static : !fly.layout<(1,3):(0,1)>
  %c = fly.make_view(%p, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,3):(0,1,2)>) -> !fly.memref<f32, register, (1,2,3):(0,1,2)>
  %a = fly.make_view(%p, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2):(0,1)>) -> !fly.memref<f32, register, (1,2):(0,1)>
  %b = fly.make_view(%p, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,3):(0,1)>) -> !fly.memref<f32, register, (1,3):(0,1)>
  fly.gemm(%atom, %c, %a, %b, %c) : (!fma, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<f32, register, (1,3):(0,1)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>) -> ()
  return
}

// Fragments of one atom each make one call.
// CHECK-LABEL: func.func @single(
func.func @single(%p: !fly.ptr<f32, register>) {
  // CHECK-COUNT-1: fly.mma_atom_call(
  // CHECK-NOT: fly.mma_atom_call(
  %atom = fly.make_mma_atom : !fma
  %l = fly.static : !fly.layout<1:0>
  %t = fly.make_view(%p, %l) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
  fly.gemm(%atom, %t, %t, %t, %t) : (!fma, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>) -> ()
  return
}

// A scale is sliced like the data it belongs to.
!scaled = !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0>>

// CHECK-LABEL: func.func @scales(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f8E4M3FN, register>, %[[ARG1:.+]]: !fly.ptr<i32, register>, %[[ARG2:.+]]: !fly.ptr<f32, register>)
// CHECK: %[[V0:.+]] = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0>>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[ARG0]], %[[V1]]) : (!fly.ptr<f8E4M3FN, register>, !fly.int_tuple<0>) -> !fly.ptr<f8E4M3FN, register>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<32>
// CHECK: %[[V5:.+]] = fly.make_layout(%[[V4]], %[[V3]]) : (!fly.int_tuple<32>, !fly.int_tuple<1>) -> !fly.layout<32:1>
// CHECK: %[[V6:.+]] = fly.make_view(%[[V2]], %[[V5]]) : (!fly.ptr<f8E4M3FN, register>, !fly.layout<32:1>) -> !fly.memref<f8E4M3FN, register, 32:1>
// CHECK: %[[V7:.+]] = fly.add_offset(%[[ARG1]], %[[V1]]) : (!fly.ptr<i32, register>, !fly.int_tuple<0>) -> !fly.ptr<i32, register>
// CHECK: %[[V8:.+]] = fly.make_layout(%[[V3]], %[[V1]]) : (!fly.int_tuple<1>, !fly.int_tuple<0>) -> !fly.layout<1:0>
// CHECK: %[[V9:.+]] = fly.make_view(%[[V7]], %[[V8]]) : (!fly.ptr<i32, register>, !fly.layout<1:0>) -> !fly.memref<i32, register, 1:0>
// CHECK: %[[V10:.+]] = fly.add_offset(%[[ARG2]], %[[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V11:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V12:.+]] = fly.make_layout(%[[V11]], %[[V3]]) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
// CHECK: %[[V13:.+]] = fly.make_view(%[[V10]], %[[V12]]) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
// CHECK: fly.mma_atom_call(%[[V0]], %[[V13]], [%[[V6]], %[[V9]]], [%[[V6]], %[[V9]]], %[[V13]])
// CHECK: %[[V14:.+]] = fly.add_offset(%[[ARG0]], %[[V4]]) : (!fly.ptr<f8E4M3FN, register>, !fly.int_tuple<32>) -> !fly.ptr<f8E4M3FN, register>
// CHECK: %[[V15:.+]] = fly.make_view(%[[V14]], %[[V5]]) : (!fly.ptr<f8E4M3FN, register>, !fly.layout<32:1>) -> !fly.memref<f8E4M3FN, register, 32:1>
// CHECK: %[[V16:.+]] = fly.add_offset(%[[ARG1]], %[[V3]]) : (!fly.ptr<i32, register>, !fly.int_tuple<1>) -> !fly.ptr<i32, register>
// CHECK: %[[V17:.+]] = fly.make_view(%[[V16]], %[[V8]]) : (!fly.ptr<i32, register>, !fly.layout<1:0>) -> !fly.memref<i32, register, 1:0>
// CHECK: fly.mma_atom_call(%[[V0]], %[[V13]], [%[[V15]], %[[V17]]], [%[[V15]], %[[V17]]], %[[V13]])
// CHECK: return
func.func @scales(%p: !fly.ptr<f8E4M3FN, register>, %s: !fly.ptr<i32, register>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !scaled
  %lc = fly.static : !fly.layout<(4,1,1):(1,0,0)>
  %la = fly.static : !fly.layout<(32,1,2):(1,0,32)>
  %ls = fly.static : !fly.layout<(1,1,2):(0,0,1)>
  %c = fly.make_view(%q, %lc) : (!fly.ptr<f32, register>, !fly.layout<(4,1,1):(1,0,0)>) -> !fly.memref<f32, register, (4,1,1):(1,0,0)>
  %a = fly.make_view(%p, %la) : (!fly.ptr<f8E4M3FN, register>, !fly.layout<(32,1,2):(1,0,32)>) -> !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>
  %sa = fly.make_view(%s, %ls) : (!fly.ptr<i32, register>, !fly.layout<(1,1,2):(0,0,1)>) -> !fly.memref<i32, register, (1,1,2):(0,0,1)>
  fly.gemm(%atom, %c, [%a, %sa], [%a, %sa], %c) : (!scaled, !fly.memref<f32, register, (4,1,1):(1,0,0)>, !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>, !fly.memref<i32, register, (1,1,2):(0,0,1)>, !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>, !fly.memref<i32, register, (1,1,2):(0,0,1)>, !fly.memref<f32, register, (4,1,1):(1,0,0)>) -> ()
  return
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

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
// CHECK-SAME: %[[DATA:.+]]: !fly.ptr<f8E4M3FN, register>, %[[SCALE:.+]]: !fly.ptr<i32, register>, %[[ACC:.+]]: !fly.ptr<f32, register>
func.func @scales(%p: !fly.ptr<f8E4M3FN, register>, %s: !fly.ptr<i32, register>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !scaled
  %lc = fly.static : !fly.layout<(4,1,1):(1,0,0)>
  %la = fly.static : !fly.layout<(32,1,2):(1,0,32)>
  %ls = fly.static : !fly.layout<(1,1,2):(0,0,1)>
  %c = fly.make_view(%q, %lc) : (!fly.ptr<f32, register>, !fly.layout<(4,1,1):(1,0,0)>) -> !fly.memref<f32, register, (4,1,1):(1,0,0)>
  %a = fly.make_view(%p, %la) : (!fly.ptr<f8E4M3FN, register>, !fly.layout<(32,1,2):(1,0,32)>) -> !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>
  %sa = fly.make_view(%s, %ls) : (!fly.ptr<i32, register>, !fly.layout<(1,1,2):(0,0,1)>) -> !fly.memref<i32, register, (1,1,2):(0,0,1)>
  // CHECK: %[[A0:.+]] = fly.make_view(%[[DATA]],
  // CHECK: %[[S0:.+]] = fly.make_view(%[[SCALE]],
  // CHECK: fly.mma_atom_call(%{{.+}}, %[[D:.+]], [%[[A0]], %[[S0]]], [%[[A0]], %[[S0]]], %[[D]])
  // CHECK: %[[NEXT:.+]] = fly.add_offset(%[[SCALE]], %{{.+}}) : (!fly.ptr<i32, register>, !fly.int_tuple<1>)
  // CHECK: %[[S1:.+]] = fly.make_view(%[[NEXT]],
  // CHECK: fly.mma_atom_call(%{{.+}}, %[[D]], [%[[A1:.+]], %[[S1]]], [%[[A1]], %[[S1]]], %[[D]])
  fly.gemm(%atom, %c, [%a, %sa], [%a, %sa], %c) : (!scaled, !fly.memref<f32, register, (4,1,1):(1,0,0)>, !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>, !fly.memref<i32, register, (1,1,2):(0,0,1)>, !fly.memref<f8E4M3FN, register, (32,1,2):(1,0,32)>, !fly.memref<i32, register, (1,1,2):(0,0,1)>, !fly.memref<f32, register, (4,1,1):(1,0,0)>) -> ()
  return
}

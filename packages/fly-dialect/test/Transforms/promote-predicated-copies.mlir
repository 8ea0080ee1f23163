// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-convert-atom-call-to-ssa-form --fly-promote-regmem-to-vectorssa | FileCheck %s

// Copies under a predicate: where it is false, the destination keeps its old value.

// CHECK-LABEL: gpu.func @once(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f16, global>, %[[ARG1:.+]]: i1
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
// CHECK: %[[V1:.+]] = ub.poison : vector<4xf16>
// CHECK: %[[V2:.+]] = ub.poison : vector<1xi1>
// CHECK: %[[V3:.+]] = vector.insert %[[ARG1]], %[[V2]] [0] : i1 into vector<1xi1>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V6:.+]] = fly.make_layout(%[[V4]], %[[V5]]) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
// CHECK: %[[V7:.+]] = fly.make_view(%[[ARG0]], %[[V6]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[V8:.+]] = vector.extract %[[V3]][0] : i1 from vector<1xi1>
// CHECK: %[[V10:.+]] = fly.copy_atom_call_ssa(%[[V0]], %[[V7]], %[[V1]], %[[V8]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, 4:1>, vector<4xf16>, i1) -> vector<4xf16>
// CHECK: gpu.return %[[V10]] : vector<4xf16>
gpu.module @straight { gpu.func @once(%g: !fly.ptr<f16, global>, %b: i1) -> vector<4xf16> {
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f16, register>
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
  fly.ptr.store(%b, %p) : (i1, !fly.ptr<i1, register>) -> ()
  %sh = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  %st = fly.make_int_tuple() : () -> !fly.int_tuple<1>
  %l = fly.make_layout(%sh, %st) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
  %l1 = fly.make_layout(%st, %st) : (!fly.int_tuple<1>, !fly.int_tuple<1>) -> !fly.layout<1:1>
  %vg = fly.make_view(%g, %l) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
  %vr = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
  %vp = fly.make_view(%p, %l1) : (!fly.ptr<i1, register>, !fly.layout<1:1>) -> !fly.memref<i1, register, 1:1>
  fly.copy_atom_call(%a, %vg, %vr, %vp) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, 4:1>, !fly.memref<f16, register, 4:1>, !fly.memref<i1, register, 1:1>) -> ()
  %v = fly.ptr.load(%r) : (!fly.ptr<f16, register>) -> vector<4xf16>
  gpu.return %v : vector<4xf16>
} }

// CHECK-LABEL: gpu.func @in_a_loop(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f16, global>, %[[ARG1:.+]]: i1
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
// CHECK: %[[V1:.+]] = ub.poison : vector<4xf16>
// CHECK: %[[V2:.+]] = ub.poison : vector<1xi1>
// CHECK: %[[V3:.+]] = vector.insert %[[ARG1]], %[[V2]] [0] : i1 into vector<1xi1>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V6:.+]] = fly.make_layout(%[[V4]], %[[V5]]) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
// CHECK: %[[V7:.+]] = fly.make_view(%[[ARG0]], %[[V6]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[C0:.+]] = arith.constant 0 : index
// CHECK: %[[C1:.+]] = arith.constant 1 : index
// CHECK: %[[C8:.+]] = arith.constant 8 : index
// CHECK: %[[V8:.+]]:2 = scf.for %[[ARG2:.+]] = %[[C0]] to %[[C8]] step %[[C1]] iter_args(%[[ARG3:.+]] = %[[V1]], %[[ARG4:.+]] = %[[V3]]) -> (vector<4xf16>, vector<1xi1>) {
// CHECK: %[[V10:.+]] = vector.extract %[[ARG4]][0] : i1 from vector<1xi1>
// CHECK: %[[V12:.+]] = fly.copy_atom_call_ssa(%[[V0]], %[[V7]], %[[ARG3]], %[[V10]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, 4:1>, vector<4xf16>, i1) -> vector<4xf16>
// CHECK: scf.yield %[[V12]], %[[ARG4]] : vector<4xf16>, vector<1xi1>
// CHECK: gpu.return %[[V8]]#0 : vector<4xf16>
gpu.module @loop { gpu.func @in_a_loop(%g: !fly.ptr<f16, global>, %b: i1) -> vector<4xf16> {
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f16, register>
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
  fly.ptr.store(%b, %p) : (i1, !fly.ptr<i1, register>) -> ()
  %sh = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  %st = fly.make_int_tuple() : () -> !fly.int_tuple<1>
  %l = fly.make_layout(%sh, %st) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
  %l1 = fly.make_layout(%st, %st) : (!fly.int_tuple<1>, !fly.int_tuple<1>) -> !fly.layout<1:1>
  %vg = fly.make_view(%g, %l) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
  %vr = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
  %vp = fly.make_view(%p, %l1) : (!fly.ptr<i1, register>, !fly.layout<1:1>) -> !fly.memref<i1, register, 1:1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    fly.copy_atom_call(%a, %vg, %vr, %vp) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, 4:1>, !fly.memref<f16, register, 4:1>, !fly.memref<i1, register, 1:1>) -> ()
  }
  %v = fly.ptr.load(%r) : (!fly.ptr<f16, register>) -> vector<4xf16>
  gpu.return %v : vector<4xf16>
} }

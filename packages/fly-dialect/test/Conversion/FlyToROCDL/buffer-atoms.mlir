// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl | FileCheck %s

!copy = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 16>
!buffer = !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1, align<16>>

// The default scalar offset is 0; a set one is scaled from elements to bytes.

// CHECK-LABEL: func.func @load_store(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.struct<(ptr<8>, i32)>, %[[ARG1:.+]]: i32)
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[ARG1]], %[[V1]][0] : !llvm.struct<(i32)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[V3:.+]] = llvm.extractvalue %[[V2]][0] : !llvm.struct<(i32)>
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V4:.+]] = arith.muli %[[V3]], %[[C2_I32]] : i32
// CHECK: %[[V5:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V6:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C2_I32_1:.+]] = arith.constant 2 : i32
// CHECK: %[[V7:.+]] = arith.muli %[[V6]], %[[C2_I32_1]] : i32
// CHECK: %[[V8:.+]] = rocdl.raw.ptr.buffer.load %[[V5]], %[[V7]], %[[V4]], %[[C0_I32_0]] : i128
// CHECK: %[[V9:.+]] = llvm.bitcast %[[V8]] : i128 to vector<8xf16>
// CHECK: %[[C0_I32_2:.+]] = arith.constant 0 : i32
// CHECK: %[[V10:.+]] = llvm.extractvalue %[[V2]][0] : !llvm.struct<(i32)>
// CHECK: %[[C2_I32_3:.+]] = arith.constant 2 : i32
// CHECK: %[[V11:.+]] = arith.muli %[[V10]], %[[C2_I32_3]] : i32
// CHECK: %[[V12:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C2_I32_4:.+]] = arith.constant 2 : i32
// CHECK: %[[V14:.+]] = arith.muli %[[V13]], %[[C2_I32_4]] : i32
// CHECK: %[[V15:.+]] = llvm.bitcast %[[V9]] : vector<8xf16> to i128
// CHECK: rocdl.raw.ptr.buffer.store %[[V15]], %[[V12]], %[[V14]], %[[V11]], %[[C0_I32_2]] : i128
// CHECK: return
func.func @load_store(%b: !buffer, %s: i32) {
  %default = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %atom = fly.atom.set_value(%default, "soffset", %s) : (!copy, i32) -> !copy
  %v = fly.copy_atom_call_ssa(%atom, %b) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !buffer) -> vector<8xf16>
  fly.copy_atom_call_ssa(%atom, %v, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!copy, vector<8xf16>, !buffer) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<32, cache = 2>, 32>

// CHECK-LABEL: func.func @non_temporal(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.struct<(ptr<8>, i32)>, %[[ARG1:.+]]: !llvm.ptr<5>)
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32)>
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V2:.+]] = llvm.extractvalue %[[V1]][0] : !llvm.struct<(i32)>
// CHECK: %[[C4_I32:.+]] = arith.constant 4 : i32
// CHECK: %[[V3:.+]] = arith.muli %[[V2]], %[[C4_I32]] : i32
// CHECK: %[[V4:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V5:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C4_I32_0:.+]] = arith.constant 4 : i32
// CHECK: %[[V6:.+]] = arith.muli %[[V5]], %[[C4_I32_0]] : i32
// CHECK: %[[V7:.+]] = rocdl.raw.ptr.buffer.load %[[V4]], %[[V6]], %[[V3]], %[[C2_I32]] : i32
// CHECK: %[[V8:.+]] = llvm.bitcast %[[V7]] : i32 to f32
// CHECK: llvm.store %[[V8]], %[[ARG1]] : f32, !llvm.ptr<5>
// CHECK: return
func.func @non_temporal(%b: !fly.memref<f32, #fly_rocdl.buffer_desc, 1:1>, %r: !fly.memref<f32, register, 1:1>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !copy
  fly.copy_atom_call(%atom, %b, %r) : (!copy, !fly.memref<f32, #fly_rocdl.buffer_desc, 1:1>, !fly.memref<f32, register, 1:1>) -> ()
  return
}

// -----

!lds = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy_lds<128>, 8>
!buffer = !fly.memref<i8, #fly_rocdl.buffer_desc, 16:1>
!shared = !fly.memref<i8, shared, 16:1>

// CHECK-LABEL: func.func @to_lds(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.struct<(ptr<8>, i32)>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32)
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C0_I32]], %[[V1]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[ARG2]], %[[V2]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[C64_I32:.+]] = arith.constant 64 : i32
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C64_I32]], %[[V3]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[V5:.+]] = llvm.extractvalue %[[V4]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V6:.+]] = llvm.extractvalue %[[V4]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[V7:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V8:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: rocdl.raw.ptr.buffer.load.lds %[[V7]], %[[ARG1]], %[[C16_I32]], %[[V8]], %[[V5]], %[[V6]], %[[C0_I32_0]]
// CHECK: return
func.func @to_lds(%b: !buffer, %s: !shared, %o: i32) {
  %default = fly.make_copy_atom {valBits = 8 : i32} : !lds
  %1 = fly.atom.set_value(%default, "soffset", %o) : (!lds, i32) -> !lds
  %c64 = arith.constant 64 : i32
  %2 = fly.atom.set_value(%1, "imm_offset", %c64) : (!lds, i32) -> !lds
  fly.copy_atom_call(%2, %b, %s) : (!lds, !buffer, !shared) -> ()
  return
}

// -----

!async = !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<96>, 8>

// CHECK-LABEL: func.func @global_to_lds(
// CHECK-SAME: %[[G:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>)
func.func @global_to_lds(%g: !fly.memref<i8, global, 12:1>, %s: !fly.memref<i8, shared, 12:1>) {
  %atom = fly.make_copy_atom {valBits = 8 : i32} : !async
  // CHECK: rocdl.global.load.lds %[[G]], %[[S]], 12, 0, 0
  fly.copy_atom_call(%atom, %g, %s) : (!async, !fly.memref<i8, global, 12:1>, !fly.memref<i8, shared, 12:1>) -> ()
  return
}

// -----

!fadd = !fly.copy_atom<!fly_rocdl.cdna3.buffer_atomic<add, f32>, 32>
!umin = !fly.copy_atom<!fly_rocdl.cdna3.buffer_atomic<min, i32>, 32>
!pk = !fly.copy_atom<!fly_rocdl.cdna3.buffer_atomic<add, vector<2xf16>>, 16>

// CHECK-LABEL: func.func @atomics(
func.func @atomics(%f: !fly.memref<f32, #fly_rocdl.buffer_desc, 1:1>, %i: !fly.memref<i32, #fly_rocdl.buffer_desc, 1:1>,
                   %h: !fly.memref<f16, #fly_rocdl.buffer_desc, 2:1>, %x: f32, %y: i32, %z: vector<2xf16>) {
  %fadd = fly.make_copy_atom {valBits = 32 : i32} : !fadd
  %umin = fly.make_copy_atom {valBits = 32 : i32} : !umin
  %pk = fly.make_copy_atom {valBits = 16 : i32} : !pk
  // CHECK: rocdl.raw.ptr.buffer.atomic.fadd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32
  fly.copy_atom_call_ssa(%fadd, %x, %f) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!fadd, f32, !fly.memref<f32, #fly_rocdl.buffer_desc, 1:1>) -> ()
  // CHECK: rocdl.raw.ptr.buffer.atomic.umin %{{.*}} : i32
  fly.copy_atom_call_ssa(%umin, %y, %i) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!umin, i32, !fly.memref<i32, #fly_rocdl.buffer_desc, 1:1>) -> ()
  // CHECK: rocdl.raw.ptr.buffer.atomic.fadd %{{.*}} : vector<2xf16>
  fly.copy_atom_call_ssa(%pk, %z, %h) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!pk, vector<2xf16>, !fly.memref<f16, #fly_rocdl.buffer_desc, 2:1>) -> ()
  return
}

// -----

!tr16 = !fly.copy_atom<!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>, 16>
!tr8 = !fly.copy_atom<!fly_rocdl.cdna4.lds_read_trans<trans = 8b, 64>, 8>

// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<3>, %[[B:.*]]: !llvm.ptr<3>)
func.func @transposed(%a: !fly.memref<f16, shared, 4:1>, %b: !fly.memref<f8E4M3FN, shared, 8:1>) -> (vector<4xf16>, vector<8xi8>) {
  %tr16 = fly.make_copy_atom {valBits = 16 : i32} : !tr16
  %tr8 = fly.make_copy_atom {valBits = 8 : i32} : !tr8
  // CHECK: %[[V:.*]] = rocdl.ds.read.tr16.b64 %[[A]] : {{.*}} -> vector<4xi16>
  // CHECK: llvm.bitcast %[[V]] : vector<4xi16> to vector<4xf16>
  %0 = fly.copy_atom_call_ssa(%tr16, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!tr16, !fly.memref<f16, shared, 4:1>) -> vector<4xf16>
  // CHECK: %[[W:.*]] = rocdl.ds.read.tr8.b64 %[[B]] : {{.*}} -> vector<2xi32>
  // CHECK: llvm.bitcast %[[W]] : vector<2xi32> to vector<8xi8>
  %1 = fly.copy_atom_call_ssa(%tr8, %b) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!tr8, !fly.memref<f8E4M3FN, shared, 8:1>) -> vector<8xi8>
  return %0, %1 : vector<4xf16>, vector<8xi8>
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --fly-convert-atom-call-to-ssa-form | FileCheck %s

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!global = !fly.memref<f16, global, 4:1>
!registers = !fly.memref<f16, register, 4:1>

// CHECK-LABEL: func.func @register_destination(
// CHECK-SAME: %[[G:.*]]: !fly.memref<f16, global, 4:1>, %[[R:.*]]: !fly.ptr<f16, register>)
func.func @register_destination(%g: !global, %r: !fly.ptr<f16, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %l = fly.static : !fly.layout<4:1>
  %view = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !registers
  // CHECK: %[[V:.*]] = fly.copy_atom_call_ssa(%{{.*}}, %[[G]]) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, 4:1>) -> vector<4xf16>
  // CHECK: fly.ptr.store(%[[V]], %[[R]]) : (vector<4xf16>, !fly.ptr<f16, register>) -> ()
  // CHECK-NOT: fly.copy_atom_call(
  fly.copy_atom_call(%atom, %g, %view) : (!copy, !global, !registers) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!global = !fly.memref<f16, global, 4:1>

// CHECK-LABEL: func.func @register_source(
// CHECK-SAME: %[[G:.*]]: !fly.memref<f16, global, 4:1>, %[[R:.*]]: !fly.ptr<f16, register>)
func.func @register_source(%g: !global, %r: !fly.ptr<f16, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // A coalescable layout.
  %l = fly.static : !fly.layout<(2,2):(1,2)>
  %view = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<(2,2):(1,2)>) -> !fly.memref<f16, register, (2,2):(1,2)>
  // CHECK: %[[V:.*]] = fly.ptr.load(%[[R]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
  // CHECK: fly.copy_atom_call_ssa(%{{.*}}, %[[V]], %[[G]]) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
  // CHECK-SAME: (!fly.copy_atom<!fly.universal_copy<64>, 16>, vector<4xf16>, !fly.memref<f16, global, 4:1>) -> ()
  fly.copy_atom_call(%atom, %view, %g) : (!copy, !fly.memref<f16, register, (2,2):(1,2)>, !global) -> ()
  return
}

// -----

// From memory to memory: of registers there is the predicate.

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!global = !fly.memref<f16, global, 4:1>
!shared = !fly.memref<f16, shared, 4:1>
!predicate = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: func.func @register_predicate(
// CHECK-SAME: %[[G:.*]]: !fly.memref<f16, global, 4:1>, %[[S:.*]]: !fly.memref<f16, shared, 4:1>, %[[R:.*]]: !fly.ptr<i1, register>)
func.func @register_predicate(%g: !global, %s: !shared, %r: !fly.ptr<i1, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %l = fly.static : !fly.layout<1:1>
  %view = fly.make_view(%r, %l) : (!fly.ptr<i1, register>, !fly.layout<1:1>) -> !predicate
  // CHECK: %[[P:.*]] = fly.ptr.load(%[[R]]) : (!fly.ptr<i1, register>) -> i1
  // CHECK: fly.copy_atom_call_ssa(%{{.*}}, %[[G]], %[[S]], %[[P]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
  fly.copy_atom_call(%atom, %g, %s, %view) : (!copy, !global, !shared, !predicate) -> ()
  return
}

// -----

// Registers that are not contiguous stay an operand, and a predicate beside them, too.

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!strided = !fly.memref<f16, register, (2,2):(4,1)>
!global = !fly.memref<f16, global, (2,2):(1,2)>
!predicate = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: func.func @predicate_of_strided_registers(
func.func @predicate_of_strided_registers(%g: !global, %r: !fly.ptr<f16, register>, %p: !fly.ptr<i1, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %l = fly.static : !fly.layout<(2,2):(4,1)>
  %one = fly.static : !fly.layout<1:1>
  %view = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<(2,2):(4,1)>) -> !strided
  %pred = fly.make_view(%p, %one) : (!fly.ptr<i1, register>, !fly.layout<1:1>) -> !predicate
  // CHECK: fly.copy_atom_call(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
  // CHECK-NOT: _ssa
  fly.copy_atom_call(%atom, %g, %view, %pred) : (!copy, !global, !strided, !predicate) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!strided = !fly.memref<f16, register, (2,2):(4,1)>
!global = !fly.memref<f16, global, (2,2):(1,2)>

// CHECK-LABEL: func.func @not_contiguous(
func.func @not_contiguous(%g: !global, %r: !fly.ptr<f16, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %l = fly.static : !fly.layout<(2,2):(4,1)>
  %view = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<(2,2):(4,1)>) -> !strided
  // CHECK: fly.copy_atom_call(%{{.*}}, %{{.*}}, %{{.*}}) :
  // CHECK-NOT: _ssa
  fly.copy_atom_call(%atom, %g, %view) : (!copy, !global, !strided) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!global = !fly.memref<f16, global, 4:1>
!registers = !fly.memref<f16, register, 4:1>

// Where the predicate is false, the destination keeps its value.

// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %[[G:.*]]: !fly.memref<f16, global, 4:1>, %[[R:.*]]: !fly.ptr<f16, register>, %[[P:.*]]: !fly.ptr<i1, register>)
func.func @predicated(%g: !global, %r: !fly.ptr<f16, register>, %p: !fly.ptr<i1, register>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  %l = fly.static : !fly.layout<4:1>
  %one = fly.static : !fly.layout<1:0>
  %view = fly.make_view(%r, %l) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !registers
  %flag = fly.make_view(%p, %one) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
  // CHECK-DAG: %[[Q:.*]] = fly.ptr.load(%[[P]]) : (!fly.ptr<i1, register>) -> i1
  // CHECK-DAG: %[[OLD:.*]] = fly.ptr.load(%[[R]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
  // CHECK: %[[V:.*]] = fly.copy_atom_call_ssa(%{{.*}}, %[[G]], %[[OLD]], %[[Q]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
  // CHECK: fly.ptr.store(%[[V]], %[[R]])
  fly.copy_atom_call(%atom, %g, %view, %flag) : (!copy, !global, !registers, !fly.memref<i1, register, 1:0>) -> ()
  return
}

// -----

!mma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x32, (f8E4M3FNUZ, f8E4M3FNUZ) -> f32>>
!a = !fly.memref<f8E4M3FNUZ, register, 8:1>
!c = !fly.memref<f32, register, (4,1):(1,0)>

// Narrow floats are integers in registers.

// CHECK-LABEL: func.func @mma(
// CHECK-SAME: %[[PA:.*]]: !fly.ptr<f8E4M3FNUZ, register>, %[[PB:.*]]: !fly.ptr<f8E4M3FNUZ, register>, %[[PC:.*]]: !fly.ptr<f32, register>)
func.func @mma(%pa: !fly.ptr<f8E4M3FNUZ, register>, %pb: !fly.ptr<f8E4M3FNUZ, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !mma
  %l8 = fly.static : !fly.layout<8:1>
  %l4 = fly.static : !fly.layout<(4,1):(1,0)>
  %a = fly.make_view(%pa, %l8) : (!fly.ptr<f8E4M3FNUZ, register>, !fly.layout<8:1>) -> !a
  %b = fly.make_view(%pb, %l8) : (!fly.ptr<f8E4M3FNUZ, register>, !fly.layout<8:1>) -> !a
  %c = fly.make_view(%pc, %l4) : (!fly.ptr<f32, register>, !fly.layout<(4,1):(1,0)>) -> !c
  // CHECK: %[[A:.*]] = fly.ptr.load(%[[PA]]) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<8xi8>
  // CHECK: %[[B:.*]] = fly.ptr.load(%[[PB]]) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<8xi8>
  // CHECK: %[[C:.*]] = fly.ptr.load(%[[PC]]) : (!fly.ptr<f32, register>) -> vector<4xf32>
  // CHECK: %[[D:.*]] = fly.mma_atom_call_ssa(%{{.*}}, %[[A]], %[[B]], %[[C]])
  // CHECK-SAME: vector<8xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  // CHECK: fly.ptr.store(%[[D]], %[[PC]]) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
  fly.mma_atom_call(%atom, %c, %a, %b, %c) : (!mma, !c, !a, !a, !c) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!global = !fly.memref<f16, global, 4:1>
!shared = !fly.memref<f16, shared, 4:1>

// CHECK-LABEL: func.func @no_registers(
func.func @no_registers(%g: !global, %s: !shared) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: fly.copy_atom_call(%{{.*}}, %{{.*}}, %{{.*}}) :
  fly.copy_atom_call(%atom, %g, %s) : (!copy, !global, !shared) -> ()
  return
}

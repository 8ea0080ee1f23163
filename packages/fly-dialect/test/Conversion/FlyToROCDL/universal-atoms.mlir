// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl | FileCheck %s

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1>
!registers = !fly.memref<f16, register, 8:1>

// CHECK-LABEL: func.func @memory(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<5>)
func.func @memory(%a: !global, %r: !registers) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: %[[BYTES:.*]] = arith.constant 16 : i32
  // CHECK: "llvm.intr.memcpy"(%[[R]], %[[A]], %[[BYTES]]) <{isVolatile = false}> : (!llvm.ptr<5>, !llvm.ptr<1>, i32) -> ()
  fly.copy_atom_call(%atom, %a, %r) : (!copy, !global, !registers) -> ()
  return
}

// -----

// A known alignment is handed on, so that the copy is one wide access.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1, align<16>>
!shared = !fly.memref<f16, shared, 8:1, align<16>, S<2,4,3>>

// CHECK-LABEL: func.func @aligned_and_swizzled(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>)
func.func @aligned_and_swizzled(%a: !global, %s: !shared) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: llvm.ptrtoint %[[S]]
  // CHECK: arith.xori
  // CHECK: %[[TO:.*]] = llvm.inttoptr
  // CHECK: "llvm.intr.memcpy"(%[[TO]], %[[A]], %{{.*}}) <{arg_attrs = [{llvm.align = 16 : i64}, {llvm.align = 16 : i64}, {}], isVolatile = false}>
  fly.copy_atom_call(%atom, %a, %s) : (!copy, !global, !shared) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1, align<16>>

// CHECK-LABEL: func.func @values(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>)
func.func @values(%a: !global) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: %[[V:.*]] = llvm.load %[[A]] : !llvm.ptr<1> -> vector<8xf16>
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !global) -> vector<8xf16>
  // CHECK: llvm.store %[[V]], %[[A]] : vector<8xf16>, !llvm.ptr<1>
  fly.copy_atom_call_ssa(%atom, %v, %a) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!copy, vector<8xf16>, !global) -> ()
  return
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1>
!registers = !fly.memref<f16, register, 8:1>
!flag = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<5>, %[[P:.*]]: !llvm.ptr<5>, %[[Q:.*]]: i1, %[[OLD:.*]]: vector<8xf16>)
func.func @predicated(%a: !global, %r: !registers, %p: !flag, %q: i1, %old: vector<8xf16>) -> vector<8xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: %[[FLAG:.*]] = llvm.load %[[P]] : !llvm.ptr<5> -> i1
  // CHECK: scf.if %[[FLAG]] {
  // CHECK: llvm.intr.memcpy
  // CHECK-NOT: else
  // CHECK: }
  fly.copy_atom_call(%atom, %a, %r, %p) : (!copy, !global, !registers, !flag) -> ()
  // The old value is hidden from LLVM, or what is made of the result would move into the branch with its wait.
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %[[OLD]] : vector<8xf16> to vector<4xi32>
  // CHECK: %[[HIDDEN:.*]] = llvm.inline_asm "", "=v,0" %[[WORDS]] : (vector<4xi32>) -> vector<4xi32>
  // CHECK: %[[KEPT:.*]] = llvm.bitcast %[[HIDDEN]] : vector<4xi32> to vector<8xf16>
  // CHECK: %[[NEW:.*]] = scf.if %[[Q]] -> (vector<8xf16>) {
  // CHECK:   %[[LOADED:.*]] = llvm.load %[[A]]
  // CHECK:   scf.yield %[[LOADED]]
  // CHECK: } else {
  // CHECK:   scf.yield %[[KEPT]]
  // CHECK: }
  %v = fly.copy_atom_call_ssa(%atom, %a, %old, %q) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!copy, !global, vector<8xf16>, i1) -> vector<8xf16>
  // CHECK: return %[[NEW]]
  return %v : vector<8xf16>
}

// -----

!add = !fly.copy_atom<!fly.universal_atomic<add, f32, "agent">, 32>
!inc = !fly.copy_atom<!fly.universal_atomic<inc, i32>, 32>

// CHECK-LABEL: func.func @atomics(
// CHECK-SAME: %[[G:.*]]: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<5>, %[[N:.*]]: !llvm.ptr<1>, %[[V:.*]]: i32)
func.func @atomics(%g: !fly.memref<f32, global, 1:1>, %r: !fly.memref<f32, register, 1:1>, %n: !fly.memref<i32, global, 1:1>, %v: i32) {
  %add = fly.make_copy_atom {valBits = 32 : i32} : !add
  %inc = fly.make_copy_atom {valBits = 32 : i32} : !inc
  // CHECK: %[[X:.*]] = llvm.load %[[R]] : !llvm.ptr<5> -> f32
  // CHECK: llvm.atomicrmw fadd %[[G]], %[[X]] syncscope("agent") monotonic : !llvm.ptr<1>, f32
  fly.copy_atom_call(%add, %r, %g) : (!add, !fly.memref<f32, register, 1:1>, !fly.memref<f32, global, 1:1>) -> ()
  // CHECK: llvm.atomicrmw uinc_wrap %[[N]], %[[V]] monotonic : !llvm.ptr<1>, i32
  fly.copy_atom_call_ssa(%inc, %v, %n) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!inc, i32, !fly.memref<i32, global, 1:1>) -> ()
  return
}

// -----

!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>

// CHECK-LABEL: func.func @fma(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32)
func.func @fma(%a: f32, %b: f32, %c: f32) -> f32 {
  %atom = fly.make_mma_atom : !fma
  // CHECK: %[[P:.*]] = llvm.fmul %[[A]], %[[B]] : f32
  // CHECK: llvm.fadd %[[P]], %[[C]] : f32
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!fma, f32, f32, f32) -> f32
  return %d : f32
}

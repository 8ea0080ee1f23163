// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-nvvm | FileCheck %s

// Registers are generic memory; elsewhere the address spaces are those of AMD GPUs.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1, align<16>>
!shared = !fly.memref<f16, shared, 8:1, align<16>, S<2,4,3>>
!registers = !fly.memref<f16, register, 8:1>

// CHECK-LABEL: func.func @memory(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>, %[[R:.*]]: !llvm.ptr)
func.func @memory(%a: !global, %s: !shared, %r: !registers) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: llvm.ptrtoint %[[S]]
  // CHECK: arith.xori
  // CHECK: %[[TO:.*]] = llvm.inttoptr
  // CHECK: "llvm.intr.memcpy"(%[[TO]], %[[A]], %{{.*}}) <{arg_attrs = [{llvm.align = 16 : i64}, {llvm.align = 16 : i64}, {}], isVolatile = false}>
  fly.copy_atom_call(%atom, %a, %s) : (!copy, !global, !shared) -> ()
  // CHECK: "llvm.intr.memcpy"(%[[R]], %[[A]]
  fly.copy_atom_call(%atom, %a, %r) : (!copy, !global, !registers) -> ()
  return
}

// -----

// The atom promises the natural alignment, whatever the type proves; a predicate is a branch, without inline assembly.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!global = !fly.memref<f16, global, 8:1>

// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[OLD:.*]]: vector<8xf16>, %[[P:.*]]: i1)
func.func @predicated(%a: !global, %old: vector<8xf16>, %p: i1) -> vector<8xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: %[[V:.*]] = scf.if %[[P]]
  // CHECK: %[[LOADED:.*]] = llvm.load %[[A]] : !llvm.ptr<1> -> vector<8xf16>
  // CHECK: scf.yield %[[LOADED]]
  // CHECK: scf.yield %[[OLD]]
  %v = fly.copy_atom_call_ssa(%atom, %a, %old, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!copy, !global, vector<8xf16>, i1) -> vector<8xf16>
  // CHECK: return %[[V]]
  return %v : vector<8xf16>
}

// -----

// Scopes have NVPTX's names.

!agent = !fly.copy_atom<!fly.universal_atomic<add, f32, "agent">, 32>
!workgroup = !fly.copy_atom<!fly.universal_atomic<max, i32, "workgroup">, 32>
!g = !fly.memref<f32, global, 1:1>
!s = !fly.memref<i32, shared, 1:1>

// CHECK-LABEL: func.func @atomics(
func.func @atomics(%g: !g, %s: !s, %x: f32, %i: i32) {
  %0 = fly.make_copy_atom {valBits = 32 : i32} : !agent
  %1 = fly.make_copy_atom {valBits = 32 : i32} : !workgroup
  // CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic
  fly.copy_atom_call_ssa(%0, %x, %g) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!agent, f32, !g) -> ()
  // CHECK: llvm.atomicrmw max %{{.*}}, %{{.*}} syncscope("block") monotonic
  fly.copy_atom_call_ssa(%1, %i, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!workgroup, i32, !s) -> ()
  return
}

// -----

// Static shared memory is internal: ptxas takes external arrays for the launch's dynamic one.

gpu.module @kernels {
  // CHECK-DAG: llvm.mlir.global internal @__shared_alloc_0() {addr_space = 3 : i32, alignment = 16 : i64, dso_local} : !llvm.array<64 x i8>
  // CHECK-DAG: llvm.mlir.global external @__dynamic_shared_0() {addr_space = 3 : i32, alignment = 1024 : i64, dso_local} : !llvm.array<0 x i8>
  gpu.func @shared() kernel {
    %0 = fly.make_ptr() {dictAttrs = {allocBytes = 64 : i64, allocAlign = 16 : i64}} : () -> !fly.ptr<f32, shared, align<16>>
    %1 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
    gpu.return
  }
}

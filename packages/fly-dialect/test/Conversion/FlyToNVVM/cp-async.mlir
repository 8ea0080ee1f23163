// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --pass-pipeline="builtin.module(convert-fly-to-nvvm,canonicalize)" | FileCheck %s

// Copies by threads: how many bytes, and by which caches; the swizzle of shared memory is applied.

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>
!by_l1 = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128, l1 = true>, 16>
!half = !fly.copy_atom<!fly_nvvm.sm80.cp_async<64>, 16>
!narrow = !fly.copy_atom<!fly_nvvm.sm80.cp_async<32>, 16>

// CHECK-LABEL: func.func @widths(
// CHECK-SAME: %[[G8:.*]]: !llvm.ptr<1>, %[[S8:.*]]: !llvm.ptr<3>, %[[G4:.*]]: !llvm.ptr<1>, %[[S4:.*]]: !llvm.ptr<3>, %[[G2:.*]]: !llvm.ptr<1>, %[[S2:.*]]: !llvm.ptr<3>)
func.func @widths(%g8: !fly.memref<f16, global, 8:1>, %s8: !fly.memref<f16, shared, 8:1, align<16>>,
                  %g4: !fly.memref<f16, global, 4:1>, %s4: !fly.memref<f16, shared, 4:1, align<8>>,
                  %g2: !fly.memref<f16, global, 2:1>, %s2: !fly.memref<f16, shared, 2:1, align<16>>) {
  %wide = fly.make_copy_atom {valBits = 16 : i32} : !wide
  %by_l1 = fly.make_copy_atom {valBits = 16 : i32} : !by_l1
  %half = fly.make_copy_atom {valBits = 16 : i32} : !half
  %narrow = fly.make_copy_atom {valBits = 16 : i32} : !narrow
  // CHECK: nvvm.cp.async.shared.global %[[S8]], %[[G8]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  fly.copy_atom_call(%wide, %g8, %s8) : (!wide, !fly.memref<f16, global, 8:1>, !fly.memref<f16, shared, 8:1, align<16>>) -> ()
  // CHECK: nvvm.cp.async.shared.global %[[S8]], %[[G8]], 16, cache = ca :
  fly.copy_atom_call(%by_l1, %g8, %s8) : (!by_l1, !fly.memref<f16, global, 8:1>, !fly.memref<f16, shared, 8:1, align<16>>) -> ()
  // CHECK: nvvm.cp.async.shared.global %[[S4]], %[[G4]], 8, cache = ca :
  fly.copy_atom_call(%half, %g4, %s4) : (!half, !fly.memref<f16, global, 4:1>, !fly.memref<f16, shared, 4:1, align<8>>) -> ()
  // CHECK: nvvm.cp.async.shared.global %[[S2]], %[[G2]], 4, cache = ca :
  fly.copy_atom_call(%narrow, %g2, %s2) : (!narrow, !fly.memref<f16, global, 2:1>, !fly.memref<f16, shared, 2:1, align<16>>) -> ()
  return
}

// -----

// A predicate says how much is read; there is no branch, for the rest is filled with zeros.

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>
!global = !fly.memref<f16, global, 8:1>
!shared = !fly.memref<f16, shared, 8:1, align<16>, S<2,4,3>>
!predicate = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %[[G:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>, %[[P:.*]]: i1, %[[IN:.*]]: !llvm.ptr)
func.func @predicated(%g: !global, %s: !shared, %p: i1, %in: !predicate) {
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ALL:.*]] = arith.constant 16 : i32
  // CHECK-NOT: scf.if
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // CHECK: llvm.ptrtoint %[[S]]
  // CHECK: arith.xori
  // CHECK: %[[TO:.*]] = llvm.inttoptr
  // CHECK: %[[READ:.*]] = arith.select %[[P]], %[[ALL]], %[[NONE]] : i32
  // CHECK: nvvm.cp.async.shared.global %[[TO]], %[[G]], 16, cache = cg, %[[READ]] :
  fly.copy_atom_call_ssa(%atom, %g, %s, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!wide, !global, !shared, i1) -> ()
  // CHECK: %[[HELD:.*]] = llvm.load %[[IN]] : !llvm.ptr -> i1
  // CHECK: %[[SO_MUCH:.*]] = arith.select %[[HELD]], %[[ALL]], %[[NONE]] : i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %[[G]], 16, cache = cg, %[[SO_MUCH]] :
  fly.copy_atom_call(%atom, %g, %s, %in) : (!wide, !global, !shared, !predicate) -> ()
  return
}

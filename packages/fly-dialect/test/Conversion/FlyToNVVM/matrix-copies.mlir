// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-nvvm --canonicalize | FileCheck %s

!ld4 = !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = false>, 16>
!ld2 = !fly.copy_atom<!fly_nvvm.ldmatrix<2, transposed = true>, 16>
!ld1 = !fly.copy_atom<!fly_nvvm.ldmatrix<1, transposed = false>, 8>
!st4 = !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
!st1 = !fly.copy_atom<!fly_nvvm.stmatrix<1, transposed = true>, 16>
!row = !fly.memref<f16, shared, 8:1>
!swizzled = !fly.memref<f16, shared, (8,1):(1,0), align<16>, S<3,4,3>>
!bytes = !fly.memref<i8, shared, (4,4):(1,4)>

// CHECK-LABEL: func.func @loads(
// CHECK-SAME: %[[ROW:.*]]: !llvm.ptr<3>, %[[SWIZZLED:.*]]: !llvm.ptr<3>, %[[BYTES:.*]]: !llvm.ptr<3>)
func.func @loads(%row: !row, %swizzled: !swizzled, %bytes: !bytes) -> (vector<8xf16>, vector<4xf16>, vector<4xi8>) {
  %ld4 = fly.make_copy_atom {valBits = 16 : i32} : !ld4
  %ld2 = fly.make_copy_atom {valBits = 16 : i32} : !ld2
  %ld1 = fly.make_copy_atom {valBits = 8 : i32} : !ld1
  // CHECK: %[[FOUR:.*]] = nvvm.ldmatrix %[[ROW]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: llvm.extractvalue %[[FOUR]][3]
  // CHECK: llvm.bitcast %{{.*}} : vector<4xi32> to vector<8xf16>
  %0 = fly.copy_atom_call_ssa(%ld4, %row) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld4, !row) -> vector<8xf16>
  // The address of the row is swizzled, as every lane's.
  // CHECK: llvm.ptrtoint %[[SWIZZLED]]
  // CHECK: %[[AT:.*]] = llvm.inttoptr
  // CHECK: nvvm.ldmatrix %[[AT]] {{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32{{.*}} -> !llvm.struct<(i32, i32)>
  %1 = fly.copy_atom_call_ssa(%ld2, %swizzled) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld2, !swizzled) -> vector<4xf16>
  // CHECK: nvvm.ldmatrix %[[BYTES]] {{.*}}layout = #nvvm.mma_layout<row>, num = 1 : i32{{.*}} -> i32
  %2 = fly.copy_atom_call_ssa(%ld1, %bytes) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld1, !bytes) -> vector<4xi8>
  return %0, %1, %2 : vector<8xf16>, vector<4xf16>, vector<4xi8>
}

// CHECK-LABEL: func.func @to_memory(
// CHECK-SAME: %[[ROW:.*]]: !llvm.ptr<3>, %[[FRAGMENT:.*]]: !llvm.ptr)
func.func @to_memory(%row: !row, %fragment: !fly.memref<f16, register, (2,4):(1,2)>) {
  %ld4 = fly.make_copy_atom {valBits = 16 : i32} : !ld4
  // CHECK: nvvm.ldmatrix %[[ROW]]
  // CHECK: llvm.store %{{.*}}, %[[FRAGMENT]] : vector<4xi32>, !llvm.ptr
  fly.copy_atom_call(%ld4, %row, %fragment) : (!ld4, !row, !fly.memref<f16, register, (2,4):(1,2)>) -> ()
  return
}

// CHECK-LABEL: func.func @stores(
// CHECK-SAME: %[[ROW:.*]]: !llvm.ptr<3>, %[[SWIZZLED:.*]]: !llvm.ptr<3>, %[[X:.*]]: vector<8xf16>, %[[Y:.*]]: vector<2xf16>, %[[FRAGMENT:.*]]: !llvm.ptr)
func.func @stores(%row: !row, %swizzled: !swizzled, %x: vector<8xf16>, %y: vector<2xf16>, %fragment: !fly.memref<f16, register, 8:1>) {
  %st4 = fly.make_copy_atom {valBits = 16 : i32} : !st4
  %st1 = fly.make_copy_atom {valBits = 16 : i32} : !st1
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %[[X]] : vector<8xf16> to vector<4xi32>
  // CHECK-COUNT-4: llvm.extractelement %[[WORDS]]
  // CHECK: nvvm.stmatrix %[[ROW]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
  fly.copy_atom_call_ssa(%st4, %x, %row) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!st4, vector<8xf16>, !row) -> ()
  // CHECK: llvm.ptrtoint %[[SWIZZLED]]
  // CHECK: %[[AT:.*]] = llvm.inttoptr
  // CHECK: nvvm.stmatrix %[[AT]], %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>
  fly.copy_atom_call_ssa(%st1, %y, %swizzled) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!st1, vector<2xf16>, !swizzled) -> ()
  // CHECK: llvm.load %[[FRAGMENT]]
  // CHECK: nvvm.stmatrix %[[ROW]]
  fly.copy_atom_call(%st4, %fragment, %row) : (!st4, !fly.memref<f16, register, 8:1>, !row) -> ()
  return
}

// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s | fly-opt | FileCheck %s

// CHECK-LABEL: @products
func.func @products() {
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>
  %0 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>
  %1 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f32>
  %2 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f16>
  %3 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (f16, f16) -> f16>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> f32>
  %4 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x8, (bf16, bf16) -> f32>
  %5 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (bf16, bf16) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>
  %6 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x4, (tf32, tf32) -> f32>
  %7 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x4, (tf32, tf32) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x32, (i8, i8) -> i32>
  %8 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (i8, i8) -> i32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x16, (i8, i8) -> i32>
  %9 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (i8, i8) -> i32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E4M3FN) -> f32>
  %10 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E4M3FN) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E5M2) -> f32>
  %11 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E5M2) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E4M3FN) -> f32>
  %12 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E4M3FN) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E5M2) -> f32>
  %13 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x32, (f8E5M2, f8E5M2) -> f32>>
  // CHECK: !fly_nvvm.sm80.mma_sync<8x8x4, (f64, f64) -> f64>
  %14 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm80.mma_sync<8x8x4, (f64, f64) -> f64>>
  return
}

// CHECK-LABEL: @copies
func.func @copies() {
  // CHECK: !fly_nvvm.ldmatrix<1, transposed = false>
  %0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<1, transposed = false>, 16>
  // CHECK: !fly_nvvm.ldmatrix<1, transposed = true>
  %1 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<1, transposed = true>, 16>
  // CHECK: !fly_nvvm.ldmatrix<2, transposed = false>
  %2 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<2, transposed = false>, 16>
  // CHECK: !fly_nvvm.ldmatrix<2, transposed = true>
  %3 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<2, transposed = true>, 16>
  // CHECK: !fly_nvvm.ldmatrix<4, transposed = false>
  %4 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = false>, 16>
  // CHECK: !fly_nvvm.ldmatrix<4, transposed = true>
  %5 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = true>, 16>
  // CHECK: !fly_nvvm.stmatrix<1, transposed = false>
  %6 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<1, transposed = false>, 16>
  // CHECK: !fly_nvvm.stmatrix<1, transposed = true>
  %7 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<1, transposed = true>, 16>
  // CHECK: !fly_nvvm.stmatrix<2, transposed = false>
  %8 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<2, transposed = false>, 16>
  // CHECK: !fly_nvvm.stmatrix<2, transposed = true>
  %9 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<2, transposed = true>, 16>
  // CHECK: !fly_nvvm.stmatrix<4, transposed = false>
  %10 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
  // CHECK: !fly_nvvm.stmatrix<4, transposed = true>
  %11 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = true>, 16>
  return
}

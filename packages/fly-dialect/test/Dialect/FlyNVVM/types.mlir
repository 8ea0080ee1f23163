// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s | fly-opt | FileCheck %s

// CHECK-LABEL: @matrix
func.func @matrix() {
  // CHECK: !fly_nvvm.sm90.wgmma<64x256x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
  %bf16 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm90.wgmma<64x256x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>>
  // CHECK: !fly_nvvm.sm90.wgmma<64x128x16, (f16, f16) -> f16, registersA = true, mnMajorA = false, mnMajorB = true>
  %f16 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm90.wgmma<64x128x16, (f16, f16) -> f16, registersA = true, mnMajorA = false, mnMajorB = true>>
  // CHECK: !fly_nvvm.sm90.wgmma<64x8x32, (f8E4M3FN, f8E5M2) -> f32
  %f8 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm90.wgmma<64x8x32, (f8E4M3FN, f8E5M2) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>>
  // CHECK: !fly_nvvm.sm90.wgmma<64x64x8, (tf32, tf32) -> f32
  %tf32 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm90.wgmma<64x64x8, (tf32, tf32) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>>
  // CHECK: !fly_nvvm.sm90.wgmma<64x48x32, (i8, i8) -> i32
  %i8 = fly.make_mma_atom : !fly.mma_atom<!fly_nvvm.sm90.wgmma<64x48x32, (i8, i8) -> i32, registersA = false, mnMajorA = false, mnMajorB = false>>
  return
}

// CHECK-LABEL: @copies
// CHECK-SAME: !fly_nvvm.tensor_map<[128, 64], bf16, swizzle = 128>
func.func @copies(%map: !fly_nvvm.tensor_map<[128, 64], bf16, swizzle = 128>) {
  // CHECK: !fly_nvvm.sm90.tma_load<[128, 64], bf16, swizzle = 128, multicast = false, evictFirst = false>
  %load = fly.make_copy_atom(%map : !fly_nvvm.tensor_map<[128, 64], bf16, swizzle = 128>) {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.sm90.tma_load<[128, 64], bf16, swizzle = 128, multicast = false, evictFirst = false>, 16>
  // CHECK: !fly_nvvm.sm90.tma_store<[128, 64], bf16, swizzle = 128>
  %store = fly.make_copy_atom(%map : !fly_nvvm.tensor_map<[128, 64], bf16, swizzle = 128>) {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.sm90.tma_store<[128, 64], bf16, swizzle = 128>, 16>
  return
}

// CHECK-LABEL: @copies_by_threads
func.func @copies_by_threads() {
  // CHECK: !fly_nvvm.sm80.cp_async<128>
  %wide = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>
  // CHECK: !fly_nvvm.sm80.cp_async<128, l1 = true>
  %by_l1 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cp_async<128, l1 = true>, 16>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%map: !fly_nvvm.tensor_map<[8, 32], f32, swizzle = 128>) {
  // CHECK: !fly_nvvm.sm90.tma_reduce<[8, 32], f32, swizzle = 128, kind = add>
  %sum = fly.make_copy_atom(%map : !fly_nvvm.tensor_map<[8, 32], f32, swizzle = 128>) {valBits = 32 : i32} : !fly.copy_atom<!fly_nvvm.sm90.tma_reduce<[8, 32], f32, swizzle = 128, kind = add>, 32>
  return
}

// CHECK-LABEL: @order
func.func @order(%sums: vector<4xf32>) -> vector<4xf32> {
  // CHECK: fly_nvvm.wgmma_fence %{{.*}} : vector<4xf32>
  %0 = fly_nvvm.wgmma_fence %sums : vector<4xf32>
  // CHECK: fly_nvvm.wgmma_commit
  fly_nvvm.wgmma_commit
  // CHECK: fly_nvvm.wgmma_wait %{{.*}}, pending = 1 : vector<4xf32>
  %1 = fly_nvvm.wgmma_wait %0, pending = 1 : vector<4xf32>
  return %1 : vector<4xf32>
}

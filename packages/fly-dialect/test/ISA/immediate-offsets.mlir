// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// Accesses that differ by constants share one address and use the offset field of the instruction.

gpu.module @kernels {
  // CHECK-LABEL: immediate:
  // CHECK: v_lshlrev_b32_e32 [[A:v[0-9]+]], 4, v0
  // CHECK-NOT: v_mul
  // CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[A]], s[{{[0-9:]+}}]{{$}}
  // CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[A]], s[{{[0-9:]+}}] offset:1024
  // CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[A]], s[{{[0-9:]+}}] offset:2048
  // CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[A]], s[{{[0-9:]+}}] offset:3072
  // CHECK: global_store_dwordx4 [[A]], v[{{[0-9:]+}}], s[{{[0-9:]+}}] offset:1024
  // CHECK: .amdhsa_private_segment_fixed_size 0
  gpu.func @immediate(%x: !fly.memref<f32, global, (64,(4,8)):(4,(1,256)), align<16>>, %y: !fly.memref<f32, global, (64,(4,8)):(4,(1,256)), align<16>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tid = gpu.thread_id x
    %i = arith.index_cast %tid : index to i32
    %coord = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
    %xr = fly.slice(%x, %coord) : (!fly.memref<f32, global, (64,(4,8)):(4,(1,256)), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, (4,8):(1,256), align<16>>
    %yr = fly.slice(%y, %coord) : (!fly.memref<f32, global, (64,(4,8)):(4,(1,256)), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, (4,8):(1,256), align<16>>
    %v = fly.memref.load_vec(%xr) : (!fly.memref<f32, global, (4,8):(1,256), align<16>>) -> vector<32xf32>
    %w = arith.addf %v, %v : vector<32xf32>
    fly.memref.store_vec(%w, %yr) : (vector<32xf32>, !fly.memref<f32, global, (4,8):(1,256), align<16>>) -> ()
    gpu.return
  }
}

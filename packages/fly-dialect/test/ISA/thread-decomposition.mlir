// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// Thread coordinates by powers of two are masks and shifts: the hardware says that the index is not negative.

gpu.module @kernels {
  // CHECK-LABEL: decompose:
  // CHECK-NOT: {{v_(mul|mad|ashr|sub|cndmask)}}
  // CHECK: v_and{{(_or)?}}_b32
  // CHECK-NOT: {{v_(mul|mad|ashr|sub|cndmask)}}
  // CHECK: global_load_dwordx4 v[{{[0-9:]+}}], v{{[0-9]+}}, s[{{[0-9:]+}}]
  // CHECK: s_endpgm
  gpu.func @decompose(%x: !fly.memref<f32, global, ((8,16),4):((4,128),1), align<16>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = gpu.thread_id x
    %i = arith.index_cast %tid : index to i32
    %coord = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
    %xr = fly.slice(%x, %coord) : (!fly.memref<f32, global, ((8,16),4):((4,128),1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 4:1, align<16>>
    %v = fly.memref.load_vec(%xr) : (!fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
    %w = arith.addf %v, %v : vector<4xf32>
    fly.memref.store_vec(%w, %xr) : (vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}

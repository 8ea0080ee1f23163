// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// What all threads share is computed in scalar registers, and threads add their part in the instruction.

gpu.module @kernels {
  // CHECK-LABEL: uniform:
  // CHECK: s_lshl_b32 s{{[0-9]+}}, s{{[0-9]+}}, 8
  // CHECK: v_lshlrev_b32_e32 [[A:v[0-9]+]], 4, v0
  // CHECK-NOT: {{ v_(add|lshl|mul|mad|ashr)}}
  // CHECK: s_add_u32 s[[LOW:[0-9]+]]
  // CHECK: global_load_dwordx4 v[{{[0-9:]+}}], [[A]], s{{\[}}[[LOW]]:
  // CHECK: global_store_dwordx4 [[A]], v[{{[0-9:]+}}], s{{\[}}[[LOW]]:
  gpu.func @uniform(%x: !fly.memref<f32, global, (?,256):(256,1), align<16>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %bid = gpu.block_id x
    %b = arith.index_cast %bid : index to i32
    %tid = gpu.thread_id x
    %i = arith.index_cast %tid : index to i32
    %tile = fly.static : !fly.tile<4>
    %bc = fly.make_coord(%b) : (i32) -> !fly.int_tuple<(?,*)>
    %row = fly.slice(%x, %bc) : (!fly.memref<f32, global, (?,256):(256,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 256:1, align<16>>
    %q = fly.zipped_divide(%row, %tile) : (!fly.memref<f32, global, 256:1, align<16>>, !fly.tile<4>) -> !fly.memref<f32, global, (4,64):(1,4), align<16>>
    %tc = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(*,?)>
    %mine = fly.slice(%q, %tc) : (!fly.memref<f32, global, (4,64):(1,4), align<16>>, !fly.int_tuple<(*,?)>) -> !fly.memref<f32, global, 4:1, align<16>>
    %v = fly.memref.load_vec(%mine) : (!fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
    %w = arith.addf %v, %v : vector<4xf32>
    fly.memref.store_vec(%w, %mine) : (vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}

// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx1250 | FileCheck %s

// On gfx1250 the flags of a resource are the four highest bits of its descriptor: 3 in the two low ones of them checks
// accesses of a raw buffer by their bytes. The number of records, 1000, is from bit 57 on.

!buffer = !fly.ptr<f32, #fly_rocdl.buffer_desc>

// CHECK-LABEL: limited:
// CHECK-DAG:   s_or_b64 [[BASE:s\[[0-9]+:[0-9]+\]]], {{.*}}, 0xd000000000000000
// CHECK-DAG:   s_mov_b32 s{{[0-9]+}}, 7
// CHECK-DAG:   s_brev_b32 s{{[0-9]+}}, 12
// CHECK:       buffer_load_b32

gpu.module @kernels {
  gpu.func @limited(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, global>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %stride = arith.constant 0 : i16
    %bytes = arith.constant 1000 : i64
    %flags = arith.constant 3 : i32
    %base = fly.make_ptr(%p, %stride, %bytes, %flags) : (!fly.ptr<f32, global>, i16, i64, i32) -> !buffer
    %offset = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
    %from = fly.add_offset(%base, %offset) : (!buffer, !fly.int_tuple<?>) -> !buffer
    %v = fly.ptr.load(%from) : (!buffer) -> f32
    %to = fly.add_offset(%q, %offset) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
    fly.ptr.store(%v, %to) : (f32, !fly.ptr<f32, global>) -> ()
    gpu.return
  }
}

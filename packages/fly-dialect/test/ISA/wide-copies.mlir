// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A copy of 128 bits is one instruction, in global memory and in LDS.

gpu.module @kernels {
  // CHECK-LABEL: through_lds:
  // CHECK: global_load_dwordx4
  // CHECK-NOT: {{(global|ds)_(load|store|read|write)}}
  // CHECK: ds_write_b128
  // CHECK-NOT: {{(global|ds)_(load|store|read|write)}}
  // CHECK: ds_read_b128
  // CHECK-NOT: {{(global|ds)_(load|store|read|write)}}
  // CHECK: global_store_dwordx4
  // CHECK-NOT: {{(global|ds)_(load|store|read|write)}}
  // CHECK: s_endpgm
  gpu.func @through_lds(%x: !fly.memref<f16, global, (64,8):(8,1), align<16>>, %y: !fly.memref<f16, global, (64,8):(8,1), align<16>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tid = gpu.thread_id x
    %i = arith.index_cast %tid : index to i32
    %atom = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 16>
    %l = fly.static : !fly.layout<(64,8):(8,1)>
    %s = fly.make_ptr() {dictAttrs = {allocAlign = 16 : i64, allocBytes = 1024 : i64}} : () -> !fly.ptr<f16, shared, align<16>>
    %m = fly.make_view(%s, %l) : (!fly.ptr<f16, shared, align<16>>, !fly.layout<(64,8):(8,1)>) -> !fly.memref<f16, shared, (64,8):(8,1), align<16>>
    %r = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f16, register>
    %l8 = fly.static : !fly.layout<8:1>
    %f = fly.make_view(%r, %l8) : (!fly.ptr<f16, register>, !fly.layout<8:1>) -> !fly.memref<f16, register, 8:1>
    %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
    %j0 = arith.constant 63 : i32
    %j = arith.subi %j0, %i : i32
    %cj = fly.make_coord(%j) : (i32) -> !fly.int_tuple<(?,*)>
    %xr = fly.slice(%x, %c) : (!fly.memref<f16, global, (64,8):(8,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f16, global, 8:1, align<16>>
    %yr = fly.slice(%y, %c) : (!fly.memref<f16, global, (64,8):(8,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f16, global, 8:1, align<16>>
    %mr = fly.slice(%m, %c) : (!fly.memref<f16, shared, (64,8):(8,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f16, shared, 8:1, align<16>>
    %mj = fly.slice(%m, %cj) : (!fly.memref<f16, shared, (64,8):(8,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f16, shared, 8:1, align<16>>
    fly.copy(%atom, %xr, %f) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<f16, global, 8:1, align<16>>, !fly.memref<f16, register, 8:1>) -> ()
    fly.copy(%atom, %f, %mr) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<f16, register, 8:1>, !fly.memref<f16, shared, 8:1, align<16>>) -> ()
    gpu.barrier
    fly.copy(%atom, %mj, %f) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<f16, shared, 8:1, align<16>>, !fly.memref<f16, register, 8:1>) -> ()
    fly.copy(%atom, %f, %yr) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<f16, register, 8:1>, !fly.memref<f16, global, 8:1, align<16>>) -> ()
    gpu.return
  }
}

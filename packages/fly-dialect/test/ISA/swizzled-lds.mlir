// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A row of 64 halves per eight threads, swizzled in units of 16 bytes: one XOR for the address, and accesses that differ
// by a multiple of the swizzle's period share it through the offset field.

!row = !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o 8:1, align<16>>
!tile = !fly.memref<f16, shared, S<3,3,3> o 0 o (64,(8,8)):(64,(1,8)), align<16>>
!registers = !fly.memref<f16, register, 8:1>
!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>

// CHECK-LABEL: through_lds:
// CHECK-COUNT-1: v_xor_b32
// CHECK-NOT:     v_xor_b32
// CHECK:         ds_write_b128
// CHECK:         s_barrier
// CHECK:         ds_read_b128
// CHECK:         global_store_dwordx4
// CHECK:         .amdhsa_group_segment_fixed_size 8192
// CHECK:         .amdhsa_private_segment_fixed_size 0

gpu.module @kernels {
  gpu.func @through_lds(%in: !fly.ptr<f16, global, align<16>>, %out: !fly.ptr<f16, global, align<16>>) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %c7 = arith.constant 7 : i32
    %c3 = arith.constant 3 : i32
    %row = arith.shrui %t, %c3 : i32
    %column = arith.andi %t, %c7 : i32
    %lds = fly.make_ptr() {dictAttrs = {allocBytes = 8192 : i64, allocAlign = 16 : i64}} : () -> !fly.ptr<f16, shared, align<16>>
    %layout = fly.static : !fly.composed_layout<S<3,3,3> o 0 o (64,(8,8)):(64,(1,8))>
    %tile = fly.make_view(%lds, %layout) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,3,3> o 0 o (64,(8,8)):(64,(1,8))>) -> !tile
    %coord = fly.make_coord(%row, %column) : (i32, i32) -> !fly.int_tuple<(?,(*,?))>
    %mine = fly.slice(%tile, %coord) : (!tile, !fly.int_tuple<(?,(*,?))>) -> !row
    %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
    %c8 = fly.make_int_tuple() : () -> !fly.int_tuple<8>
    %offset = fly.int_tuple_mul(%thread, %c8) : (!fly.int_tuple<?>, !fly.int_tuple<8>) -> !fly.int_tuple<?{div=8}>
    %from = fly.add_offset(%in, %offset) : (!fly.ptr<f16, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, global, align<16>>
    %to = fly.add_offset(%out, %offset) : (!fly.ptr<f16, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, global, align<16>>
    %value = fly.ptr.load(%from) : (!fly.ptr<f16, global, align<16>>) -> vector<8xf16>
    %registers = fly.make_fragment_like(%mine) : (!row) -> !registers
    fly.memref.store_vec(%value, %registers) : (vector<8xf16>, !registers) -> ()
    %copy = fly.make_copy_atom {valBits = 16 : i32} : !copy
    fly.copy(%copy, %registers, %mine) : (!copy, !registers, !row) -> ()
    gpu.barrier
    fly.copy(%copy, %mine, %registers) : (!copy, !row, !registers) -> ()
    %back = fly.memref.load_vec(%registers) : (!registers) -> vector<8xf16>
    fly.ptr.store(%back, %to) : (vector<8xf16>, !fly.ptr<f16, global, align<16>>) -> ()
    gpu.return
  }
}

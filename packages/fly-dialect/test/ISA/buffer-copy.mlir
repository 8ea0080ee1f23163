// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// Buffer accesses: the descriptor and the wave's offset are scalar, the lane's offset is one register, and constants are in
// the instruction.

!copy = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 16>
!buffer = !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1, align<16>>
!registers = !fly.memref<f16, register, 8:1>

// CHECK-LABEL: stream:
// CHECK:       v_lshlrev_b32_e32 [[LANE:v[0-9]+]], 4, v0
// CHECK:       buffer_load_dwordx4 [[X:v\[[0-9:]+\]]], [[LANE]], s[{{[0-9:]+}}], s{{[0-9]+}} offen
// CHECK:       buffer_store_dwordx4 [[X]], [[LANE]], s[{{[0-9:]+}}], 0 offen offset:1024
// CHECK:       .amdhsa_private_segment_fixed_size 0

gpu.module @kernels {
  gpu.func @stream(%p: !fly.ptr<f16, global>, %bytes: i64, %tile: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %stride = arith.constant 0 : i16
    %flags = arith.constant 159744 : i32
    %c8 = arith.constant 8 : i32
    %lane = arith.muli %t, %c8 : i32
    %base = fly.make_ptr(%p, %stride, %bytes, %flags) : (!fly.ptr<f16, global>, i16, i64, i32) -> !fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>
    %offset = fly.make_int_tuple(%lane) : (i32) -> !fly.int_tuple<?{div=8}>
    %c512 = fly.make_int_tuple() : () -> !fly.int_tuple<512>
    %from = fly.add_offset(%base, %offset) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>
    %to = fly.add_offset(%from, %c512) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>, !fly.int_tuple<512>) -> !fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>
    %layout = fly.static : !fly.layout<8:1>
    %a = fly.make_view(%from, %layout) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>, !fly.layout<8:1>) -> !buffer
    %b = fly.make_view(%to, %layout) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<16>>, !fly.layout<8:1>) -> !buffer
    %r = fly.memref.alloca(%layout) : (!fly.layout<8:1>) -> !registers
    %plain = fly.make_copy_atom {valBits = 16 : i32} : !copy
    %shifted = fly.atom.set_value(%plain, "soffset", %tile) : (!copy, i32) -> !copy
    fly.copy(%shifted, %a, %r) : (!copy, !buffer, !registers) -> ()
    fly.copy(%plain, %r, %b) : (!copy, !registers, !buffer) -> ()
    gpu.return
  }
}

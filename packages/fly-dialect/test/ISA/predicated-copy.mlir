// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A predicated load is a load under an execution mask; the predicate itself never goes through memory.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>
!global = !fly.memref<f32, global, 4:1, align<16>>
!registers = !fly.memref<f32, register, 4:1>
!flag = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: guarded:
// CHECK:       v_cmp_gt_i32
// CHECK:       s_and_saveexec_b64
// CHECK:       global_load_dwordx4
// CHECK-NOT:   scratch_
// CHECK:       global_store_dwordx4
// CHECK:       .amdhsa_private_segment_fixed_size 0

gpu.module @kernels {
  gpu.func @guarded(%p: !fly.ptr<f32, global, align<16>>, %q: !fly.ptr<f32, global, align<16>>, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %c4 = arith.constant 4 : i32
    %first = arith.muli %t, %c4 : i32
    %offset = fly.make_int_tuple(%first) : (i32) -> !fly.int_tuple<?{div=4}>
    %from = fly.add_offset(%p, %offset) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, global, align<16>>
    %to = fly.add_offset(%q, %offset) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, global, align<16>>
    %layout = fly.static : !fly.layout<4:1>
    %one = fly.static : !fly.layout<1:1>
    %a = fly.make_view(%from, %layout) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !global
    %r = fly.memref.alloca(%layout) : (!fly.layout<4:1>) -> !registers
    %flag = fly.memref.alloca(%one) : (!fly.layout<1:1>) -> !flag
    %inside = arith.cmpi slt, %first, %n : i32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    fly.memref.store_vec(%zeros, %r) : (vector<4xf32>, !registers) -> ()
    %at = fly.make_int_tuple() : () -> !fly.int_tuple<0>
    fly.memref.store(%inside, %flag, %at) : (i1, !flag, !fly.int_tuple<0>) -> ()
    %copy = fly.make_copy_atom {valBits = 32 : i32} : !copy
    fly.copy(%copy, %a, %r, %flag) : (!copy, !global, !registers, !flag) -> ()
    %v = fly.memref.load_vec(%r) : (!registers) -> vector<4xf32>
    fly.ptr.store(%v, %to) : (vector<4xf32>, !fly.ptr<f32, global, align<16>>) -> ()
    gpu.return
  }
}

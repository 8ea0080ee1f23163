// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A predicated load is a load under an execution mask; the predicate itself never goes through memory.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>
!global = !fly.memref<f32, global, 4:1, align<16>>
!registers = !fly.memref<f32, register, 4:1>
!flag = !fly.memref<i1, register, 1:1>

// CHECK-LABEL: guarded:
// CHECK:       v_cmp_{{gt|le}}_i32
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

  // Predicated loads are in flight together: what becomes of one does not move into its branch, with the wait for it.
  // CHECK-LABEL: together:
  // CHECK:       s_and_saveexec_b64
  // CHECK:       global_load_dwordx4
  // CHECK-NOT:   vmcnt
  // CHECK:       s_and_saveexec_b64
  // CHECK:       global_load_dwordx4
  // CHECK-NOT:   v_lshlrev_b32_e32 v{{[0-9]+}}, 16
  // CHECK:       vmcnt
  gpu.func @together(%p: !fly.ptr<bf16, global, align<16>>, %q: !fly.ptr<bf16, global, align<16>>, %out: !fly.ptr<f32, global, align<16>>, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %c8 = arith.constant 8 : i32
    %first = arith.muli %t, %c8 : i32
    %offset = fly.make_int_tuple(%first) : (i32) -> !fly.int_tuple<?{div=8}>
    %from = fly.add_offset(%p, %offset) : (!fly.ptr<bf16, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<bf16, global, align<16>>
    %also = fly.add_offset(%q, %offset) : (!fly.ptr<bf16, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<bf16, global, align<16>>
    %to = fly.add_offset(%out, %offset) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f32, global, align<16>>
    %layout = fly.static : !fly.layout<8:1>
    %one = fly.static : !fly.layout<1:1>
    %a = fly.make_view(%from, %layout) : (!fly.ptr<bf16, global, align<16>>, !fly.layout<8:1>) -> !fly.memref<bf16, global, 8:1, align<16>>
    %b = fly.make_view(%also, %layout) : (!fly.ptr<bf16, global, align<16>>, !fly.layout<8:1>) -> !fly.memref<bf16, global, 8:1, align<16>>
    %r = fly.memref.alloca(%layout) : (!fly.layout<8:1>) -> !fly.memref<bf16, register, 8:1>
    %s = fly.memref.alloca(%layout) : (!fly.layout<8:1>) -> !fly.memref<bf16, register, 8:1>
    %flag = fly.memref.alloca(%one) : (!fly.layout<1:1>) -> !flag
    %inside = arith.cmpi slt, %first, %n : i32
    %zeros = arith.constant dense<0.0> : vector<8xbf16>
    fly.memref.store_vec(%zeros, %r) : (vector<8xbf16>, !fly.memref<bf16, register, 8:1>) -> ()
    fly.memref.store_vec(%zeros, %s) : (vector<8xbf16>, !fly.memref<bf16, register, 8:1>) -> ()
    %at = fly.make_int_tuple() : () -> !fly.int_tuple<0>
    fly.memref.store(%inside, %flag, %at) : (i1, !flag, !fly.int_tuple<0>) -> ()
    %copy = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 16>
    fly.copy(%copy, %a, %r, %flag) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<bf16, global, 8:1, align<16>>, !fly.memref<bf16, register, 8:1>, !flag) -> ()
    fly.copy(%copy, %b, %s, %flag) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<bf16, global, 8:1, align<16>>, !fly.memref<bf16, register, 8:1>, !flag) -> ()
    %v = fly.memref.load_vec(%r) : (!fly.memref<bf16, register, 8:1>) -> vector<8xbf16>
    %w = fly.memref.load_vec(%s) : (!fly.memref<bf16, register, 8:1>) -> vector<8xbf16>
    %ve = arith.extf %v : vector<8xbf16> to vector<8xf32>
    %we = arith.extf %w : vector<8xbf16> to vector<8xf32>
    %sum = arith.mulf %ve, %we : vector<8xf32>
    fly.ptr.store(%sum, %to) : (vector<8xf32>, !fly.ptr<f32, global, align<16>>) -> ()
    gpu.return
  }
}

// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A thread's four elements move in one access each; slicing costs one shift, and pointers stay in scalar registers.

!tensor = !fly.memref<f32, global, (256,4):(4,1), align<16>>
!part = !fly.memref<f32, global, 4:1, align<16>>
!registers = !fly.memref<f32, register, 4:1>
!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>

// CHECK-LABEL: vadd:
// CHECK:       v_lshlrev_b32_e32 [[OFFSET:v[0-9]+]], 4, v0
// CHECK-NOT:   v_{{lshl|add_u32|mul}}
// CHECK:       global_load_dwordx4 v{{.*}}, [[OFFSET]], s{{.*}}
// CHECK-NEXT:  global_load_dwordx4 v{{.*}}, [[OFFSET]], s{{.*}}
// CHECK:       v_pk_add_f32
// CHECK:       v_pk_add_f32
// CHECK:       global_store_dwordx4 [[OFFSET]], v{{.*}}, s{{.*}}
// CHECK-NEXT:  s_endpgm
// CHECK:       .amdhsa_private_segment_fixed_size 0

gpu.module @kernels {
  gpu.func @vadd(%A: !tensor, %B: !tensor, %C: !tensor) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %c = fly.make_coord(%t) : (i32) -> !fly.int_tuple<(?,*)>
    %a = fly.slice(%A, %c) : (!tensor, !fly.int_tuple<(?,*)>) -> !part
    %b = fly.slice(%B, %c) : (!tensor, !fly.int_tuple<(?,*)>) -> !part
    %o = fly.slice(%C, %c) : (!tensor, !fly.int_tuple<(?,*)>) -> !part
    %ra = fly.make_fragment_like(%a) : (!part) -> !registers
    %rb = fly.make_fragment_like(%b) : (!part) -> !registers
    %ro = fly.make_fragment_like(%o) : (!part) -> !registers
    %copy = fly.make_copy_atom {valBits = 32 : i32} : !copy
    fly.copy(%copy, %a, %ra) : (!copy, !part, !registers) -> ()
    fly.copy(%copy, %b, %rb) : (!copy, !part, !registers) -> ()
    %va = fly.memref.load_vec(%ra) : (!registers) -> vector<4xf32>
    %vb = fly.memref.load_vec(%rb) : (!registers) -> vector<4xf32>
    %sum = arith.addf %va, %vb : vector<4xf32>
    fly.memref.store_vec(%sum, %ro) : (vector<4xf32>, !registers) -> ()
    fly.copy(%copy, %ro, %o) : (!copy, !registers, !part) -> ()
    gpu.return
  }
}

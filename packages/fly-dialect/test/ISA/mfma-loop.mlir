// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// The accumulator of a loop lives in registers, and the loop advances addresses instead of recomputing them.

!mma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
!fragment = !fly.memref<f16, register, 4:1>
!accumulator = !fly.memref<f32, register, 4:1>
!global = !fly.memref<f16, global, 4:1, align<8>>
!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>

// CHECK-LABEL: dot:
// CHECK:       [[LOOP:.LBB0_[0-9]+]]:
// CHECK-NOT:   v_mul
// CHECK-DAG:   global_load_dwordx2
// CHECK-DAG:   global_load_dwordx2
// CHECK:       v_mfma_f32_16x16x16_f16 [[ACC:[va]\[[0-9:]+\]]], v{{.*}}, v{{.*}}, [[ACC]]
// CHECK-NOT:   v_accvgpr
// CHECK:       s_cbranch_scc{{[01]}} [[LOOP]]
// CHECK:       global_store_dwordx4
// CHECK:       .amdhsa_private_segment_fixed_size 0

gpu.module @kernels {
  gpu.func @dot(%pa: !fly.ptr<f16, global, align<8>>, %pb: !fly.ptr<f16, global, align<8>>, %pc: !fly.ptr<f32, global, align<16>>, %n: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %c4 = arith.constant 4 : i32
    %lane = arith.muli %t, %c4 : i32
    %four = fly.static : !fly.layout<4:1>
    %a = fly.memref.alloca(%four) : (!fly.layout<4:1>) -> !fragment
    %b = fly.memref.alloca(%four) : (!fly.layout<4:1>) -> !fragment
    %c = fly.memref.alloca(%four) : (!fly.layout<4:1>) -> !accumulator
    %zero = arith.constant dense<0.0> : vector<4xf32>
    fly.memref.store_vec(%zero, %c) : (vector<4xf32>, !accumulator) -> ()
    %mma = fly.make_mma_atom : !mma
    %copy = fly.make_copy_atom {valBits = 16 : i32} : !copy
    scf.for %i = %c0 to %n step %c1 : i32 {
      %block = arith.muli %i, %c256 : i32
      %sum = arith.addi %block, %lane : i32
      %offset = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?{div=4}>
      %qa = fly.add_offset(%pa, %offset) : (!fly.ptr<f16, global, align<8>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f16, global, align<8>>
      %qb = fly.add_offset(%pb, %offset) : (!fly.ptr<f16, global, align<8>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f16, global, align<8>>
      %ga = fly.make_view(%qa, %four) : (!fly.ptr<f16, global, align<8>>, !fly.layout<4:1>) -> !global
      %gb = fly.make_view(%qb, %four) : (!fly.ptr<f16, global, align<8>>, !fly.layout<4:1>) -> !global
      fly.copy(%copy, %ga, %a) : (!copy, !global, !fragment) -> ()
      fly.copy(%copy, %gb, %b) : (!copy, !global, !fragment) -> ()
      fly.gemm(%mma, %c, %a, %b, %c) : (!mma, !accumulator, !fragment, !fragment, !accumulator) -> ()
    }
    %result = fly.memref.load_vec(%c) : (!accumulator) -> vector<4xf32>
    %at = fly.make_int_tuple(%lane) : (i32) -> !fly.int_tuple<?{div=4}>
    %to = fly.add_offset(%pc, %at) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, global, align<16>>
    fly.ptr.store(%result, %to) : (vector<4xf32>, !fly.ptr<f32, global, align<16>>) -> ()
    gpu.return
  }
}

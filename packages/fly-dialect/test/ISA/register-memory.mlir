// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// Register memory that a loop and a branch change is registers: nothing goes to scratch.

gpu.module @kernels {
  // CHECK-LABEL: registers:
  // CHECK-NOT: scratch_
  // CHECK: [[LOOP:.LBB0_[0-9]+]]:
  // CHECK-COUNT-8: v_pk_mul_f32
  // CHECK-NOT: scratch_
  // CHECK: s_cbranch_scc{{[01]}} [[LOOP]]
  // CHECK-COUNT-4: global_store_dwordx4
  // CHECK: .amdhsa_private_segment_fixed_size 0
  gpu.func @registers(%x: !fly.ptr<f32, global, align<16>>, %n: i32, %flag: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %l = fly.static : !fly.layout<(4,4):(1,4)>
    %f = fly.memref.alloca(%l) : (!fly.layout<(4,4):(1,4)>) -> !fly.memref<f32, register, (4,4):(1,4)>
    %g = fly.make_view(%x, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<(4,4):(1,4)>) -> !fly.memref<f32, global, (4,4):(1,4), align<16>>
    %atom = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
    fly.copy(%atom, %g, %f) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, (4,4):(1,4), align<16>>, !fly.memref<f32, register, (4,4):(1,4)>) -> ()
    scf.for %k = %c0 to %n step %c1 : i32 {
      scf.if %flag {
        %v = fly.memref.load_vec(%f) : (!fly.memref<f32, register, (4,4):(1,4)>) -> vector<16xf32>
        %w = arith.mulf %v, %v : vector<16xf32>
        fly.memref.store_vec(%w, %f) : (vector<16xf32>, !fly.memref<f32, register, (4,4):(1,4)>) -> ()
      }
    }
    fly.copy(%atom, %f, %g) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, register, (4,4):(1,4)>, !fly.memref<f32, global, (4,4):(1,4), align<16>>) -> ()
    gpu.return
  }
}

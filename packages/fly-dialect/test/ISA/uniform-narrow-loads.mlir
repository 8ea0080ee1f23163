// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A load that is the same for all threads becomes a scalar one only where its address is known to be a multiple of 4: the
// hardware drops the lowest two bits, and would read bytes before those of a view that begins at an odd byte.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 8>
!mma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>

gpu.module @kernels {
  // CHECK-LABEL: odd:
  // CHECK: s_load_dwordx4 {{.*}}, s[0:1]
  // CHECK-NOT: s_load
  // CHECK: global_load_dwordx4
  gpu.func @odd(%x: !fly.memref<i8, global, 16:1>, %y: !fly.memref<i8, global, 16:1, align<16>>) kernel {
    %atom = fly.make_copy_atom {valBits = 8 : i32} : !copy
    %v = fly.copy_atom_call_ssa(%atom, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !fly.memref<i8, global, 16:1>) -> vector<16xi8>
    fly.copy_atom_call_ssa(%atom, %v, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!copy, vector<16xi8>, !fly.memref<i8, global, 16:1, align<16>>) -> ()
    gpu.return
  }

  // A fragment of a matrix atom that lies in memory is loaded too.
  // CHECK-LABEL: fragments:
  // CHECK: s_load_dwordx4 {{.*}}, s[0:1]
  // CHECK-NOT: s_load
  // CHECK: global_load_dwordx2
  gpu.func @fragments(%y: !fly.memref<f32, global, 4:1, align<16>>, %x: !fly.memref<f16, global, 4:1>) kernel {
    %atom = fly.make_mma_atom : !mma
    %c = arith.constant dense<0.0> : vector<4xf32>
    %d = fly.mma_atom_call_ssa(%atom, %x, %x, %c) : (!mma, !fly.memref<f16, global, 4:1>, !fly.memref<f16, global, 4:1>, vector<4xf32>) -> vector<4xf32>
    %copy = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
    fly.copy_atom_call_ssa(%copy, %d, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!fly.copy_atom<!fly.universal_copy<128>, 32>, vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}

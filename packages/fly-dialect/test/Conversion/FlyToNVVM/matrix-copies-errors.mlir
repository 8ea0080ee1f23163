// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --convert-fly-to-nvvm=chip=sm_90a

!ld4 = !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = false>, 16>
func.func @scattered(%row: !fly.memref<f16, shared, 8:64>) -> vector<8xf16> {
  %ld4 = fly.make_copy_atom {valBits = 16 : i32} : !ld4
  // expected-error @+2 {{each thread of '!fly_nvvm.ldmatrix<4, transposed = false>' names a row of 16 bytes that lie side by side, got 8:64 of 'f16'; a tile that is contiguous along the other mode is moved by the atom that is transposed}}
  // expected-error @+1 {{failed to legalize}}
  %0 = fly.copy_atom_call_ssa(%ld4, %row) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld4, !fly.memref<f16, shared, 8:64>) -> vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

!ld4 = !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = true>, 16>
func.func @short(%row: !fly.memref<f16, shared, 4:1>) -> vector<8xf16> {
  %ld4 = fly.make_copy_atom {valBits = 16 : i32} : !ld4
  // expected-error @+2 {{got 4:1 of 'f16'; a tile that is contiguous along the other mode is moved by the atom that is not transposed}}
  // expected-error @+1 {{failed to legalize}}
  %0 = fly.copy_atom_call_ssa(%ld4, %row) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld4, !fly.memref<f16, shared, 4:1>) -> vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

!ld4 = !fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = false>, 16>
func.func @global(%row: !fly.memref<f16, global, 8:1>) -> vector<8xf16> {
  %ld4 = fly.make_copy_atom {valBits = 16 : i32} : !ld4
  // expected-error @+2 {{a copy of '!fly_nvvm.ldmatrix<4, transposed = false>' is between shared memory and registers}}
  // expected-error @+1 {{failed to legalize}}
  %0 = fly.copy_atom_call_ssa(%ld4, %row) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!ld4, !fly.memref<f16, global, 8:1>) -> vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

!st4 = !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
func.func @between_memories(%from: !fly.memref<f16, shared, 8:1>, %to: !fly.memref<f16, shared, 8:1>) {
  %st4 = fly.make_copy_atom {valBits = 16 : i32} : !st4
  // expected-error @+2 {{is between shared memory and registers}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%st4, %from, %to) : (!st4, !fly.memref<f16, shared, 8:1>, !fly.memref<f16, shared, 8:1>) -> ()
  return
}

// -----

!st4 = !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
func.func @scattered_registers(%from: !fly.memref<f16, register, 8:2>, %to: !fly.memref<f16, shared, 8:1>) {
  %st4 = fly.make_copy_atom {valBits = 16 : i32} : !st4
  // expected-error @+2 {{the registers that '!fly_nvvm.stmatrix<4, transposed = false>' moves lie side by side, got 8:2}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%st4, %from, %to) : (!st4, !fly.memref<f16, register, 8:2>, !fly.memref<f16, shared, 8:1>) -> ()
  return
}

// -----

!st4 = !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
func.func @few_registers(%from: vector<4xf16>, %to: !fly.memref<f16, shared, 8:1>) {
  %st4 = fly.make_copy_atom {valBits = 16 : i32} : !st4
  // expected-error @+2 {{a thread holds 128 bits of '!fly_nvvm.stmatrix<4, transposed = false>'}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call_ssa(%st4, %from, %to) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!st4, vector<4xf16>, !fly.memref<f16, shared, 8:1>) -> ()
  return
}

// -----

!st4 = !fly.copy_atom<!fly_nvvm.stmatrix<4, transposed = false>, 16>
func.func @predicated(%from: vector<8xf16>, %to: !fly.memref<f16, shared, 8:1>, %p: i1) {
  %st4 = fly.make_copy_atom {valBits = 16 : i32} : !st4
  // expected-error @+2 {{all threads of a warp run '!fly_nvvm.stmatrix<4, transposed = false>' together: it takes no predicate}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call_ssa(%st4, %from, %to, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!st4, vector<8xf16>, !fly.memref<f16, shared, 8:1>, i1) -> ()
  return
}

// -----

!mma = !fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>
func.func @short_fragment(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!mma>
  // expected-error @+2 {{A of '!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f32>' is 128 bits of a thread: make the fragment with make_fragment_A}}
  // expected-error @+1 {{failed to legalize}}
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!mma>, vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

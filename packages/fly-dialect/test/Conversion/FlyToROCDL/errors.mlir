// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --convert-fly-to-rocdl

func.func @wrong_space(%p: !fly.ptr<f16, global>) -> !llvm.ptr<3> {
  // expected-error @+2 {{requested LLVM address space 3 but ROCDL conversion requires 1}}
  // expected-error @+1 {{failed to legalize operation 'fly.to_llvm_ptr'}}
  %0 = fly.to_llvm_ptr(%p) {llvm_address_space = 3 : i32} : (!fly.ptr<f16, global>) -> !llvm.ptr<3>
  return %0 : !llvm.ptr<3>
}

// -----

func.func @no_bare_pointer(%p: !fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8> {
  // expected-error @+2 {{pointer address space does not lower to a bare ROCDL LLVM pointer: #fly_rocdl.buffer_desc}}
  // expected-error @+1 {{failed to legalize operation 'fly.to_llvm_ptr'}}
  %0 = fly.to_llvm_ptr(%p) {llvm_address_space = 8 : i32} : (!fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  return %0 : !llvm.ptr<8>
}

// -----

func.func @shared_outside() {
  // expected-error @+2 {{shared make_ptr must be inside a gpu.module}}
  // expected-error @+1 {{failed to legalize operation 'fly.make_ptr'}}
  %0 = fly.make_ptr() {dictAttrs = {allocBytes = 64 : i64, allocAlign = 16 : i64}} : () -> !fly.ptr<f32, shared, align<16>>
  return
}

// -----

func.func @dynamic_shared_outside() {
  // expected-error @+2 {{get_dyn_shared must be inside a gpu.module}}
  // expected-error @+1 {{failed to legalize operation 'fly.get_dyn_shared'}}
  %0 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
  return
}

// -----

// A swizzle that would tear the vector apart.
func.func @swizzle_too_fine(%p: !fly.ptr<f16, shared, align<16>, S<2,2,3>>) -> vector<8xf16> {
  // expected-error @+2 {{the access moves 128 bits that lie side by side, but the swizzle S<2,2,3> of the pointer '!fly.ptr<f16, shared, align<16>, S<2,2,3>>' keeps only 32 together: the base of a pointer's swizzle counts bytes, 2^2; use a swizzle with a base of at least 4, or a narrower atom or access}}
  // expected-error @+1 {{failed to legalize operation 'fly.ptr.load'}}
  %0 = fly.ptr.load(%p) : (!fly.ptr<f16, shared, align<16>, S<2,2,3>>) -> vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

func.func @swizzle_too_fine_for_a_store(%p: !fly.ptr<f16, shared, align<16>, S<2,2,3>>, %v: vector<4xf16>) {
  // expected-error @+2 {{the access moves 64 bits that lie side by side, but the swizzle S<2,2,3> of the pointer}}
  // expected-error @+1 {{failed to legalize operation 'fly.ptr.store'}}
  fly.ptr.store(%v, %p) : (vector<4xf16>, !fly.ptr<f16, shared, align<16>, S<2,2,3>>) -> ()
  return
}

// -----

func.func @stateless_field(%v: i32) {
  %0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 16>
  // expected-error @+1 {{failed to legalize operation 'fly.atom.set_value'}}
  %1 = fly.atom.set_value(%0, "soffset", %v) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, i32) -> !fly.copy_atom<!fly.universal_copy<128>, 16>
  return
}

// -----

func.func @construction_arguments(%v: i64) {
  // expected-error @+2 {{stateless copy atom takes no construction arguments}}
  // expected-error @+1 {{failed to legalize operation 'fly.make_copy_atom'}}
  %0 = fly.make_copy_atom(%v : i64) {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 16>
  return
}

// -----

func.func @no_such_instruction(%a: vector<2xf16>, %c: vector<4xf32>) {
  %0 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (f16, f16) -> f32>>
  // expected-error @+1 {{failed to legalize operation 'fly.mma_atom_call_ssa'}}
  %1 = fly.mma_atom_call_ssa(%0, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x8, (f16, f16) -> f32>>, vector<2xf16>, vector<2xf16>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @scale_of_plain_mma(%a: vector<4xf16>, %s: i32, %c: vector<4xf32>) {
  %0 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
  // expected-error @+2 {{this MMA atom does not support auxiliary operands}}
  // expected-error @+1 {{failed to legalize operation 'fly.mma_atom_call_ssa'}}
  %1 = fly.mma_atom_call_ssa(%0, [%a, %s], %a, %c) : (!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, vector<4xf16>, i32, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

// A column of a row-major tensor is not 64 bits in one piece.

!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!column = !fly.memref<f16, global, 4:8>
func.func @scattered(%a: !column) -> vector<4xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{the copy moves 64 bits that lie side by side, but the elements of '!fly.memref<f16, global, 4:8>' do not; use a narrower copy}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !column) -> vector<4xf16>
  return %v : vector<4xf16>
}

// -----

// A pointer's swizzle has to move what an atom moves as a whole, on either side and in every form.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!plain = !fly.memref<f16, global, 8:1, align<16>>
!fine = !fly.memref<f16, shared, 8:1, align<16>, S<3,3,3>>
func.func @swizzle_finer_than_a_load(%a: !fine) -> vector<8xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{the access moves 128 bits that lie side by side, but the swizzle S<3,3,3> of the source '!fly.memref<f16, shared, 8:1, align<16>, S<3,3,3>>' keeps only 64 together: the base of a pointer's swizzle counts bytes, 2^3; use a swizzle with a base of at least 4, or a narrower atom or access}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !fine) -> vector<8xf16>
  return %v : vector<8xf16>
}

// -----

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!plain = !fly.memref<f16, global, 8:1, align<16>>
!fine = !fly.memref<f16, shared, 8:1, align<16>, S<3,3,3>>
func.func @swizzle_finer_than_a_copy_in_memory(%a: !plain, %b: !fine) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{the swizzle S<3,3,3> of the destination}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call'}}
  fly.copy_atom_call(%atom, %a, %b) : (!copy, !plain, !fine) -> ()
  return
}

// -----

// In a buffer too, where the swizzle acts on the offset.

!copy = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<64>, 16>
!buffer = !fly.memref<f16, #fly_rocdl.buffer_desc, 4:1, S<1,2,3>>
func.func @swizzle_finer_than_a_buffer_load(%a: !buffer) -> vector<4xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{the access moves 64 bits that lie side by side, but the swizzle S<1,2,3> of the source}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !buffer) -> vector<4xf16>
  return %v : vector<4xf16>
}

// -----

// The source of a load to LDS has its swizzle applied, the destination has not.

!copy = !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<128>, 16>
!fine = !fly.memref<f16, global, 8:1, align<16>, S<3,3,3>>
!lds = !fly.memref<f16, shared, 8:1, align<16>, S<3,3,3>>
func.func @swizzle_finer_than_a_load_to_lds(%a: !fine, %b: !lds) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{the swizzle S<3,3,3> of the source}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call'}}
  fly.copy_atom_call(%atom, %a, %b) : (!copy, !fine, !lds) -> ()
  return
}

// -----

!mma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
!fine = !fly.memref<f16, shared, 4:1, align<16>, S<3,2,3>>
func.func @swizzle_finer_than_a_fragment(%a: !fine, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %atom = fly.make_mma_atom : !mma
  // expected-error @+2 {{the access moves 64 bits that lie side by side, but the swizzle S<3,2,3> of the operand}}
  // expected-error @+1 {{failed to legalize operation 'fly.mma_atom_call_ssa'}}
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) : (!mma, !fine, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// -----

// A piece of 12 bytes lies within one of 16 only if it begins there.

!copy = !fly.copy_atom<!fly.universal_copy<96>, 32>
!begins = !fly.memref<f32, shared, 3:1, align<16>, S<3,4,3>>
!anywhere = !fly.memref<f32, shared, 3:1, S<3,4,3>>
func.func @three_words(%a: !begins, %b: !anywhere) -> (vector<3xf32>, vector<3xf32>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !copy
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !begins) -> vector<3xf32>
  // expected-error @+2 {{the access moves 96 bits}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  %w = fly.copy_atom_call_ssa(%atom, %b) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !anywhere) -> vector<3xf32>
  return %v, %w : vector<3xf32>, vector<3xf32>
}

// -----

// The call would see where the first element lies, without the swizzle.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 16>
!composed = !fly.memref<f16, shared, S<3,3,3> o 0 o 8:1, align<16>>
func.func @composed(%a: !composed) -> vector<8xf16> {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // expected-error @+2 {{has a composed layout, which fly-layout-lowering or fly.decomposition takes apart}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  %v = fly.copy_atom_call_ssa(%atom, %a) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, !composed) -> vector<8xf16>
  return %v : vector<8xf16>
}

// -----

!tdm = !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 2, 1, cache = 0, barrier = false, timeout = false>, 16>

func.func @padding(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !tdm
  // expected-error@+2 {{gfx1250 TDM: padding (interval=2, amount=1 elements at 16-bit) is not encodable}}
  // expected-error@+1 {{failed to legalize operation 'fly.copy_atom_call'}}
  fly.copy_atom_call(%atom, %g, %s) : (!tdm, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}

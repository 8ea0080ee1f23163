// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --convert-fly-to-nvvm=chip=sm_90a

// What only AMD GPUs have, with what there is instead.

func.func @operation(%x: f32) -> f32 {
  // expected-error @+1 {{rocdl.rcp exists on AMD GPUs, and the kernel is compiled for sm_90a; use fx.nvgpu.reciprocal_approx}}
  %0 = rocdl.rcp %x f32 -> f32
  return %0 : f32
}

// -----

func.func @intrinsic(%x: f32) -> f32 {
  // expected-error @+1 {{llvm.amdgcn.rsq exists on AMD GPUs, and the kernel is compiled for sm_90a; use fx.nvgpu.rsqrt_approx}}
  %0 = llvm.call_intrinsic "llvm.amdgcn.rsq"(%x) : (f32) -> f32
  return %0 : f32
}

// -----

func.func @atom() {
  // expected-error @+1 {{fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32> is an instruction of AMD GPUs, but the kernel is compiled for sm_90a; use fx.nvgpu.WGMMA or fx.UniversalFMA}}
  %0 = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
  return
}

// -----

func.func @buffer(%p: !fly.ptr<f16, global>, %stride: i16, %bytes: i64, %flags: i32) {
  // expected-error @+1 {{a buffer resource exists on AMD GPUs, and the kernel is compiled for sm_90a; use the tensor itself, and predicates for what lies outside of it}}
  %0 = fly.make_ptr(%p, %stride, %bytes, %flags) : (!fly.ptr<f16, global>, i16, i64, i32) -> !fly.ptr<f16, #fly_rocdl.buffer_desc>
  return
}

// -----

func.func @scope(%g: !fly.memref<f32, global, 1:1>, %x: f32) {
  %0 = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<add, f32, "one-as">, 32>
  // expected-error @+2 {{the scope "one-as" of the atomic operation is none of NVVM}}
  // expected-error @+1 {{failed to legalize operation 'fly.copy_atom_call_ssa'}}
  fly.copy_atom_call_ssa(%0, %x, %g) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!fly.copy_atom<!fly.universal_atomic<add, f32, "one-as">, 32>, f32, !fly.memref<f32, global, 1:1>) -> ()
  return
}

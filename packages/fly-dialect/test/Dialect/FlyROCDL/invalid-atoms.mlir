// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

// An operation that does not exist is diagnosed within the atom, and the atom's parameter after it.

func.func @scaled_shape() {
  // expected-error@+2 {{unsupported MNK for GFX1250 WMMA_Scale: 16x16x64 (expected 16x16x128 or 32x16x128)}}
  // expected-error@+1 {{failed to parse Fly_MmaAtom parameter 'mmaOp' which is to be a `Type`}}
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<16x16x64, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 32>>
  return
}

// -----

func.func @sign_of_float() {
  // expected-error@+2 {{GFX11 WMMA fp16/bf16 path does not accept signA/signB/clamp (the ROCDL fp WMMA intrinsics have no such operands); got signA=1, signB=0, clamp=0}}
  // expected-error@+1 {{failed to parse Fly_MmaAtom parameter 'mmaOp'}}
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> f32, signA = true, signB = false, clamp = false>>
  return
}

// -----

func.func @clamp_of_float() {
  // expected-error@+2 {{GFX120X WMMA floating-point path does not accept signA/signB/clamp (the ROCDL fp WMMA intrinsics have no such operands); got signA=0, signB=0, clamp=1}}
  // expected-error@+1 {{failed to parse Fly_MmaAtom parameter 'mmaOp'}}
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = true>>
  return
}

// -----

func.func @warps() {
  // expected-error@+2 {{numWarps must be a positive power of two, got 3}}
  // expected-error@+1 {{failed to parse Fly_CopyAtom parameter 'copyOp' which is to be a `Type`}}
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 3, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  return
}

// -----

func.func @unpaired_padding() {
  // expected-error@+2 {{padInterval and padAmount must both be zero or both non-zero}}
  // expected-error@+1 {{failed to parse Fly_CopyAtom parameter 'copyOp'}}
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 64, 0, cache = 0, barrier = false, timeout = false>, 16>
  return
}

// -----

func.func @padding_interval() {
  // expected-error@+2 {{padInterval must be a power of two (in elements), got 48}}
  // expected-error@+1 {{failed to parse Fly_CopyAtom parameter 'copyOp'}}
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 48, 8, cache = 0, barrier = false, timeout = false>, 16>
  return
}

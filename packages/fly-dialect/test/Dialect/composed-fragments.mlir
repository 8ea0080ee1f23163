// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

!atom = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!plain = !fly.memref<f32, register, 1:0>
!swizzled = !fly.memref<f32, register, S<1,0,1> o 0 o 1:0>

func.func @gemm(%atom: !atom, %c: !plain, %a: !plain, %b: !swizzled) {
  // expected-error @+1 {{operand B is a fragment in registers with the composed layout S<1,0,1> o 0 o 1:0; a swizzle is for shared memory: make the fragment of a plain layout}}
  fly.gemm(%atom, %c, %a, %b, %c) : (!atom, !plain, !plain, !swizzled, !plain) -> ()
  return
}

// -----

!atom = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!plain = !fly.memref<f32, register, 1:0>
!swizzled = !fly.memref<f32, register, S<1,0,1> o 0 o 1:0>

func.func @call(%atom: !atom, %c: !swizzled, %a: !plain) {
  // expected-error @+1 {{'fly.mma_atom_call' op operand D is a fragment in registers with the composed layout}}
  fly.mma_atom_call(%atom, %c, %a, %a, %c) : (!atom, !swizzled, !plain, !plain, !swizzled) -> ()
  return
}

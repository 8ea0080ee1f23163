// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

!mixed = !fly_nvvm.sm80.mma_sync<16x8x16, (bf16, f16) -> f32> // expected-error {{mma_sync has no ('bf16', 'f16') -> 'f32': A and B are f16, bf16, tf32, i8 or f64, alike, or any of f8E4M3FN and f8E5M2; the accumulators f32, of f16 also f16, of i8 i32, of f64 f64}}

// -----

!narrow_sums = !fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> bf16> // expected-error {{mma_sync has no ('bf16', 'bf16') -> 'bf16'}}

// -----

!float_sums = !fly_nvvm.sm80.mma_sync<16x8x32, (i8, i8) -> f32> // expected-error {{mma_sync has no ('i8', 'i8') -> 'f32'}}

// -----

!whole_floats = !fly_nvvm.sm80.mma_sync<16x8x8, (f32, f32) -> f32> // expected-error {{mma_sync has no ('f32', 'f32') -> 'f32'}}

// -----

!long_k = !fly_nvvm.sm80.mma_sync<16x8x32, (f16, f16) -> f32> // expected-error {{mma_sync of 'f16' is 16x8x16 or 16x8x8, got 16x8x32}}

// -----

!wide_n = !fly_nvvm.sm80.mma_sync<16x16x8, (tf32, tf32) -> f32> // expected-error {{mma_sync of 'tf32' is 16x8x8 or 16x8x4, got 16x16x8}}

// -----

!short_k = !fly_nvvm.sm80.mma_sync<16x8x16, (f8E4M3FN, f8E5M2) -> f32> // expected-error {{mma_sync of 'f8E4M3FN' is 16x8x32, got 16x8x16}}

// -----

!tall = !fly_nvvm.sm80.mma_sync<16x8x4, (f64, f64) -> f64> // expected-error {{mma_sync of f64 is 8x8x4, got 16x8x4}}

// -----

!no_k = !fly_nvvm.sm80.mma_sync<16x8, (f16, f16) -> f32> // expected-error {{expected MxNxK}}

// -----

!three = !fly_nvvm.ldmatrix<3, transposed = false> // expected-error {{ldmatrix moves 1, 2 or 4 matrices, got 3}}

// -----

!eight = !fly_nvvm.stmatrix<8, transposed = true> // expected-error {{stmatrix moves 1, 2 or 4 matrices, got 8}}

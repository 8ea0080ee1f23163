// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

!wrong_types = !fly_nvvm.sm90.wgmma<64x64x16, (bf16, f16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false> // expected-error {{wgmma has no ('bf16', 'f16') -> 'f32'}}

// -----

!wrong_k = !fly_nvvm.sm90.wgmma<64x64x32, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false> // expected-error {{wgmma of 'bf16' is 64xNx16, got 64x64x32}}

// -----

!wrong_n = !fly_nvvm.sm90.wgmma<64x20x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false> // expected-error {{N of wgmma of 'bf16' is a multiple of 8 from 8 to 256, got 20}}

// -----

!wrong_major = !fly_nvvm.sm90.wgmma<64x64x32, (f8E4M3FN, f8E4M3FN) -> f32, registersA = false, mnMajorA = false, mnMajorB = true> // expected-error {{contiguous along M or N of 16-bit elements only}}

// -----

!wrong_integers = !fly_nvvm.sm90.wgmma<64x40x32, (i8, i8) -> i32, registersA = false, mnMajorA = false, mnMajorB = false> // expected-error {{N of wgmma of 'i8' is a multiple of 8 from 8 to 256, above 32 of 16, got 40}}

// -----

!long_box = !fly_nvvm.tensor_map<[512, 64], bf16, swizzle = 128> // expected-error {{1 to 256 elements on each axis, got 512}}

// -----

!wide_row = !fly_nvvm.tensor_map<[64, 128], bf16, swizzle = 128> // expected-error {{got rows of 256 bytes and a swizzle of 128}}

// -----

!odd_row = !fly_nvvm.sm90.tma_store<[64, 4], bf16, swizzle = 0> // expected-error {{multiples of 16 bytes}}

// -----

!odd_swizzle = !fly_nvvm.sm90.tma_load<[64, 8], bf16, swizzle = 16, multicast = false, evictFirst = false> // expected-error {{the swizzle of a tensor map is of 0, 32, 64 or 128 bytes, got 16}}

// -----

!odd_copy = !fly_nvvm.sm80.cp_async<96> // expected-error {{cp_async moves 32, 64 or 128 bits, got 96}}

// -----

!no_such_sum = !fly_nvvm.sm90.tma_reduce<[64, 8], f64, swizzle = 0, kind = add> // expected-error {{the copy engine has the reduction add of i32, i64, f32, f16 and bf16, got 'f64'}}

// -----

!no_such_maximum = !fly_nvvm.sm90.tma_reduce<[64, 8], f32, swizzle = 0, kind = max> // expected-error {{the copy engine has the reduction max of i32, i64, f16 and bf16, got 'f32'}}

// -----

!no_such_bits = !fly_nvvm.sm90.tma_reduce<[64, 8], bf16, swizzle = 0, kind = and> // expected-error {{the copy engine has the reduction and of i32 and i64, got 'bf16'}}

// -----

!no_such_kind = !fly_nvvm.sm90.tma_reduce<[64, 8], i32, swizzle = 0, kind = inc> // expected-error {{a reduction is add, min, max, and, or or xor, got inc}}

// -----

!odd_row_of_sums = !fly_nvvm.sm90.tma_reduce<[64, 2], i32, swizzle = 0, kind = add> // expected-error {{multiples of 16 bytes}}

// -----

!map = !fly_nvvm.tensor_map<[64, 64], bf16, swizzle = 128>
func.func @odd_fetch(%base: !fly.ptr<bf16, global>, %k: i64, %m: i64, %pitch: i64) {
  // expected-error@+1 {{the L2 fetches 64, 128 or 256 bytes together, got 96}}
  %odd = fly_nvvm.make_tensor_map %base, extents = [%k, %m], strides = [%pitch] {fetched = 96 : i32} : !fly.ptr<bf16, global> -> !map
  return
}

// -----

!wgmma = !fly_nvvm.sm90.wgmma<64x64x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
func.func @not_swizzled(%atom: !fly.mma_atom<!wgmma>, %d: !fly.memref<f32, register, (2,2,8):(1,2,4)>,
                        %a: !fly.memref<bf16, shared, (64,16):(64,1)>,
                        %b: !fly.memref<bf16, shared, (64,16):(64,1)>) {
  // expected-error@+1 {{operand A of '!fly_nvvm.sm90.wgmma<64x64x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>': the layout (64,16):(64,1) puts element (1,0) at byte 128, where the hardware looks for it at byte 16 with a swizzle of 0 bytes, contiguous along K; of 64 by 16 elements it takes slices of (rows,64):(64,1) behind a pointer with the swizzle S<3,4,3>}}
  fly.mma_atom_call(%atom, %d, %a, %b, %d) : (!fly.mma_atom<!wgmma>, !fly.memref<f32, register, (2,2,8):(1,2,4)>, !fly.memref<bf16, shared, (64,16):(64,1)>, !fly.memref<bf16, shared, (64,16):(64,1)>, !fly.memref<f32, register, (2,2,8):(1,2,4)>) -> ()
  return
}

// -----

!wgmma = !fly_nvvm.sm90.wgmma<64x64x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
func.func @in_registers(%atom: !fly.mma_atom<!wgmma>, %d: !fly.memref<f32, register, (2,2,8):(1,2,4)>,
                        %a: !fly.memref<bf16, register, 8:1>) {
  // expected-error@+1 {{is read in shared memory by the operation itself}}
  fly.mma_atom_call(%atom, %d, %a, %a, %d) : (!fly.mma_atom<!wgmma>, !fly.memref<f32, register, (2,2,8):(1,2,4)>, !fly.memref<bf16, register, 8:1>, !fly.memref<bf16, register, 8:1>, !fly.memref<f32, register, (2,2,8):(1,2,4)>) -> ()
  return
}

// SPDX-License-Identifier: Apache-2.0
// Every atom of the fly_rocdl dialect, as it is printed.
// RUN: fly-opt %s > %t && FileCheck %s < %t
// RUN: fly-opt %t | diff %t -

// CHECK-LABEL: @copies(
// CHECK-SAME: !fly_rocdl.cdna3.buffer_copy<128>, !fly_rocdl.cdna3.buffer_copy<128>, !fly_rocdl.cdna3.buffer_copy<32, cache = 2>,
// CHECK-SAME: !fly_rocdl.cdna3.buffer_copy_lds<32>, !fly_rocdl.cdna3.buffer_atomic<add, f32>,
// CHECK-SAME: !fly_rocdl.cdna3.buffer_atomic<add, vector<2xf16>>, !fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>,
// CHECK-SAME: !fly_rocdl.cdna4.buffer_load_async_lds<96>, !fly_rocdl.cdna4.global_load_async_lds<128>)
func.func private @copies(
  !fly_rocdl.cdna3.buffer_copy<128>, !fly_rocdl.cdna3.buffer_copy<128, cache = 0>, !fly_rocdl.cdna3.buffer_copy<32, cache = 2>,
  !fly_rocdl.cdna3.buffer_copy_lds<32>, !fly_rocdl.cdna3.buffer_atomic<add, f32>,
  !fly_rocdl.cdna3.buffer_atomic<add, vector<2xf16>>, !fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>,
  !fly_rocdl.cdna4.buffer_load_async_lds<96>, !fly_rocdl.cdna4.global_load_async_lds<128>)

// CHECK-LABEL: @matrices(
// CHECK-SAME: !fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<16x16x32, (i8, i8) -> i32>,
// CHECK-SAME: !fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 3, opselB = 0>,
// CHECK-SAME: !fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = true>,
// CHECK-SAME: !fly_rocdl.gfx120x.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = false>,
// CHECK-SAME: !fly_rocdl.gfx1250.wmma<16x16x32, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>,
// CHECK-SAME: !fly_rocdl.gfx1250.wmma<16x16x4, (f32, f32) -> f32, signA = false, signB = false, clamp = false, modC = 1>,
// CHECK-SAME: !fly_rocdl.gfx1250.wmma_scale<32x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1, modC = 0, reuseA = false, reuseB = true, blockSize = 16>)
func.func private @matrices(
  !fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>,
  !fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>,
  !fly_rocdl.cdna3.mfma<16x16x32, (i8, i8) -> i32>,
  !fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 3, opselB = 0>,
  !fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = true>,
  !fly_rocdl.gfx120x.wmma<16x16x32, (i4, i4) -> i32, signA = false, signB = false, clamp = false>,
  !fly_rocdl.gfx1250.wmma<16x16x32, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false, modC = 0>,
  !fly_rocdl.gfx1250.wmma<16x16x4, (f32, f32) -> f32, signA = false, signB = false, clamp = false, modC = 1>,
  !fly_rocdl.gfx1250.wmma_scale<32x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1, modC = 0, reuseA = false, reuseB = true, blockSize = 16>)

// CHECK-LABEL: @more_matrices(
// CHECK-SAME: !fly_rocdl.cdna3.mfma<16x16x4, (f64, f64) -> f64>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<4x4x4, (f64, f64) -> f64, blocks = 4>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<16x16x4, (f16, f16) -> f32>,
// CHECK-SAME: !fly_rocdl.cdna3.mfma<16x16x4, (f16, f16) -> f32, blocks = 4>,
// CHECK-SAME: !fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>,
// CHECK-SAME: !fly_rocdl.cdna3.smfmac<32x32x32, (i8, i8) -> i32, indexSet = 1>,
// CHECK-SAME: !fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>,
// CHECK-SAME: !fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f16, signA = false, signB = false, clamp = false>)
func.func private @more_matrices(
  !fly_rocdl.cdna3.mfma<16x16x4, (f64, f64) -> f64>,
  !fly_rocdl.cdna3.mfma<4x4x4, (f64, f64) -> f64, blocks = 4>,
  !fly_rocdl.cdna3.mfma<32x32x4, (tf32, tf32) -> f32>,
  !fly_rocdl.cdna3.mfma<16x16x4, (f16, f16) -> f32, blocks = 1>,
  !fly_rocdl.cdna3.mfma<16x16x4, (f16, f16) -> f32, blocks = 4>,
  !fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32, indexSet = 0>,
  !fly_rocdl.cdna3.smfmac<32x32x32, (i8, i8) -> i32, indexSet = 1>,
  !fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>,
  !fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f16, signA = false, signB = false, clamp = false>)

// CHECK-LABEL: @movers(
// CHECK-SAME: !fly_rocdl.gfx1250.tdm<rank = 2, warps = 4, pad = 64, 8, cache = 0, barrier = false, timeout = true>,
// CHECK-SAME: !fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1)>,
// CHECK-SAME: !fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = ((1E1,1E0),0), atomicBarrier = true, cacheModifier = 3, padInterval = 64, padAmount = 8>,
// CHECK-SAME: !fly_rocdl.cdna5.tensor_store<shape = [64], elem = i8, tensor2tdm = 1E0, iterCount = 4>)
func.func private @movers(
  !fly_rocdl.gfx1250.tdm<rank = 2, warps = 4, pad = 64, 8, cache = 0, barrier = false, timeout = true>,
  !fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1)>,
  !fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = ((1E1,1E0),0), padAmount = 8, padInterval = 64, cacheModifier = 3, atomicBarrier = true>,
  !fly_rocdl.cdna5.tensor_store<shape = [64], elem = i8, tensor2tdm = 1E0, iterCount = 4>)

// CHECK-LABEL: @get_buffer_rsrc
func.func @get_buffer_rsrc(%p: !fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8> {
  // CHECK: fly_rocdl.get_buffer_rsrc(%{{.*}}) : (!fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  %0 = fly_rocdl.get_buffer_rsrc(%p) : (!fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  return %0 : !llvm.ptr<8>
}

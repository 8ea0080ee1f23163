// SPDX-License-Identifier: Apache-2.0
// Operations that no architecture has.
// RUN: fly-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unsupported bitSize = 64 for BufferCopyLDS; expected 32 or 128}}
func.func private @buffer_copy_lds(!fly_rocdl.cdna3.buffer_copy_lds<64>)
// -----
// expected-error@+1 {{unsupported bitSize = 64 for BufferLoadAsyncLDS; expected 32, 96 or 128}}
func.func private @buffer_async(!fly_rocdl.cdna4.buffer_load_async_lds<64>)
// -----
// expected-error@+1 {{unsupported (bitSize, transGranularity) = (128, 16) for LDS read transpose}}
func.func private @read_trans(!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 128>)
// -----
// expected-error@+1 {{MFMA requires M=N, got 16x32x16}}
func.func private @mfma_square(!fly_rocdl.cdna3.mfma<16x32x16, (f16, f16) -> f32>)
// -----
// expected-error@+1 {{elemTyAcc must be f32, got 'f64'}}
func.func private @mfma_acc(!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f64>)
// -----
// expected-error@+1 {{elemTyA must be f16, bf16, f32, f8E4M3FNUZ, f8E5M2FNUZ, got 'f64'}}
func.func private @mfma_a(!fly_rocdl.cdna3.mfma<16x16x16, (f64, f16) -> f32>)
// -----
// expected-error@+1 {{elemTyAcc must be f32, got 'f64'; of f64 there are 16x16x4, and 4x4x4 on 4 blocks}}
func.func private @mfma_f64(!fly_rocdl.cdna3.mfma<16x16x16, (f64, f64) -> f64>)
// -----
// expected-error@+1 {{no MFMA 16x16x16 of 'f16' and 'f16' on 4 blocks; there are 32x32xK on 2, 16x16xK on 4 and 4x4xK on 16, with K = 1 for f32 and K = 4 for f16, bf16 and i8, and 4x4x4 of f64 on 4}}
func.func private @mfma_blocks(!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32, blocks = 4>)
// -----
// expected-error@+1 {{expected 'blocks'}}
func.func private @mfma_key(!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32, block = 4>)
// -----
// expected-error@+1 {{unsupported SMFMAC configuration: 16x16x16 with A='f16', B='f16', Acc='f32' (expected 16x16x32 or 32x32x16, or twice that K)}}
func.func private @smfmac_k(!fly_rocdl.cdna3.smfmac<16x16x16, (f16, f16) -> f32>)
// -----
// gfx950, which has twice the K, has no FNUZ floats.
// expected-error@+1 {{(expected 16x16x64 or 32x32x32)}}
func.func private @smfmac_fnuz(!fly_rocdl.cdna3.smfmac<16x16x128, (f8E4M3FNUZ, f8E4M3FNUZ) -> f32>)
// -----
// expected-error@+1 {{unsupported SMFMAC configuration: 16x16x32 with A='f16', B='bf16', Acc='f32'}}
func.func private @smfmac_mixed(!fly_rocdl.cdna3.smfmac<16x16x32, (f16, bf16) -> f32>)
// -----
// expected-error@+1 {{unsupported SMFMAC configuration: 16x16x64 with A='i8', B='i8', Acc='f32'}}
func.func private @smfmac_acc(!fly_rocdl.cdna3.smfmac<16x16x64, (i8, i8) -> f32>)
// -----
// 16 bits of indices per lane: the register has two sets.
// expected-error@+1 {{indexSet must be in [0, 1], got 2}}
func.func private @smfmac_set(!fly_rocdl.cdna3.smfmac<16x16x64, (i8, i8) -> i32, indexSet = 2>)
// -----
func.func @smfmac_tiled(%a: !fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>, %l: !fly.layout<(1,1,1):(0,0,0)>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{MakeTiledMmaOp: the atom must be dense and of one block, got '!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>'}}
  %0 = fly.make_tiled_mma(%a, %l) : (!fly.mma_atom<!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>>, !fly.layout<(1,1,1):(0,0,0)>) -> !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(1,1,1):(0,0,0)>>
  return
}
// -----
// expected-error@+1 {{a tiled matrix operation takes dense atoms of one block, got '!fly_rocdl.cdna3.mfma<4x4x1, (f32, f32) -> f32, blocks = 16>'}}
func.func private @blocks_tiled(!fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<4x4x1, (f32, f32) -> f32, blocks = 16>>, !fly.layout<(1,1,1):(0,0,0)>>)
// -----
// expected-error@+1 {{integer MFMA requires both A and B to be i8}}
func.func private @mfma_mixed(!fly_rocdl.cdna3.mfma<16x16x16, (i8, f16) -> i32>)
// -----
// expected-error@+1 {{integer MFMA requires i32 accumulator, got 'f32'}}
func.func private @mfma_int_acc(!fly_rocdl.cdna3.mfma<16x16x16, (i8, i8) -> f32>)
// -----
// expected-error@+1 {{unsupported MNK for CDNA4 MFMA_Scale: 16x16x64 (expected 16x16x128 or 32x32x64)}}
func.func private @scale_mnk(!fly_rocdl.cdna4.mfma_scale<16x16x64, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0>)
// -----
// expected-error@+1 {{opselA must be in [0, 3], got 4}}
func.func private @scale_opsel(!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 4, opselB = 0>)
// -----
// expected-error@+1 {{GFX11 WMMA requires M=N=K=16, got 16x16x32}}
func.func private @gfx11_k(!fly_rocdl.gfx11.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{unsupported GFX11 WMMA configuration: 16x16x16 with A='i8', B='i4', Acc='i32'}}
func.func private @gfx11_mixed(!fly_rocdl.gfx11.wmma<16x16x16, (i8, i4) -> i32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{GFX11 WMMA fp16/bf16 path does not accept signA/signB/clamp}}
func.func private @gfx11_sign(!fly_rocdl.gfx11.wmma<16x16x16, (bf16, bf16) -> f32, signA = true, signB = false, clamp = false>)
// -----
// expected-error@+1 {{GFX120X WMMA requires M=N=16, got 32x16}}
func.func private @gfx120x_m(!fly_rocdl.gfx120x.wmma<32x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{GFX120X WMMA IU8 requires K=16, got 16x16x32}}
func.func private @gfx120x_iu8(!fly_rocdl.gfx120x.wmma<16x16x32, (i8, i8) -> i32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{GFX120X WMMA floating-point forms require M=N=K=16, got 16x16x32}}
func.func private @gfx120x_f16_k(!fly_rocdl.gfx120x.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{signA/signB/clamp are only valid for integer (iu4/iu8) WMMA, got A='f16'}}
func.func private @gfx1250_sign(!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f32, signA = true, signB = false, clamp = false>)
// -----
// expected-error@+1 {{unsupported GFX1250 WMMA configuration: 16x16x16}}
func.func private @gfx1250_k(!fly_rocdl.gfx1250.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>)
// -----
// expected-error@+1 {{blockSize must be 16 or 32, got 64}}
func.func private @scale_block(!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 64>)
// -----
// expected-error@+1 {{GFX1250 WMMA_Scale 32x16x128 requires f4E2M1FN A and B}}
func.func private @scale_tall(!fly_rocdl.gfx1250.wmma_scale<32x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 32>)
// -----
// expected-error@+1 {{opselB must be in [0, 1] (row0/row1), got 2}}
func.func private @scale_row(!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 2, modC = 0, reuseA = false, reuseB = false, blockSize = 32>)
// -----
// expected-error@+1 {{modC must fit the i16 intrinsic field [0, 65535], got 65536}}
func.func private @scale_modc(!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 65536, reuseA = false, reuseB = false, blockSize = 32>)
// -----
// expected-error@+1 {{TDM rank must be in [1, 5], got 6}}
func.func private @tdm_rank(!fly_rocdl.gfx1250.tdm<rank = 6, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>)
// -----
// expected-error@+1 {{numWarps must be a positive power of two, got 3}}
func.func private @tdm_warps(!fly_rocdl.gfx1250.tdm<rank = 2, warps = 3, pad = 0, 0, cache = 0, barrier = false, timeout = false>)
// -----
// expected-error@+1 {{padInterval and padAmount must both be zero or both non-zero}}
func.func private @tdm_pad(!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 64, 0, cache = 0, barrier = false, timeout = false>)
// -----
// expected-error@+1 {{padInterval must be a power of two (in elements), got 48}}
func.func private @tdm_interval(!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 48, 8, cache = 0, barrier = false, timeout = false>)
// -----
// expected-error@+1 {{duplicate or unknown struct parameter name: iterCount}}
func.func private @tensor_repeated(!fly_rocdl.cdna5.tensor_load<shape = [64], elem = f16, tensor2tdm = 1E0, iterCount = 2, iterCount = 3>)
// -----
// expected-error@+1 {{duplicate or unknown struct parameter name: padInterval}}
func.func private @store_padding(!fly_rocdl.cdna5.tensor_store<shape = [64], elem = f16, tensor2tdm = 1E0, padInterval = 2>)
// -----
// expected-error@+1 {{TDM tensor2tdm mode 1 lands on dim 2, which is not a descriptor dim in [0, 2)}}
func.func private @tensor_dim(!fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E2)>)
// -----
func.func @get_buffer_rsrc(%p: !fly.ptr<f16, global>) {
  // expected-error@+2 {{GetBufferRsrcOp: expected a buffer_desc address space pointer, got #fly<address_space global>}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = fly_rocdl.get_buffer_rsrc(%p) : (!fly.ptr<f16, global>) -> !llvm.ptr<8>
  return
}

# SPDX-License-Identifier: Apache-2.0
"""The names, parameters and refusals that existing code counts on: of builders, launchers, operators and helpers.

A builder may have more parameters than are listed, behind them and with defaults. Launchers have exactly these.
"""

import importlib
import inspect

import pytest

EPS = 1e-5

BUILDERS = {
    "gemm.rdna_f16_gemm.create_wmma_gemm_module": (
        "M, N, K, in_dtype='bf16', out_dtype='bf16', *, rounding='rn', reg_m=4, reg_n=4, reg_k=2, waves_m=2, waves_n=2,"
        "group_m=8, a_k_pad=8, b_k_pad=8"
    ),
    "gemm.rdna3_f16_gemm.create_wmma_gemm_module": (
        "M, N, K, in_dtype='bf16', out_dtype='bf16', *, rounding='rn', reg_m=4, reg_n=4, reg_k=2, waves_m=2, waves_n=2,"
        "group_m=8, a_k_pad=8, b_k_pad=8, lds_layout='pad', sched_hint=False, stagger=0, persistent_wgs=0, lda=None,"
        "ldb=None, ldc=None"
    ),
    "gemm.rdna3_int8_gemm.create_wmma_int8_gemm_module": (
        "M, N, K, in_dtype='int8', out_dtype='i32', *, scale_mode='none', reg_m=None, reg_n=4, reg_k=4, waves_m=2,"
        "waves_n=2, group_m=8, lds_layout='pad', sched_hint=True, stagger=1, persistent_wgs=0, split_k=1, lda=None,"
        "ldb=None, ldc=None"
    ),
    "gemm.rdna_fp8_preshuffle_gemm.compile_fp8_gemm": (
        "*, M, N, K, tile_m=32, tile_n=None, tile_k=32, k_unroll=None, group_m=8"
    ),
    "norm.softmax_bwd_kernel.softmax_bwd_buffered_operands": "N, dtype_str",
    "norm.layernorm_kernel.build_layernorm_module": "N, dtype_str, store_stats=False, eps=EPS",
    "norm.layernorm_kernel.build_layernorm_bwd_module": "N, dtype_str",
    "norm.layernorm_kernel.build_fused_add_layernorm_module": "N, dtype_str",
    "norm.layernorm_kernel.build_layernorm_dynamicquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.layernorm_kernel.build_layernorm_smoothquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.layernorm_kernel.build_fused_add_layernorm_dynamicquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.layernorm_kernel.build_fused_add_layernorm_smoothquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.rmsnorm_kernel.build_rmsnorm_module": (
        "N, dtype_str, store_rstd=False, eps=EPS, BLOCK_THREADS=256, weight_dtype_str=None"
    ),
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_module": (
        "N, dtype_str, store_rstd=False, eps=EPS, weight_dtype_str=None"
    ),
    "norm.rmsnorm_kernel.build_rmsnorm_dynamicquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.rmsnorm_kernel.build_rmsnorm_smoothquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_dynamicquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_smoothquant_module": "N, dtype_str, quant_dtype_str='i8'",
    "norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_module": "N, dtype_str, weight_dtype_str=None",
    "norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_two_stage_module": "N, dtype_str, num_programs, weight_dtype_str=None",
    "norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_module": "N, dtype_str, weight_dtype_str=None",
    "norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_two_stage_module": (
        "N, dtype_str, num_programs, weight_dtype_str=None"
    ),
    "norm.rmsnorm_bwd_kernel.is_rmsnorm_bwd_two_stage_vec_config": "N, dtype_str",
    "norm.rmsnorm_autotune.rmsnorm_autotuned": (
        "input, gamma, output, m_in, dtype_str=None, stream=None, weight_dtype_str=None"
    ),
    "attention.fused_rope_cache_kernel.build_fused_rope_cache_module": (
        "head_dim=64, rotary_dim=-1, num_q_heads=8, num_kv_heads=1, block_size=16, is_neox=True, flash_layout=True, "
        "dtype_str='bf16', apply_scale=False, reuse_freqs_front_part=True, pos_dtype='i32'"
    ),
    "attention.flash_attn_interface.flydsl_flash_attn_func": (
        "q, k, v, *, causal=True, num_kv_heads=None, cu_seqlens_q=None, cu_seqlens_kv=None, max_seqlen_q=None, "
        "max_seqlen_kv=None, cross_seqlen=None, block_table=None, seqlen_k=None, kv_cache_layout='linear', "
        "num_kv_splits=1, bias=None, alibi_slopes=None, sink=None, q_descale=None, k_descale=None, v_descale=None, "
        "out=None, return_lse=False, waves_per_eu=2, daz=True, dualwave_swp_lazy_rescale=True, "
        "dualwave_swp_setprio=True, dualwave_swp_enable_stagger=True, dualwave_swp_xcd_swizzle=None, "
        "debug_counts=None, stream=None"
    ),
    "attention.flash_attn_generic.build_flash_attn_func_module_primary": (
        "num_heads, head_dim, causal=True, dtype_str='f16', sm_scale=None, waves_per_eu=2, flat_work_group_size=None, "
        "block_m=None, unsafe_fp_math=True, fast_fp_math=True, daz=True, path_tag='auto', num_kv_heads=None, "
        "cu_seqlens_q=None, cu_seqlens_kv=None, cross_seqlen=False, varlen=False, paged=False, "
        "kv_cache_layout='linear', skip_kv_pad_mask=None, return_lse=False"
    ),
    "attention.flash_attn_gfx950.build_flash_attn_dualwave_swp_module": (
        "num_heads, head_dim, causal, dtype_str='bf16', num_kv_heads=None, waves_per_eu=2, daz=True, "
        "dualwave_swp_lazy_rescale=True, dualwave_swp_setprio=True, dualwave_swp_debug_lazy_counts=False, "
        "dualwave_swp_enable_stagger=True, num_kv_splits=1, varlen=False, cross_seqlen=False, paged=False, "
        "kv_cache_layout='linear', return_lse=False, has_bias=False, has_alibi=False, has_sink=False"
    ),
    "attention.swa_gfx950.build_gqa_attn": (
        "*, ATTN_B=16, ATTN_H=64, ATTN_H_KV=8, ATTN_D=128, waves_per_eu=2, sliding_window=None"
    ),
    "gemm.fp8_gemm_4wave.compile_fp8_gemm_4w": (
        "*, K, BLOCK_M=256, BLOCK_N=256, use_xcd_remap=True, b_preshuffled=False"
    ),
    "gemm.fp8_gemm_8wave.compile_fp8_gemm_8w": "*, K, BLOCK_M=256, BLOCK_N=256, b_preshuffled=False",
    "gemm.preshuffle_gemm.compile_preshuffle_gemm": (
        "*, N, K, tile_m, tile_n, tile_k, in_dtype='fp8', out_dtype='bf16', epilogue='none', waves_per_eu=None, "
        "enable_scheduler=True, use_async_copy=False, xcd_swizzle=0, lds_stage=2, preload=None"
    ),
    "gemm.blockscale_preshuffle_gemm.compile_blockscale_preshuffle_gemm": (
        "*, M, N, K, tile_m, tile_n, tile_k, scale_block_k=128, out_dtype='bf16', use_cshuffle_epilog=False, "
        "waves_per_eu=None, use_async_copy=False"
    ),
    # None stands for bfloat16.
    "gemm.fp8_grouped_gemm.grouped_gemm_fp8_forward": "a, b_T, a_scale, b_scale, group_offs, out_dtype=None",
    # An empty dict and None say the same of hgemm_kwargs, None the current stream.
    "gemm.hgemm_splitk.hgemm_splitk_": "c, a, b, bias=None, hgemm_kwargs=None, stream=None",
    "gemm.hgemm_splitk.get_default_kwargs": "m, n, k",
    "gemm.hgemm_splitk.compile_hgemm_kernel": (
        "dtype, n, k, TILE_M=128, TILE_N=128, TILE_K=64, STAGES=2, SPLIT_K=1, BLOCK_M_WARPS=2, BLOCK_N_WARPS=2, "
        "BLOCK_K_WARPS=1, B_TO_LDS=False, HAS_BIAS=False"
    ),
    "gemm.small_m_hgemm.compile_small_m_hgemm_kernel": (
        "dtype, n, k, *, TILE_N=128, TILE_K=64, SPLIT_K=1, BLOCK_N_WARPS=2, N_TILE_REPEAT=1, PERSISTENT_N_TILES=1, "
        "WAVES_PER_EU_HINT=0, B_TO_LDS_UNROLL=0, B_TO_LDS=False, HAS_BIAS=False"
    ),
    "gemm.fp4_gemm_4wave.compile_fp4_gemm_4w": "*, K, use_xcd_remap=True, MN=None",
    # None stands for bfloat16.
    "gemm.mxfp8_gemm_interface.gemm_mxfp8": ("a, a_scale, b, b_scale, *, trans_a=False, trans_b=True, out_dtype=None"),
    "preshuffle_gemm.compile_preshuffle_gemm_w4": (
        "*, M=0, N=0, K, tile_m, tile_n, tile_k, a_dtype='fp4', b_dtype='fp4', out_dtype='bf16', lds_stage=2, "
        "use_cshuffle_epilog=False, waves_per_eu=None, use_async_copy=False, dsrd_preload=2, dvmem_preload=2, "
        "xcd_swizzle=0"
    ),
    # An empty dict and None say the same of user_kwargs.
    "gemm.gemm_a16w16_gfx950.gemm_a16w16": (
        "a, b, out=None, bias=None, user_kwargs=None, stream=None, layout='nt', out_dtype=None"
    ),
    "gemm.gemm_a16w16_gfx950.make_gemm_a16w16_gfx950_param": "**numbers",
    "gemm.gemm_a16w16_gfx950.make_gemm_a16w16_param_and_validate": "m, n, k, kwargs",
    "gemm.gemm_a16w16_gfx950.make_gemm_a16w16_gfx950_kernel_name": "param",
    "gemm.gemm_a16w16_gfx950.gemm_a16w16_gfx950": "out, a, b, bias, semaphore, signal, split_k, param, stream",
    "norm.rmsnorm_kernel.build_rmsnorm_bwd_module": "N, dtype_str, weight_dtype_str=None",
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_bwd_module": "N, dtype_str, weight_dtype_str=None",
    "gemm.gemm_a16w16_gfx950_utils.make_gemm_a16w16_param_and_validate": "m, n, k, kwargs",
    "gemm.gemm_a16w16_gfx950_utils.make_gemm_a16w16_gfx950_kernel_name": "param",
    "norm.layernorm_kernel.layernorm_fwd": "x, weight, bias, eps, store_stats=False",
    "norm.layernorm_kernel.layernorm_bwd": "x, weight, dout, mean, rstd, eps",
    "norm.layernorm_kernel.layernorm": "x, weight, bias, eps",
    "norm.rmsnorm_kernel.rmsnorm": "x, weight, eps",
    "norm.rmsnorm_kernel.fused_add_rmsnorm": "x, residual, weight, eps, prenorm=True",
    "common.buffer_ops.create_llvm_ptr": "value, address_space=0",
    "common.buffer_ops.extract_base_index": "tensor, address_space=1",
    "common.buffer_ops.get_element_ptr": "base, byte_offset=None, static_byte_offset=0, elem_type=None",
    "common.buffer_ops.create_buffer_resource": (
        "memref, stride=0, max_size=True, *, num_records_bytes=None, base_byte_offset=None"
    ),
    "common.buffer_ops.create_buffer_resource_from_addr": "addr_i64, *, num_records_bytes=None",
    "common.buffer_ops.buffer_load": (
        "rsrc, offset, vec_width=4, dtype=None, mask=None, cache_modifier=0, soffset_bytes=None, is_scalar=False"
    ),
    "common.buffer_ops.buffer_store": (
        "data, rsrc, offset, mask=None, cache_modifier=0, *, soffset_bytes=None, offset_is_bytes=False"
    ),
    "common.mem_ops.get_llvm_ptr": "ptr, offset, dtype_bytes",
    "common.mem_ops.atomic_add": (
        "dst, offset, value, *, dtype_bytes=4, syncscope='agent', ordering=None, alignment=None"
    ),
    "common.mem_ops.buffer_atomic_add": "vdata, rsrc, offset, soffset, aux",
    "common.layout_utils.idx2crd": "idx, layout",
    "common.layout_utils.crd2idx": "crd, layout",
    "common.layout_utils.get": "t, mode",
    "common.kernels_common.cvt_sr_f32_to_bf16": "x, rand",
    "common.kernels_common.validate_moe_dtypes": "a, b",
    "common.kernels_common.stream_ptr_to_async_token": "v",
    "common.gfx1250_cluster.compute_mcast_masks": "local_x, local_y, cluster_m, cluster_n",
    "common.tensor_shim.GTensor": (
        "memref, dtype, shape, stride=None, base_offset=0, cache_modifier=0, static_bytes_offset_i64=None"
    ),
    "common.tensor_shim.STensor": "memptr, dtype, shape",
    "common.tensor_shim._run_compiled": "exe, *args",
    "common.mma.mfma_preshuffle_pipeline.make_preshuffle_b_layout": (
        "arith, *, c_n, c_k, kpack_bytes=16, elem_bytes=1, k_major=False"
    ),
    "common.mma.mfma_preshuffle_pipeline.make_preshuffle_scale_layout": (
        "arith, *, c_mn, c_k, mn_pack=2, k_pack=2, elem_bytes=4, scale_block_size=32"
    ),
    "common.mma.mfma_preshuffle_pipeline.swizzle_xor16": "row, col, k_blocks16",
    "common.mma.mfma_preshuffle_pipeline.xcd_remap_bx_by": (
        "bx, by, c_m, *, tile_m, tile_n, N, xcd_swizzle, num_xcds=8"
    ),
}

PRESENT = {
    "attention.flash_attn_utils": "build_flash_attn_func_module build_flash_attn_func_module_primary",
    "norm.rmsnorm_kernel": "rmsnorm_fwd rmsnorm_bwd fused_add_rmsnorm_fwd fused_add_rmsnorm_bwd",
    "norm.rmsnorm_bwd_kernel": "rmsnorm_bwd fused_add_rmsnorm_bwd",
    "common.kernels_common": "dtype_to_elem_type default_f8_type",
    "common.dpp_utils": "update_dpp_i32 dpp_xor_f32",
    "common.utils": "cdiv align_up udiv_pow2 urem_const exp2_f32_fast rcp_f32",
    "common.mem_ops": "global_load global_store",
    "common.tensor_shim": "TorchTensor get_dtype_str get_dtype_bytes get_dtype_vec_size",
    "common.mma.mfma_epilogues": "mfma_epilog default_epilog c_shuffle_epilog",
    "common.mma.mfma_preshuffle_pipeline": (
        "load_b_pack_k32 load_b_raw_w4a16 unpack_b_w4a16 load_b_raw_w4a16_groupwise unpack_b_w4a16_groupwise "
        "lds_store_4b_xor16 lds_store_8b_xor16 lds_store_16b_xor16"
    ),
    "common.reduce": "wave_reduce_add block_reduce_add block_reduce_add2",
    "softmax_kernel": "build_softmax_module",
    "layernorm_kernel": "build_layernorm_module",
    "rmsnorm_kernel": "build_rmsnorm_module",
    "preshuffle_gemm": "compile_preshuffle_gemm_a8 compile_preshuffle_gemm_w4 flydsl_preshuffle_gemm_a8",
    "gemm.mxfp4_preshuffle": "launch_gemm",
    "common.scale_shuffle": "e8m0_shuffle shuffle_scale shuffle_scale_w4 shuffle_weight_w4 unshuffle_scale",
    "flash_attn_func": "build_flash_attn_func_module",
    "common.shuffle": "shuffle_weight unshuffle_weight",
    "gemm.fp8_gemm_utils": "preshuffle_b",
}

STREAM = "stream"
LAUNCHERS = {
    ("norm.softmax_kernel.build_softmax_module", (8, 64, "f32")): "A C m_in",
    ("norm.softmax_bwd_kernel.build_softmax_bwd_module", (64, "f32")): "DY Y DX m_in",
    ("norm.layernorm_kernel.build_layernorm_module", (64, "f32")): "Input Gamma Beta Output m_in",
    ("norm.layernorm_kernel.build_layernorm_module", (64, "f32", True)): "Input Gamma Beta Output Mean Rstd m_in",
    ("norm.layernorm_kernel.build_layernorm_bwd_module", (64, "f32")): (
        "Input Gamma DY Mean Rstd DX DGamma DBias m_in"
    ),
    ("norm.layernorm_kernel.build_fused_add_layernorm_module", (64, "f32")): (
        "Input ResidualIn Gamma Beta Output ResidualOut m_in"
    ),
    ("norm.layernorm_kernel.build_layernorm_dynamicquant_module", (64, "f32")): "Input Gamma Beta Output YScale m_in",
    ("norm.layernorm_kernel.build_layernorm_smoothquant_module", (64, "f32")): (
        "Input Gamma Beta XScale Output YScale m_in"
    ),
    ("norm.layernorm_kernel.build_fused_add_layernorm_dynamicquant_module", (64, "f32")): (
        "Input ResidualIn Gamma Beta Output ResidualOut YScale m_in"
    ),
    ("norm.layernorm_kernel.build_fused_add_layernorm_smoothquant_module", (64, "f32")): (
        "Input ResidualIn Gamma Beta XScale Output ResidualOut YScale m_in"
    ),
    ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f32")): "Input Gamma Output m_in",
    ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f32", True)): "Input Gamma Output Rstd m_in",
    ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_module", (64, "f32")): (
        "Input ResidualIn Gamma Output ResidualOut m_in"
    ),
    ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_module", (64, "f32", True)): (
        "Input ResidualIn Gamma Output ResidualOut Rstd m_in"
    ),
    ("norm.rmsnorm_kernel.build_rmsnorm_dynamicquant_module", (64, "f32")): "Input Gamma Output YScale m_in",
    ("norm.rmsnorm_kernel.build_rmsnorm_smoothquant_module", (64, "f32")): "Input Gamma XScale Output YScale m_in",
    ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_dynamicquant_module", (64, "f32")): (
        "Input ResidualIn Gamma Output ResidualOut YScale m_in"
    ),
    ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_smoothquant_module", (64, "f32")): (
        "Input ResidualIn Gamma XScale Output ResidualOut YScale m_in"
    ),
    ("norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_module", (64, "f32")): "Input Gamma DY Rstd DX DWeight m_in",
    ("norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_two_stage_module", (64, "f32", 2)): (
        "Input Gamma DY Rstd DX DWeight Partial m_in"
    ),
    ("norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_module", (64, "f32")): (
        "Added Gamma DY DResidualOut Rstd DX DWeight m_in"
    ),
    ("norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_two_stage_module", (64, "f32", 2)): (
        "Added Gamma DY DResidualOut Rstd DX DWeight Partial m_in"
    ),
    ("attention.fused_rope_cache_kernel.build_fused_rope_cache_module", ()): (
        "Q K V Positions CosCache SinCache SlotMapping KeyCache ValueCache Q_out K_out num_tokens KScale VScale"
    ),
    ("flash_attn_func.build_flash_attn_func_module", (4, 64)): "Q K V O batch_size seq_len",
    ("attention.flash_attn_generic.build_flash_attn_func_module", (4, 64)): (
        "Q K V O LSE CuSeqQ CuSeqKv BlockTable block_table_stride batch seq_len seq_len_kv"
    ),
    ("gemm.hgemm_splitk.compile_hgemm_kernel", ("bf16", 128, 128)): "C A B BIAS m semaphore signal",
    ("attention.swa_gfx950.build_gqa_attn", ()): (
        "Q K V O Q_stride1 K_stride1 V_stride1 O_stride1 seq_len_q seq_len_kv"
    ),
}


def find(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"flydsl.kernels.{module}"), name)


def parameters(text):
    """[(name, kind, default)] of a parameter list as it is written."""
    namespace = {"EPS": EPS}
    exec(f"def function({text}): pass", namespace)
    return list(inspect.signature(namespace["function"]).parameters.values())


@pytest.mark.parametrize("path", BUILDERS)
def test_parameters(path):
    ours = list(inspect.signature(find(path)).parameters.values())
    for expected, got in zip(parameters(BUILDERS[path]), ours, strict=False):
        assert got.name == expected.name
        assert got.kind == expected.kind
        if expected.default is not inspect.Parameter.empty:
            assert got.default == expected.default
    rest = ours[len(parameters(BUILDERS[path])) :]
    assert len(ours) >= len(parameters(BUILDERS[path]))
    assert all(one.default is not one.empty or one.kind is one.VAR_KEYWORD for one in rest)


@pytest.mark.parametrize("module", PRESENT)
def test_names(module):
    for name in PRESENT[module].split():
        assert callable(find(f"{module}.{name}"))


@pytest.mark.parametrize(("path", "arguments"), LAUNCHERS)
def test_parameters_of_launchers(path, arguments):
    launch = find(path)(*arguments)
    found = inspect.signature(launch).parameters
    assert list(found) == [*LAUNCHERS[path, arguments].split(), STREAM]


def test_rmsnorm_direct_is_a_jit_function_of_constants():
    from flydsl.compiler.jit_function import JitFunction

    direct = find("norm.rmsnorm_autotune.rmsnorm_direct")
    expected = "Input Gamma Output m_in N dtype_str BLOCK_THREADS stream weight_dtype_str"
    assert list(inspect.signature(direct).parameters) == expected.split()
    assert isinstance(direct, JitFunction)
    assert find("norm.rmsnorm_autotune.rmsnorm_direct") is direct


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("norm.softmax_kernel.build_softmax_module", (8, 0, "f32")),
        ("norm.softmax_kernel.build_softmax_module", (8, 64, "f64")),
        ("norm.softmax_bwd_kernel.build_softmax_bwd_module", (64, "i8")),
        ("norm.layernorm_kernel.build_layernorm_module", (64, "fp8")),
        ("norm.layernorm_kernel.build_layernorm_bwd_module", (0, "f32")),
        ("norm.layernorm_kernel.build_layernorm_dynamicquant_module", (64, "f32", "fp8")),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f16", False, EPS, 256, "bf16")),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f32", False, EPS, 256, "f16")),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f16", False, EPS, 100)),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", (64, "f16", False, "x")),
        ("norm.layernorm_kernel.build_layernorm_module", (64, "f16", False, -1.0)),
        ("norm.layernorm_kernel.build_fused_add_layernorm_module", (64, "f16", False, float("nan"))),
        ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_module", (64, "f16", False, EPS, "bf16")),
        ("norm.rmsnorm_kernel.build_fused_add_rmsnorm_smoothquant_module", (64, "bf16", "u8")),
        ("norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_module", (64, "bf16", "f16")),
        ("norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_two_stage_module", (64, "bf16", 0)),
        ("norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_two_stage_module", (64, "bf16", -3)),
        ("attention.fused_rope_cache_kernel.build_fused_rope_cache_module", (64, 32)),
        ("common.kernels_common.dtype_to_elem_type", ("f64",)),
        ("common.kernels_common.validate_moe_dtypes", ("fp8", "int8")),
        ("common.mma.mfma_preshuffle_pipeline.swizzle_xor16", (1, 16, 3)),
    ],
)
def test_refusals_are_value_errors(path, arguments):
    with pytest.raises(ValueError, match=r"."):
        find(path)(*arguments)


def test_a_width_that_is_a_string_is_named():
    with pytest.raises(ValueError, match="N must be a positive integer, got '256'"):
        find("norm.softmax_kernel.build_softmax_module")(8, "256", "f32")


def test_the_package_makes_no_alias():
    with pytest.raises(ImportError):
        importlib.import_module("kernels")


@pytest.mark.parametrize(
    ("path", "keywords", "error", "said"),
    [
        ("norm.softmax_kernel.build_softmax_module", {"N": 2**40}, ValueError, "N must be 1073741824 or less"),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", {"N": 8, "config": 3}, TypeError, "config must be a RowConfig or"),
        ("norm.rmsnorm_kernel.build_rmsnorm_module", {"N": 8, "BLOCK_THREADS": 0}, ValueError, "BLOCK_THREADS must be"),
        (
            "elementwise.argmax_kernel.build_argmax_module",
            {"N": 8, "dtype_str": ["f32"]},
            ValueError,
            "is not supported",
        ),
        (
            "elementwise.pointwise_kernel.build_unary_module",
            {"name": "exp", "config": {}},
            TypeError,
            "WorkgroupConfig",
        ),
        (
            "quant.per_block_quant_kernel.build_per_block_quant_module",
            {"N": 8, "block": "x"},
            ValueError,
            "block must be",
        ),
        ("attention.fused_rope_cache_kernel.build_fused_rope_cache_module", {"head_dim": "64"}, ValueError, "head_dim"),
        ("attention.fused_rope_cache_kernel.build_fused_rope_cache_module", {"config": 1}, TypeError, "RopeConfig"),
        ("gemm.fp8_gemm_4wave.compile_fp8_gemm_4w", {"K": 128, "BLOCK_M": 2**20}, ValueError, "tile_m .* smaller tile"),
        ("gemm.fp8_gemm_4wave.compile_fp8_gemm_4w", {"K": 2**25, "BLOCK_M": 64}, ValueError, "within 2 GiB"),
    ],
)
def test_arguments_of_the_wrong_kind_and_size(path, keywords, error, said):
    with pytest.raises(error, match=said):
        find(path)(**keywords)

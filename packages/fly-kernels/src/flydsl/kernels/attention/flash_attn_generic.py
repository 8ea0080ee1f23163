# SPDX-License-Identifier: Apache-2.0
"""The builder of flash attention with the full list of arguments; `flash_attn_kernel` has the kernel."""

from __future__ import annotations

from typing import Any

from ..common.language import flyc, fx
from .config import by_path, check_daz, check_math, configuration
from .flash_attn_kernel import build_forward
from .variant import AttentionVariant


def build_flash_attn_func_module_primary(
    num_heads: int,
    head_dim: int,
    causal: bool = True,
    dtype_str: str = "f16",
    sm_scale: float | None = None,
    waves_per_eu: int | None = 2,
    flat_work_group_size: int | None = None,
    block_m: int | None = None,
    unsafe_fp_math: bool = True,
    fast_fp_math: bool = True,
    daz: bool = True,
    path_tag: str = "auto",
    num_kv_heads: int | None = None,
    cu_seqlens_q: Any = None,
    cu_seqlens_kv: Any = None,
    cross_seqlen: bool = False,
    varlen: bool = False,
    paged: bool = False,
    kv_cache_layout: str = "linear",
    skip_kv_pad_mask: bool | None = None,
    return_lse: bool = False,
) -> flyc.JitFunction[..., Any]:
    """Build the launcher of dense attention with the full list of arguments.

    Returns a `@flyc.jit` function `(Q, K, V, O, LSE, CuSeqQ, CuSeqKv, BlockTable, block_table_stride, batch,
    seq_len, seq_len_kv, stream)`; see `build_forward` for Q to LSE and the limits. CuSeqQ and CuSeqKv, int32
    (batch + 1), are read with `varlen` only; BlockTable and its stride belong to the paged variant, and are not read.

    Args:
        num_heads: query heads.
        head_dim: 64 to 256, a multiple of 32.
        causal: whether query i sees keys up to i + seq_len_kv - seq_len only, or all.
        dtype_str: "f16" or "bf16", of Q, K, V and O.
        sm_scale: the factor of Q K^T; 1 / sqrt(head_dim) by default.
        waves_per_eu: waves of a SIMD that registers are allocated for; 2 means 1 from head_dim 160 on, where the
            registers of two would not hold the output.
        flat_work_group_size: threads of a workgroup; has to agree with `block_m`.
        block_m: query rows of a workgroup: 32, 64, 128 or 256, or 512 for heads of 64; by default 256 from 32 heads
            on, else 128.
        num_kv_heads: heads of K and V; a divisor of num_heads, by default as many.
        varlen: tokens of all sequences follow each other: Q and O are (all query tokens, num_heads, head_dim), K and V
            (all keys, num_kv_heads, head_dim), LSE (batch, num_heads, seq_len), of which rows past the end of a
            sequence are not written. CuSeqQ and CuSeqKv say where each sequence begins and the last ends; seq_len and
            seq_len_kv of the launch are the longest.
        return_lse: whether LSE is written.
        daz: has to be True: weights below 2^-126 are zero.
        unsafe_fp_math, fast_fp_math: have to be True: 2^x, log2 and reciprocals are the device's instructions.
        path_tag: the loop over tiles without masks: "N32" takes one tile a turn and "N128" two; "auto" is the default
            of the head size, on gfx950 the pipelined one.
        skip_kv_pad_mask: whether seq_len_kv of every launch is a multiple of the tile of keys (64; 32 with head_dim
            from 160 on or few rows), so that no key is masked for being past the end; not with `varlen`. None and
            False: it is any number.
        cross_seqlen: whether lengths of queries and keys may differ; they may in any case.

    Raises:
        NotImplementedError: `paged`, a `kv_cache_layout` but "linear".
        ValueError: a number, dtype or arithmetic that is not supported; `cu_seqlens_q` or `cu_seqlens_kv`, which are
            arguments of the launch.
    """
    check_daz(daz)
    check_math(unsafe_fp_math, fast_fp_math)
    del cross_seqlen
    for argument, tensor in (("cu_seqlens_q", cu_seqlens_q), ("cu_seqlens_kv", cu_seqlens_kv)):
        if tensor is not None:
            raise ValueError(f"flash attention: {argument} is an argument of the launch; build with varlen=True")
    for argument, asked in (("paged", paged), ("kv_cache_layout", kv_cache_layout != "linear")):
        if asked:
            raise NotImplementedError(
                f"flash attention: {argument} is not supported yet; it comes with paged attention"
            )
    config = by_path(configuration(head_dim, num_heads, block_m, waves_per_eu), path_tag)
    if flat_work_group_size not in (None, config.threads):
        raise ValueError(
            f"flash attention: {config.block_m} query rows take {config.threads} threads, "
            f"not flat_work_group_size={flat_work_group_size!r}"
        )
    heads = num_heads if num_kv_heads is None else num_kv_heads
    variant = AttentionVariant(varlen=varlen, whole_tiles=bool(skip_kv_pad_mask))
    forward = build_forward(num_heads, heads, head_dim, dtype_str, causal, return_lse, sm_scale, config, variant)

    @flyc.jit
    def flash_attn_func(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        CuSeqQ: fx.Tensor,
        CuSeqKv: fx.Tensor,
        BlockTable: fx.Tensor,
        block_table_stride: fx.Int32,
        batch: fx.Int32,
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        forward(Q, K, V, O, LSE, CuSeqQ, CuSeqKv, O, O, O, O, batch, seq_len, seq_len_kv, stream)

    flash_attn_func.compile_hints.update(forward.compile_hints)
    return flash_attn_func


build_flash_attn_func_module = build_flash_attn_func_module_primary

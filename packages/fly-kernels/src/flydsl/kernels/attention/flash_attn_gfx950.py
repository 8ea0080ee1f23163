# SPDX-License-Identifier: Apache-2.0
"""The builder of attention on gfx950 with the terms of the scores and splits of the keys as options.

`flash_attn_kernel` has the kernel, which is the same for all builders.
"""

from __future__ import annotations

from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.contiguous import expect_contiguous
from ..common.language import flyc, fx
from .config import check_daz, configuration, dual_wave
from .flash_attn_kernel import build_forward
from .flash_attn_splits import build_split_forward
from .operands import LATER
from .variant import AttentionVariant

_ROWS = 256  # of a workgroup


def build_flash_attn_dualwave_swp_module(
    num_heads: int,
    head_dim: int,
    causal: bool,
    dtype_str: str = "bf16",
    num_kv_heads: int | None = None,
    waves_per_eu: int = 2,
    daz: bool = True,
    dualwave_swp_lazy_rescale: bool = True,
    dualwave_swp_setprio: bool = True,
    dualwave_swp_debug_lazy_counts: bool = False,
    dualwave_swp_enable_stagger: bool = True,
    num_kv_splits: int = 1,
    varlen: bool = False,
    cross_seqlen: bool = False,
    paged: bool = False,
    kv_cache_layout: str = "linear",
    return_lse: bool = False,
    has_bias: bool = False,
    has_alibi: bool = False,
    has_sink: bool = False,
) -> flyc.JitFunction[..., Any]:
    """Build the launcher of attention with 256 query rows a workgroup, 8 waves of 32.

    Returns a `@flyc.jit` function with the arguments of `build_flash_attn_func_module_primary`'s, `(Q, K, V, O, LSE,
    CuSeqQ, CuSeqKv, BlockTable, block_table_stride, batch, seq_len, seq_len_kv, stream)`. With any of has_bias,
    has_alibi, has_sink, dualwave_swp_debug_lazy_counts and num_kv_splits > 1 it has five tensors more behind
    BlockTable, `Bias, AlibiSlopes, Sink, Workspace, DebugCounts`; in place of those that were not asked for any tensor
    will do. Bias is (seq_len, seq_len_kv) of the type of Q, AlibiSlopes and Sink f32 (num_heads), DebugCounts f32 (2),
    all as in `flydsl_flash_attn_func`; Workspace is f32, of any content, with num_kv_splits batch seq_len num_heads
    (head_dim + 1) elements.

    Args:
        num_heads: query heads.
        head_dim: 64 or 128.
        causal: whether query i sees keys up to i + seq_len_kv - seq_len only, or all.
        dtype_str: "f16" or "bf16", of Q, K, V and O.
        num_kv_heads: heads of K and V; a divisor of num_heads, by default as many.
        waves_per_eu: waves of a SIMD that registers are allocated for.
        num_kv_splits: workgroups that share the keys of the same queries, 1 to 128; not with `varlen`.
        varlen: as in `build_flash_attn_func_module_primary`.
        return_lse: whether LSE is written.
        has_bias, has_alibi, has_sink: terms of the scores, and of the denominator.
        dualwave_swp_debug_lazy_counts: whether DebugCounts is added to.
        dualwave_swp_lazy_rescale: whether sums are rescaled only when weights grow too large, or for every tile; this
            changes no more than their rounding.
        dualwave_swp_setprio, dualwave_swp_enable_stagger: the schedule, as `FlashConfig.setprio` and `stagger`; with
            either of them there are two tiles of keys and values in LDS. With both and lazy rescaling each wave mixes
            weights and products (`FlashConfig.pipelined`), which takes the place of both. No result depends on it but
            for rounding.
        daz: has to be True: weights below 2^-126 are zero.
        cross_seqlen: chooses between variants that are one here: lengths of queries and keys may always differ.

    Raises:
        NotImplementedError: `paged`, a `kv_cache_layout` but "linear".
        ValueError: another architecture, a number or dtype that is not supported, options that exclude each other.
    """
    check_daz(daz)
    del cross_seqlen
    arch = get_rocm_arch().split(":")[0]
    if arch != "gfx950":
        raise ValueError(
            f"flash attention: flash_attn_gfx950 is for gfx950, the target is {arch}; use attention.flash_attn_generic"
        )
    if head_dim not in (64, 128):
        raise ValueError(
            f"flash attention: flash_attn_gfx950 takes head_dim 64 and 128, got {head_dim!r}; "
            "use attention.flash_attn_generic"
        )
    for argument, asked in (("paged", paged), ("kv_cache_layout", kv_cache_layout != "linear")):
        if asked:
            raise NotImplementedError(f"flash attention: {argument} is not supported yet; it {LATER}")
    config = dual_wave(
        configuration(head_dim, num_heads, _ROWS, waves_per_eu),
        setprio=dualwave_swp_setprio,
        stagger=dualwave_swp_enable_stagger,
        lazy_rescale=dualwave_swp_lazy_rescale,
    )
    variant = AttentionVariant(
        varlen=varlen,
        bias=has_bias,
        bias_load=1,  # any number of keys
        alibi=has_alibi,
        sink=has_sink,
        splits=num_kv_splits,
        counts=dualwave_swp_debug_lazy_counts,
    )
    heads = num_heads if num_kv_heads is None else num_kv_heads
    build = build_forward if num_kv_splits == 1 else build_split_forward
    forward = build(num_heads, heads, head_dim, dtype_str, causal, return_lse, None, config, variant)

    @flyc.jit
    def flash_attn_gfx950(
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

    @flyc.jit
    def flash_attn_gfx950_with_options(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        CuSeqQ: fx.Tensor,
        CuSeqKv: fx.Tensor,
        BlockTable: fx.Tensor,
        Bias: fx.Tensor,
        AlibiSlopes: fx.Tensor,
        Sink: fx.Tensor,
        Workspace: fx.Tensor,
        DebugCounts: fx.Tensor,
        block_table_stride: fx.Int32,
        batch: fx.Int32,
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        between = [CuSeqQ, CuSeqKv]
        if fx.const_expr(num_kv_splits > 1):
            rows = fx.Int64(batch) * fx.Int64(seq_len) * (num_heads * num_kv_splits)
            between = halves(Workspace, rows * head_dim, rows)
        forward(Q, K, V, O, LSE, *between, Bias, AlibiSlopes, Sink, DebugCounts, batch, seq_len, seq_len_kv, stream)

    plain = variant == AttentionVariant(varlen=varlen, bias_load=1)
    launch = flash_attn_gfx950 if plain else flash_attn_gfx950_with_options
    launch.compile_hints.update(forward.compile_hints)
    return launch


def halves(workspace: Any, first: Any, second: Any) -> list[Any]:
    """Two tensors of so many elements, one behind the other in a tensor of f32."""
    expect_contiguous("Workspace", workspace, fx.Float32, first + second)
    parts = ((workspace.iter, first), (workspace.iter + first, second))
    return [fx.make_view(start, fx.make_layout(count, 1)) for start, count in parts]

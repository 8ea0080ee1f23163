# SPDX-License-Identifier: Apache-2.0
"""Attention on tensors: the one function for all its variants.

Takes torch tensors, or anything that has their `shape`, `dtype`, `is_contiguous`, `new_empty` and `view`; torch itself
is not imported.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from .config import FlashConfig, check_daz, dual_wave, eager, shape_config, with_waves
from .flash_attn_kernel import build_forward
from .flash_attn_splits import build_split_forward
from .hopper_attention import compile_hopper_attention
from .hopper_config import HEAD_DIMS, HopperAttentionConfig, default_hopper_config
from .operands import LATER, Problem, dense_problem, varlen_problem, with_options, with_terms
from .variant import AttentionVariant

if TYPE_CHECKING:
    import torch


@lru_cache(maxsize=256)
def _forward(
    arch: str,
    heads: int,
    kv_heads: int,
    head_dim: int,
    dtype: str,
    causal: bool,
    lse: bool,
    config: FlashConfig,
    variant: AttentionVariant,
    schedule: tuple[bool, bool, bool, bool],
    waves_per_eu: int | None,
) -> Any:
    build = build_forward if variant.splits == 1 else build_split_forward
    setprio, stagger, lazy_rescale, xcd_swizzle = schedule
    config = replace(with_waves(config, waves_per_eu), xcd_swizzle=xcd_swizzle)
    if arch.startswith("gfx950") and head_dim in (64, 128) and not (setprio and stagger and lazy_rescale):
        options = {"setprio": setprio, "stagger": stagger, "xcd_swizzle": xcd_swizzle}
        config = dual_wave(config, lazy_rescale=lazy_rescale, **options)
    else:
        config = eager(config, lazy_rescale)
    return build(heads, kv_heads, head_dim, dtype, causal, lse, None, config, variant)


HopperProblem = tuple[str, int, bool, int, bool, bool]
"""Type, head size, causal, heads of Q for one of K, LSE, several lengths."""


@lru_cache(maxsize=64)
def _on_hopper(problem: HopperProblem, config: HopperAttentionConfig) -> Any:
    dtype, head_dim, causal, heads_per_kv, lse, varlen = problem
    return compile_hopper_attention(
        dtype=dtype, head_dim=head_dim, causal=causal, heads_per_kv=heads_per_kv, return_lse=lse, varlen=varlen,
        config=config,
    )  # fmt: skip


def _check_hopper(problem: Problem, waves_per_eu: int, schedule: tuple[bool, bool, bool, bool]) -> None:
    """Refuse, by name, what the kernel of sm_90a has not."""
    if problem.head_dim not in HEAD_DIMS:
        heads = ", ".join(map(str, HEAD_DIMS))
        raise ValueError(f"flash attention: head_dim is one of {heads} on sm_90a, got {problem.head_dim}")
    variant = problem.variant
    setprio, stagger, lazy_rescale, xcd_swizzle = schedule
    for name, given in (
        ("bias", variant.bias),
        ("alibi_slopes", variant.alibi),
        ("sink", variant.sink),
        ("num_kv_splits", variant.splits > 1),
        ("debug_counts", variant.counts),
        ("waves_per_eu", waves_per_eu != 2),
        ("dualwave_swp_setprio", not setprio),
        ("dualwave_swp_enable_stagger", not stagger),
        ("dualwave_swp_lazy_rescale", not lazy_rescale),
        ("dualwave_swp_xcd_swizzle", xcd_swizzle),
    ):
        if given:
            raise NotImplementedError(f"flash attention: argument {name!r} is not supported on sm_90a")


def flydsl_flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = True,
    num_kv_heads: int | None = None,
    cu_seqlens_q: torch.Tensor | None = None,
    cu_seqlens_kv: torch.Tensor | None = None,
    max_seqlen_q: int | None = None,
    max_seqlen_kv: int | None = None,
    cross_seqlen: bool | None = None,
    block_table: torch.Tensor | None = None,
    seqlen_k: torch.Tensor | None = None,
    kv_cache_layout: str = "linear",
    num_kv_splits: int = 1,
    bias: torch.Tensor | None = None,
    alibi_slopes: torch.Tensor | None = None,
    sink: torch.Tensor | None = None,
    q_descale: torch.Tensor | None = None,
    k_descale: torch.Tensor | None = None,
    v_descale: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    return_lse: bool = False,
    waves_per_eu: int = 2,
    daz: bool = True,
    dualwave_swp_lazy_rescale: bool = True,
    dualwave_swp_setprio: bool = True,
    dualwave_swp_enable_stagger: bool = True,
    dualwave_swp_xcd_swizzle: Any = None,
    debug_counts: torch.Tensor | None = None,
    stream: torch.cuda.Stream | int | None = None,
) -> Any:
    """softmax(q k^T / sqrt(D) + terms + mask) v.

    Dense: q is (B, Sq, H, D), k and v (B, Skv, Hkv, D). With `cu_seqlens_q` and `cu_seqlens_kv` the sequences have
    several lengths and their tokens follow each other: q is (all query tokens, H, D), k and v (all keys, Hkv, D).

    Args:
        q: f16 or bf16, contiguous; D a multiple of 32 from 64 to 256.
        k, v: of the same dtype, contiguous; H a multiple of Hkv, query head h uses head h Hkv // H.
        causal: query i sees keys j <= i + Skv - Sq (aligned to the bottom right); otherwise all.
        num_kv_heads: Hkv, if it is to be checked.
        cu_seqlens_q, cu_seqlens_kv: int32 (B + 1), where each sequence begins and the last one ends: ascending from 0,
            the last at most the number of tokens. They are read by the kernel and not checked.
        max_seqlen_q: the longest sequence of queries; needed with `cu_seqlens_q`.
        cross_seqlen: whether queries and keys differ in length; needed with `cu_seqlens_q`.
        max_seqlen_kv: the longest sequence of keys; needed if `cross_seqlen`.
        num_kv_splits: workgroups that share the keys of the same queries, 1 to 128; not with `cu_seqlens_q`. They write
            f32 parts to working memory that this function allocates, num_kv_splits times (D + 1) / D the size of q in
            f32, and a second kernel combines them: for few queries and many keys, which fill the device only so.
        bias: of the dtype of q, (Sq, Skv) or (all query tokens, max_seqlen_kv); added before the mask.
        alibi_slopes: f32 (H) or (B, H); -slope |i + Skv - Sq - j| is added.
        sink: f32 (H); the denominator has another term exp(sink).
        out: where to write the result, of the shape and dtype of q, contiguous; by default a new tensor.
        return_lse: also return the logarithm of each row's denominator.
        debug_counts: f32 (2), added to: how often waves rescaled their sums since a maximum grew (or a tile had masked
            keys), and how many tiles of keys they took without.
        dualwave_swp_lazy_rescale: whether sums are rescaled only when weights grow too large, or for every tile.
        dualwave_swp_setprio, dualwave_swp_enable_stagger: the schedule of workgroups of 256 queries on gfx950, for D
            of 64 and 128 (`FlashConfig.setprio`, `stagger`; with both and lazy rescaling `pipelined`, which takes the
            place of both); there is none to choose elsewhere, and on sm_90a they are refused.
        dualwave_swp_xcd_swizzle: whether each die of the device gets whole heads, so that its L2 holds their keys and
            values (`FlashConfig.xcd_swizzle`); None keeps the order of the grid, as False does.
        waves_per_eu: waves of a SIMD that registers are allocated for; 2 means 1 from a D of 160 on, where the
            registers of two would not hold the output. On sm_90a there is no choice but 2.
        daz: has to be True: weights below 2^-126 are zero.
        stream: where to launch.

    Returns:
        The output, like q; with `return_lse` also f32 (B, H, Sq), with `max_seqlen_q` for Sq where lengths differ: the
        natural logarithm of the denominator with the scale folded in. Rows without a key are 0, and -inf (with `sink`,
        the sink) in LSE, which is -inf past the end of a sequence too.

    Raises:
        TypeError: a dtype that is not supported, or that differs.
        ValueError: shapes that do not fit, a tensor that is not contiguous, one sequence of 2 GiB and more, lengths
            that are missing.
        NotImplementedError: an argument of a variant that is not there yet, by name; on sm_90a that is each but causal
            and the lengths of sequences, and D is 64, 128, 192 or 256 there.
    """
    later = {
        "block_table": block_table,
        "seqlen_k": seqlen_k,
        "q_descale": q_descale,
        "k_descale": k_descale,
        "v_descale": v_descale,
        "kv_cache_layout": None if kv_cache_layout == "linear" else kv_cache_layout,
    }
    for name, value in later.items():
        if value is not None:
            raise NotImplementedError(f"flash attention: argument {name!r} is not supported yet; it {LATER}")
    check_daz(daz)
    if dualwave_swp_xcd_swizzle not in (None, False, True):
        raise ValueError(
            f"flash attention: argument 'dualwave_swp_xcd_swizzle' is a bool or None, got {dualwave_swp_xcd_swizzle!r}"
        )
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not tensor.is_contiguous():
            raise ValueError(f"flash attention: {name!r} must be contiguous, got strides {tuple(tensor.stride())}")
    if cu_seqlens_q is None and cu_seqlens_kv is None:
        problem = dense_problem(q, k, v, num_kv_heads)
    else:
        lengths = (cu_seqlens_q, cu_seqlens_kv, max_seqlen_q, max_seqlen_kv, cross_seqlen)
        problem = varlen_problem(q, k, v, num_kv_heads, *lengths)
    problem = with_terms(problem, q, bias, alibi_slopes, sink)
    problem = with_options(problem, num_kv_splits, debug_counts)
    options = (dualwave_swp_setprio, dualwave_swp_enable_stagger, dualwave_swp_lazy_rescale, dualwave_swp_xcd_swizzle)
    setprio, stagger, lazy_rescale, xcd_swizzle = map(bool, options)
    schedule = (setprio, stagger, lazy_rescale, xcd_swizzle)
    hopper = get_rocm_arch() == "sm_90a"
    if hopper:
        _check_hopper(problem, waves_per_eu, schedule)
    if out is None:
        out = q.new_empty(q.shape)
    elif tuple(out.shape) != tuple(q.shape) or out.dtype != q.dtype or not out.is_contiguous():
        raise ValueError(f"flash attention: 'out' must be contiguous, of shape {tuple(q.shape)} and dtype {q.dtype}")
    lse = _new(q, problem.lse_shape) if return_lse else None
    if lse is not None and problem.variant.varlen:
        lse.fill_(-math.inf)
    if hopper and problem.batch and problem.seq_len and problem.seq_len_kv:
        group = problem.heads // problem.kv_heads
        varlen = problem.variant.varlen
        kind = (problem.dtype, problem.head_dim, bool(causal), group, bool(return_lse), varlen)
        forward = _on_hopper(kind, default_hopper_config(problem.head_dim, bool(causal), problem.seq_len))
        of_sequences = (cu_seqlens_q, cu_seqlens_kv, problem.seq_len, problem.seq_len_kv) if varlen else ()
        forward(q, k, v, out, out if lse is None else lse, *of_sequences, stream)
    elif problem.batch and problem.seq_len and problem.seq_len_kv:
        arch, variant = get_rocm_arch(), problem.variant
        if bias is not None and bias.data_ptr() % 8:
            variant = replace(variant, bias_load=1)
        splits = variant.splits
        work = (problem.batch * splits * problem.heads, problem.seq_len, problem.seq_len_kv)
        config = shape_config(arch, *work, problem.head_dim, bool(causal), variant.bias)
        sizes = (problem.heads, problem.kv_heads, problem.head_dim)
        launch = _forward(
            arch, *sizes, problem.dtype, bool(causal), bool(return_lse), config, variant, schedule, waves_per_eu
        )
        between = (cu_seqlens_q, cu_seqlens_kv)
        if splits > 1:
            rows_of_heads = problem.batch * splits * problem.seq_len * problem.heads
            between = (_new(q, rows_of_heads * problem.head_dim), _new(q, rows_of_heads))
        extra = (*between, bias, alibi_slopes, sink, debug_counts)
        operands = [out if one is None else one for one in (q, k, v, out, lse, *extra)]
        flat = [one.view(-1) for one in operands]
        launch(*flat, problem.batch, problem.seq_len, problem.seq_len_kv, stream)
    else:
        out.zero_()
        if lse is not None:
            lse.fill_(-math.inf)
            if sink is not None:
                lse.copy_(sink.view(-1, 1).expand_as(lse))
    return (out, lse) if return_lse else out


def _new(q: Any, shape: Any) -> Any:
    """A new tensor of f32 beside `q`, of the library that it belongs to."""
    return q.new_empty(shape, dtype=q.new_empty(0).float().dtype)

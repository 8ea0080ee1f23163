# SPDX-License-Identifier: Apache-2.0
"""Attention with the keys split over workgroups: the forward kernel on each part, and the kernel that combines them."""

from __future__ import annotations

from typing import Any

from ..common.contiguous import expect_contiguous
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from .config import FlashConfig
from .flash_attn_kernel import build_forward
from .split_combine_kernel import build_split_combine
from .variant import AttentionVariant


def build_split_forward(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    dtype_str: str,
    causal: bool,
    return_lse: bool,
    sm_scale: float | None,
    config: FlashConfig,
    variant: AttentionVariant,
) -> flyc.JitFunction[..., Any]:
    """Build the launcher of both kernels; the arguments are those of `build_forward`, with `variant.splits` from 2 on.

    It is a `@flyc.jit` function `(Q, K, V, O, LSE, Parts, PartsLSE, Bias, AlibiSlopes, Sink, DebugCounts, batch,
    seq_len, seq_len_kv, stream)`. Q to LSE are as in `build_forward` without splits; Parts, f32 (batch, splits,
    seq_len, num_heads, head_dim), and PartsLSE, f32 (batch, splits, num_heads, seq_len), are working memory, of any
    content before and after.

    Raises ValueError for numbers and a dtype that are not supported, and for one split only.
    """
    if variant.splits < 2:
        raise ValueError(f"flash attention: at least two splits are to be combined, got {variant.splits!r}")
    arguments = (num_heads, num_kv_heads, head_dim, dtype_str, causal)
    forward = build_forward(*arguments, False, sm_scale, config, variant)
    element = float_type(dtype_str)
    combine = build_split_combine(
        num_heads, head_dim, element, variant.splits, return_lse=return_lse, sink=variant.sink
    )

    @flyc.jit
    def flash_attn_splits(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        Parts: fx.Tensor,
        PartsLSE: fx.Tensor,
        Bias: fx.Tensor,
        AlibiSlopes: fx.Tensor,
        Sink: fx.Tensor,
        DebugCounts: fx.Tensor,
        batch: fx.Int32,
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        rows = fx.Int64(batch) * fx.Int64(seq_len) * num_heads
        expect_contiguous("O", O, element, rows * head_dim)
        if return_lse:
            expect_contiguous("LSE", LSE, fx.Float32, rows)
        if variant.sink:
            expect_contiguous("sink", Sink, fx.Float32, num_heads)
        forward(
            Q, K, V, Parts, PartsLSE, O, O, Bias, AlibiSlopes, Sink, DebugCounts, batch, seq_len, seq_len_kv, stream
        )
        combine(Parts, PartsLSE, O, LSE, Sink, batch, seq_len, stream)

    flash_attn_splits.compile_hints.update(forward.compile_hints)
    return flash_attn_splits

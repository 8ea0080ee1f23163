# SPDX-License-Identifier: Apache-2.0
"""The builder of attention with a sliding window; `flash_attn_kernel` has the kernel, for sm_90a `hopper_attention`.

The name is the one that callers import: the kernels are right on gfx942 and sm_90a too.
"""

from __future__ import annotations

from typing import Any

from ..common.arch import architecture
from ..common.language import flyc, fx
from .config import configuration
from .flash_attn_kernel import build_forward
from .forward_arguments import check_arguments
from .hopper_attention import compile_hopper_attention
from .variant import AttentionVariant

_DTYPES = ("bf16", "f16")


def build_gqa_attn(
    *,
    ATTN_B: int = 16,
    ATTN_H: int = 64,
    ATTN_H_KV: int = 8,
    ATTN_D: int = 128,
    waves_per_eu: int = 2,
    sliding_window: tuple[int, int] | None = None,
) -> Any:
    """Build the launcher of attention with groups of query heads, and windows.

    Returns a `@flyc.jit` function `(Q, K, V, O, Q_stride1, K_stride1, V_stride1, O_stride1, seq_len_q, seq_len_kv,
    stream)`. Q and O are (ATTN_B, seq_len_q, ATTN_H, ATTN_D), K and V (ATTN_B, seq_len_kv, ATTN_H_KV, ATTN_D), bf16 or
    f16, all of one type, with four modes or flattened. The strides are those of the second mode, from token to token,
    in elements: multiples of 8, and at least heads times ATTN_D, so that Q, K and V may be parts of one projection.
    Heads follow each other, and the sequences of a batch, seq_len times the stride each. The scale is 1/sqrt(ATTN_D).

    Args:
        ATTN_B: sequences.
        ATTN_H, ATTN_H_KV: heads of Q and O, and of K and V; ATTN_H a multiple of ATTN_H_KV.
        ATTN_D: elements of a head, a multiple of 32 from 64 to 256; on sm_90a 64, 128, 192 or 256.
        waves_per_eu: as in `flash_attn_generic`; on sm_90a there is no choice but 2.
        sliding_window: (left, right), not negative: query i, which stands at key d = i + seq_len_kv - seq_len_q, sees
            keys d - left to d + right; (left, 0) is causal. None: all keys. Tiles of keys outside are not read.
            Queries that see no key give 0.

    Raises ValueError for numbers that are not supported; the launcher TypeError for other types of tensors and
    ValueError for strides and sizes that do not fit.
    """
    if isinstance(ATTN_B, bool) or not isinstance(ATTN_B, int) or not 1 <= ATTN_B < 2**16:
        raise ValueError(f"flash attention: ATTN_B must be 1 to 65535, got {ATTN_B!r}")
    if architecture().nvidia:
        if waves_per_eu != 2:
            raise ValueError(f"flash attention: waves_per_eu = {waves_per_eu} is not supported on sm_90a")
        return _on_hopper(ATTN_B, (ATTN_H, ATTN_H_KV, ATTN_D), sliding_window)
    config = configuration(ATTN_D, ATTN_H, None, waves_per_eu)
    variant = AttentionVariant(window=sliding_window, strided=True)
    forwards = {
        dtype: build_forward(ATTN_H, ATTN_H_KV, ATTN_D, dtype, False, False, None, config, variant) for dtype in _DTYPES
    }

    @flyc.jit
    def gqa_attn(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        Q_stride1: fx.Int32,
        K_stride1: fx.Int32,
        V_stride1: fx.Int32,
        O_stride1: fx.Int32,
        seq_len_q: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        forward = forwards["f16" if Q.element_type is fx.Float16 else "bf16"]
        strides = (Q_stride1, K_stride1, V_stride1, O_stride1)
        forward(Q, K, V, O, O, O, O, O, O, O, O, ATTN_B, seq_len_q, seq_len_kv, stream, *strides)

    gqa_attn.compile_hints.update(forwards["bf16"].compile_hints)
    return gqa_attn


def _on_hopper(batch: int, heads: tuple[int, int, int], window: tuple[int, int] | None) -> Any:
    """The launcher for sm_90a, whose kernel takes tensors with their strides. `heads`: of Q, of K, their elements."""
    num_heads, kv_heads, head_dim = heads
    if kv_heads < 1 or num_heads % kv_heads:
        raise ValueError(f"flash attention: ATTN_H = {num_heads} is no multiple of ATTN_H_KV = {kv_heads}")
    variant = AttentionVariant(window=window, strided=True)
    forwards = {
        dtype: compile_hopper_attention(
            dtype=dtype, head_dim=head_dim, causal=False, heads_per_kv=num_heads // kv_heads, window=window
        )
        for dtype in _DTYPES
    }

    @flyc.jit
    def gqa_attn(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        Q_stride1: fx.Int32,
        K_stride1: fx.Int32,
        V_stride1: fx.Int32,
        O_stride1: fx.Int32,
        seq_len_q: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        element = fx.Float16 if Q.element_type is fx.Float16 else fx.BFloat16
        main = {"Q": Q, "K": K, "V": V, "O": O}
        strides = (Q_stride1, K_stride1, V_stride1, O_stride1)
        check_arguments(variant, element, main, {}, heads, strides, batch, seq_len_q, seq_len_kv)
        views = []
        for (name, tensor), apart in zip(main.items(), strides, strict=True):
            length, count = (seq_len_q, num_heads) if name in "QO" else (seq_len_kv, kv_heads)
            layout = fx.make_layout(
                (batch, length, count, head_dim), (fx.Int64(length) * fx.Int64(apart), fx.Int64(apart), head_dim, 1)
            )
            views.append(fx.make_view(tensor.iter, layout))
        forward = forwards["f16" if Q.element_type is fx.Float16 else "bf16"]
        forward(*views, views[0], stream)

    return gqa_attn

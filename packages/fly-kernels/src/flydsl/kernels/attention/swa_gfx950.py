# SPDX-License-Identifier: Apache-2.0
"""The builder of attention with a sliding window; `flash_attn_kernel` has the kernel, for sm_90a `hopper_attention`.

The name is the one that callers import: the kernels are right on gfx942 and sm_90a too.
"""

from __future__ import annotations

from collections.abc import Callable
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
) -> Callable[..., Any]:
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
    variant, heads = AttentionVariant(window=sliding_window, strided=True), (ATTN_H, ATTN_H_KV, ATTN_D)
    hopper = architecture().nvidia
    if hopper:
        if waves_per_eu != 2:
            raise ValueError(f"flash attention: waves_per_eu = {waves_per_eu} is not supported on sm_90a")
        if ATTN_H_KV < 1 or ATTN_H % ATTN_H_KV:
            raise ValueError(f"flash attention: ATTN_H = {ATTN_H} is no multiple of ATTN_H_KV = {ATTN_H_KV}")
        options: dict[str, Any] = {"head_dim": ATTN_D, "heads_per_kv": ATTN_H // ATTN_H_KV, "window": sliding_window}
        forwards: dict[str, Any] = {
            dtype: compile_hopper_attention(dtype=dtype, causal=False, **options) for dtype in _DTYPES
        }
    else:
        config = configuration(ATTN_D, ATTN_H, None, waves_per_eu)
        forwards = {
            dtype: build_forward(ATTN_H, ATTN_H_KV, ATTN_D, dtype, False, False, None, config, variant)
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
        dtype, element = ("f16", fx.Float16) if Q.element_type is fx.Float16 else ("bf16", fx.BFloat16)
        strides = (Q_stride1, K_stride1, V_stride1, O_stride1)
        if fx.const_expr(not hopper):
            forwards[dtype](Q, K, V, O, O, O, O, O, O, O, O, ATTN_B, seq_len_q, seq_len_kv, stream, *strides)
        else:
            main = {"Q": Q, "K": K, "V": V, "O": O}
            check_arguments(variant, element, main, {}, heads, strides, ATTN_B, seq_len_q, seq_len_kv)
            views = []
            for (name, tensor), apart in zip(main.items(), strides, strict=True):
                length, count = (seq_len_q, ATTN_H) if name in "QO" else (seq_len_kv, ATTN_H_KV)
                row = fx.Int64(apart)
                layout = fx.make_layout((ATTN_B, length, count, ATTN_D), (fx.Int64(length) * row, row, ATTN_D, 1))
                views.append(fx.make_view(tensor.iter, layout))
            forwards[dtype](*views, views[0], stream)

    if not hopper:
        gqa_attn.compile_hints.update(forwards["bf16"].compile_hints)
    return gqa_attn

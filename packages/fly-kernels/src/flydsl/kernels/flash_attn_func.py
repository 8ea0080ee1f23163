# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds flash attention."""

from __future__ import annotations

from typing import Any

from .attention.config import check_head_dim, default_config
from .attention.flash_attn_kernel import build_dense
from .common.language import flyc, fx

__all__ = ["build_flash_attn_func_module"]


def build_flash_attn_func_module(
    num_heads: int,
    head_dim: int,
    causal: bool = True,
    dtype_str: str = "f16",
    sm_scale: float | None = None,
    num_kv_heads: int | None = None,
) -> Any:
    """Build the launcher `(Q, K, V, O, batch_size, seq_len, stream)` of self-attention.

    Q, K, V and O are (batch, seq_len, heads, head_dim), contiguous, usually flattened; `attention.flash_attn_kernel`
    has the algorithm, the limits and the general form.

    Raises:
        ValueError: a number or dtype that is not supported.
    """
    check_head_dim(head_dim)
    config = default_config(head_dim, 256 if num_heads >= 32 else 128)
    heads = num_heads if num_kv_heads is None else num_kv_heads
    dense = build_dense(num_heads, heads, head_dim, dtype_str, causal, False, sm_scale, config)

    @flyc.jit
    def flash_attn_func(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the established name
        batch_size: fx.Int32,
        seq_len: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        dense(Q, K, V, O, O, batch_size, seq_len, seq_len, stream)

    flash_attn_func.compile_hints.update(dense.compile_hints)
    return flash_attn_func

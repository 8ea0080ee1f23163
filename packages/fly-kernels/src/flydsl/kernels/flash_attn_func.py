# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds flash attention."""

from __future__ import annotations

from typing import Any

from .attention.flash_attn_generic import build_flash_attn_func_module_primary
from .common.language import flyc, fx

__all__ = ["build_flash_attn_func_module"]


def build_flash_attn_func_module(
    num_heads: int,
    head_dim: int,
    causal: bool = True,
    dtype_str: str = "f16",
    sm_scale: float | None = None,
    num_kv_heads: int | None = None,
    **options: Any,
) -> flyc.JitFunction[..., Any]:
    """Build the launcher `(Q, K, V, O, batch_size, seq_len, stream)` of self-attention.

    Q, K, V and O are (batch, seq_len, heads, head_dim), contiguous, usually flattened; `attention.flash_attn_kernel`
    has the algorithm, the limits and the general form. `options` are those of
    `attention.flash_attn_generic.build_flash_attn_func_module` (`waves_per_eu`, `block_m`, …) but for those of
    other variants.

    Raises:
        ValueError: a number, a dtype or an option that is not supported.
    """
    others = sorted({"varlen", "return_lse", "cross_seqlen", "paged"} & set(options))
    if others:
        raise ValueError(
            f"flash attention: {others[0]} is an option of attention.flash_attn_generic, whose launcher takes more"
        )
    forward = build_flash_attn_func_module_primary(
        num_heads, head_dim, causal, dtype_str, sm_scale, num_kv_heads=num_kv_heads, **options
    )

    @flyc.jit
    def flash_attn_func(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        batch_size: fx.Int32,
        seq_len: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        forward(Q, K, V, O, O, O, O, O, 0, batch_size, seq_len, seq_len, stream)

    flash_attn_func.compile_hints.update(forward.compile_hints)
    return flash_attn_func

# SPDX-License-Identifier: Apache-2.0
"""flash_attention(q, k, v): softmax(q k^T * scale + terms + mask) v."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..attention.flash_attn_interface import flydsl_flash_attn_func
from ..attention.operands import dense_problem, with_terms
from .launching import empty, stream_of
from .registration import operator


@operator("flash_attention")
def _flash_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool,
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    given = [None if one is None else one.contiguous() for one in (bias, alibi_slopes, sink)]
    out, lse = flydsl_flash_attn_func(
        q.contiguous(),
        k.contiguous(),
        v.contiguous(),
        causal=causal,
        bias=given[0],
        alibi_slopes=given[1],
        sink=given[2],
        return_lse=True,
        stream=stream_of(q),
    )
    return out, lse


@_flash_attention.register_fake
def _(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool,
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    with_terms(dense_problem(q, k, v, None), q, bias, alibi_slopes, sink)
    return empty(q), empty(q, q.shape[0], q.shape[2], q.shape[1], dtype=torch.float32)


def _no_backward(ctx: Any, *gradients: Tensor) -> Any:
    raise NotImplementedError("flash_attention: there is no backward yet; detach its inputs, or use it under no_grad()")


_flash_attention.register_autograd(_no_backward)


def flash_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = True,
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    sink: Tensor | None = None,
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """softmax(q k^T / sqrt(D) + terms + mask) v, softmax in f32.

    Args:
        q: (B, Sq, H, D), float16 or bfloat16; D a multiple of 32 from 64 to 256.
        k, v: (B, Skv, Hkv, D) of the same type; H a multiple of Hkv, query head h uses head h Hkv // H.
        causal: query i sees keys j <= i + Skv - Sq; otherwise all.
        bias: (Sq, Skv) of the type of q, added to the scaled scores.
        alibi_slopes: float32 (H) or (B, H); -slope |i + Skv - Sq - j| is added.
        sink: float32 (H); the denominator has another term exp(sink).
        return_lse: also return f32 (B, H, Sq), the natural logarithm of each row's denominator, scale folded in.

    Returns (B, Sq, H, D) of the type of q; rows without a key are 0 (and -inf, or the sink). Tensors that are not
    contiguous are copied. Not differentiable: `backward` raises NotImplementedError.

    Raises TypeError for another dtype and ValueError for shapes that do not fit, by the name of the argument.
    """
    out, lse = _flash_attention(q, k, v, causal, bias, alibi_slopes, sink)
    return (out, lse) if return_lse else out

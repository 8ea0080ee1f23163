# SPDX-License-Identifier: Apache-2.0
"""Attention forward on NVIDIA Hopper with its configuration chosen by measuring.

The search is fly-autotune's (extra `autotune`); without it there is what `default_hopper_config` says.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..attention.flash_attn_interface import flydsl_flash_attn_func
from ..attention.operands import dense_problem
from ..common.asked_tuner import asked_tuner
from .hopper_attention import hopper_attention_arguments, hopper_attention_tuner

if TYPE_CHECKING:
    import torch

__all__ = ["hopper_attention_autotuned"]


def hopper_attention_autotuned(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    *,
    causal: bool = True,
    stream: torch.cuda.Stream | int | None = None,
) -> torch.Tensor:
    """Dense attention on sm_90a as `flydsl_flash_attn_func`, in the default configuration unless a better one is known.

    `FLYDSL_AUTOTUNE=1` measures some of those that the shape can have (`flydsl.kernels.tuning`), and what it finds is
    used from then on; offline artifacts (`FLYDSL_AUTOTUNE_CONFIG_DIR`) have the name "hopper_attention". Returns `out`.

    Args:
        q: (B, Sq, H, D), f16 or bf16, contiguous.
        k, v: (B, Skv, Hkv, D) of the same type, contiguous.
        out: like q.
        causal: query i sees keys j <= i + Skv - Sq; otherwise all.
        stream: where to launch.

    Raises ImportError where one of these variables asks for fly-autotune and it is not installed, and as
    `flydsl_flash_attn_func` does.
    """
    problem = dense_problem(q, k, v, None)
    for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out)):
        if not tensor.is_contiguous():
            raise ValueError(f"flash attention: {name!r} must be contiguous, got strides {tuple(tensor.stride())}")
    if tuple(out.shape) != tuple(q.shape) or out.dtype != q.dtype:
        raise ValueError(f"flash attention: 'out' must be of shape {tuple(q.shape)} and dtype {q.dtype}")
    tuner = asked_tuner(_tuner(), "compile_hopper_attention(..., config=HopperAttentionConfig(…))")
    if tuner is None or not (problem.batch and problem.seq_len and problem.seq_len_kv):
        flydsl_flash_attn_func(q, k, v, causal=causal, out=out, stream=stream)
        return out
    tuner(*hopper_attention_arguments([(q, k, v, out, out)], bool(causal)), stream=stream)
    return out


@functools.lru_cache(maxsize=1)
def _tuner() -> Any:
    """Attention under the tuner, or None where fly-autotune is not installed."""
    try:
        return hopper_attention_tuner(default=True)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("flydsl"):
            return None
        raise

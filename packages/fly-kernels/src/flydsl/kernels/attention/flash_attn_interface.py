# SPDX-License-Identifier: Apache-2.0
"""Attention on tensors: the one function for all its forms.

Takes torch tensors, or anything that has their `shape`, `dtype`, `is_contiguous`, `new_empty` and `view`; torch itself
is not imported.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from .config import block_rows, check_head_dim, default_config
from .flash_attn_generic import build_dense

_DTYPES = {"float16": "f16", "bfloat16": "bf16"}
_LARGEST_BATCH_BYTES = 2**31
_LATER = "comes with paged attention"


@lru_cache(maxsize=256)
def _dense(arch: str, heads: int, kv_heads: int, head_dim: int, dtype: str, causal: bool, lse: bool, rows: int) -> Any:
    config = default_config(head_dim, rows)
    return build_dense(heads, kv_heads, head_dim, dtype, causal, lse, None, config)


def flydsl_flash_attn_func(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = True,
    num_kv_heads: int | None = None,
    cu_seqlens_q: Any = None,
    cu_seqlens_kv: Any = None,
    max_seqlen_q: int | None = None,
    max_seqlen_kv: int | None = None,
    cross_seqlen: bool | None = None,
    block_table: Any = None,
    seqlen_k: Any = None,
    kv_cache_layout: str = "linear",
    num_kv_splits: int = 1,
    bias: Any = None,
    alibi_slopes: Any = None,
    sink: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    out: Any = None,
    return_lse: bool = False,
    waves_per_eu: int = 2,
    daz: bool = True,
    dualwave_swp_lazy_rescale: bool = True,
    dualwave_swp_setprio: bool = True,
    dualwave_swp_enable_stagger: bool = True,
    dualwave_swp_xcd_swizzle: Any = None,
    debug_counts: Any = None,
    stream: Any = None,
) -> Any:
    """softmax(q k^T / sqrt(D) + mask) v.

    Args:
        q: (B, Sq, H, D), f16 or bf16, contiguous; D a multiple of 32 from 64 to 256.
        k, v: (B, Skv, Hkv, D) of the same dtype, contiguous; H a multiple of Hkv, query head h uses head h Hkv // H.
        causal: query i sees keys j <= i + Skv - Sq (aligned to the bottom right); otherwise all.
        num_kv_heads: Hkv, if it is to be checked.
        max_seqlen_q, max_seqlen_kv, cross_seqlen: describe the variable-length form; dense tensors say it themselves.
        out: where to write the result, (B, Sq, H, D) of the dtype of q, contiguous; by default a new tensor.
        return_lse: also return the logarithm of each row's sum.
        waves_per_eu, daz, dualwave_swp_…: hints for variants that this kernel decides itself; not used.
        stream: where to launch.

    Returns:
        (B, Sq, H, D) like q; with `return_lse` also f32 (B, H, Sq): the natural logarithm of the denominator with the
        scale folded in. Rows without a key are 0, and -inf.

    Raises:
        TypeError: a dtype that is not supported, or that differs.
        ValueError: shapes that do not fit, a tensor that is not contiguous, or one batch of 2 GiB and more.
        NotImplementedError: an argument of a form that is not there yet, by name.
    """
    later = {
        "cu_seqlens_q": cu_seqlens_q,
        "cu_seqlens_kv": cu_seqlens_kv,
        "block_table": block_table,
        "seqlen_k": seqlen_k,
        "bias": bias,
        "alibi_slopes": alibi_slopes,
        "sink": sink,
        "q_descale": q_descale,
        "k_descale": k_descale,
        "v_descale": v_descale,
        "debug_counts": debug_counts,
        "kv_cache_layout": None if kv_cache_layout == "linear" else kv_cache_layout,
        "num_kv_splits": None if num_kv_splits == 1 else num_kv_splits,
    }
    for name, value in later.items():
        if value is not None:
            raise NotImplementedError(f"flash attention: argument {name!r} is not supported yet; it {_LATER}")
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not tensor.is_contiguous():
            raise ValueError(f"flash attention: {name!r} must be contiguous, got strides {tuple(tensor.stride())}")
    batch, seq_len, heads, head_dim, seq_len_kv, kv_heads = _shapes(q, k, v, num_kv_heads)
    dtype = _dtype(q, k, v)
    if out is None:
        out = q.new_empty(q.shape)
    elif tuple(out.shape) != tuple(q.shape) or out.dtype != q.dtype or not out.is_contiguous():
        raise ValueError(f"flash attention: 'out' must be contiguous, of shape {tuple(q.shape)} and dtype {q.dtype}")
    lse = q.new_empty((batch, heads, seq_len), dtype=_float32(q)) if return_lse else None
    if batch and seq_len and seq_len_kv:
        arch = get_rocm_arch()
        rows = block_rows(arch, batch, heads, seq_len)
        launch = _dense(arch, heads, kv_heads, head_dim, dtype, bool(causal), bool(return_lse), rows)
        flat = [one.view(-1) for one in (q, k, v, out, out if lse is None else lse)]
        launch(*flat, batch, seq_len, seq_len_kv, stream)
    else:
        out.zero_()
        if lse is not None:
            lse.fill_(-math.inf)
    return (out, lse) if return_lse else out


def check_operands(q: Any, k: Any, v: Any) -> None:
    """Raise what `flydsl_flash_attn_func` raises for tensors of these shapes and dtypes."""
    _shapes(q, k, v, None)
    _dtype(q, k, v)


def _float32(q: Any) -> Any:
    """f32 of the library that `q` belongs to."""
    return q.new_empty(0).float().dtype


def _shapes(q: Any, k: Any, v: Any, num_kv_heads: int | None) -> tuple[int, int, int, int, int, int]:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if len(tensor.shape) != 4:
            raise ValueError(
                f"flash attention: {name!r} must be (batch, tokens, heads, head size), got {len(tensor.shape)} modes"
            )
        if tensor.shape[0] and tensor.numel() // tensor.shape[0] * 2 >= _LARGEST_BATCH_BYTES:
            raise ValueError(
                f"flash attention: one batch of {name!r} must be less than 2 GiB, got {tuple(tensor.shape)}"
            )
    batch, seq_len, heads, head_dim = (int(n) for n in q.shape)
    check_head_dim(head_dim)
    if tuple(k.shape) != tuple(v.shape):
        raise ValueError(f"flash attention: 'k' and 'v' must have one shape, got {tuple(k.shape)} and {tuple(v.shape)}")
    if int(k.shape[0]) != batch or int(k.shape[3]) != head_dim:
        raise ValueError(
            f"flash attention: 'q' {tuple(q.shape)} and 'k' {tuple(k.shape)} must agree in batch and head size"
        )
    seq_len_kv, kv_heads = int(k.shape[1]), int(k.shape[2])
    if num_kv_heads is not None and num_kv_heads != kv_heads:
        raise ValueError(f"flash attention: num_kv_heads is {num_kv_heads}, but 'k' has {kv_heads} heads")
    if heads < 1 or kv_heads < 1 or heads % kv_heads:
        raise ValueError(f"flash attention: heads of 'q' ({heads}) must be a multiple of those of 'k' ({kv_heads})")
    return batch, seq_len, heads, head_dim, seq_len_kv, kv_heads


def _dtype(q: Any, k: Any, v: Any) -> str:
    name = str(q.dtype).rpartition(".")[2]
    if name not in _DTYPES:
        hint = f"; fp8 {_LATER}" if name.startswith("float8") else ""
        raise TypeError(f"flash attention: 'q' must be float16 or bfloat16, got {name}{hint}")
    for argument, tensor in (("k", k), ("v", v)):
        if tensor.dtype != q.dtype:
            raise TypeError(f"flash attention: {argument!r} must have the dtype of 'q', {q.dtype}, got {tensor.dtype}")
    return _DTYPES[name]

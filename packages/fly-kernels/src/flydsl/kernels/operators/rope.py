# SPDX-License-Identifier: Apache-2.0
"""rope_cache: rotary embedding of queries and keys, and the write of keys and values to a paged cache."""

from __future__ import annotations

import torch
from torch import Tensor

from ..attention.fused_rope_cache_kernel import build_fused_rope_cache_module
from .launching import built, dtype_name, empty, stream_of

_rope = built(build_fused_rope_cache_module)


def _strided(tensor: Tensor) -> Tensor:
    """The tensor if its last dimension, and no other, has neighbours in memory, as in parts of one; else a copy."""
    *others, last = tensor.stride()
    return tensor if last == 1 and 1 not in others else tensor.contiguous()


@torch.library.custom_op("flydsl::rope_cache", mutates_args=("key_cache", "value_cache"))
def _rope_cache(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    positions: Tensor,
    cos: Tensor,
    sin: Tensor,
    slots: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    k_scale: Tensor,
    v_scale: Tensor,
    flash_layout: bool,
) -> tuple[Tensor, Tensor]:
    tokens, q_heads, head_dim = q.shape
    kv_heads = k.shape[1]
    if k.shape != (tokens, kv_heads, head_dim) or v.shape != k.shape:
        raise ValueError(f"rope_cache: q is {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
    for name, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        if _strided(cache) is not cache:
            raise ValueError(f"rope_cache: the elements of {name}'s last dimension are no neighbours {cache.stride()}")
    q_out, k_out = empty(q), empty(k)
    if tokens:
        launch = _rope(
            head_dim,
            -1,
            q_heads,
            kv_heads,
            key_cache.shape[1] if flash_layout else key_cache.shape[3],
            flash_layout=flash_layout,
            dtype_str=dtype_name("rope_cache", q),
            apply_scale=key_cache.element_size() == 1,
            reuse_freqs_front_part=cos.shape[-1] * 2 == head_dim,
            pos_dtype="i64" if positions.dtype == torch.int64 else "i32",
        )
        inputs = [_strided(one) for one in (q, k, v, positions, cos, sin, slots)]
        launch(*inputs, key_cache, value_cache, q_out, k_out, tokens, k_scale, v_scale, stream_of(q))
    return q_out, k_out


@_rope_cache.register_fake
def _(q: Tensor, k: Tensor, *_others: Tensor | bool) -> tuple[Tensor, Tensor]:
    return empty(q), empty(k)


def rope_cache(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    positions: Tensor,
    cos: Tensor,
    sin: Tensor,
    slots: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    flash_layout: bool = True,
) -> tuple[Tensor, Tensor]:
    """(q, k) rotated (NeoX halves); the rotated keys and the values go to the caches, in place.

    q (T, heads, D), k and v (T, kv heads, D); positions and slots (T,) of int32 or int64; cos and sin (positions,
    D / 2) or (positions, D); a token whose slot is negative is not written. All may be parts of larger
    tensors. The caches' shapes are those of `build_fused_rope_cache_module`; an 8-bit cache takes fp8, divided by the
    scales (f32, one element; 1 by default).
    """
    ones = torch.ones(1, dtype=torch.float32, device=q.device)
    tensors = (q, k, v, positions, cos, sin, slots, key_cache, value_cache)
    k_scale, v_scale = ones if k_scale is None else k_scale, ones.clone() if v_scale is None else v_scale
    q_out, k_out = _rope_cache(*tensors, k_scale, v_scale, flash_layout)
    return q_out, k_out

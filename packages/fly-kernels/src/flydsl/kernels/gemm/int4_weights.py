# SPDX-License-Identifier: Apache-2.0
"""int4 weights of W4A8 kernels: two a byte, in the order of `common.shuffle`."""

from __future__ import annotations

from typing import Any

__all__ = ["pack_int4", "unpack_int4"]


def pack_int4(weight: Any) -> Any:
    """Pack int8 values of -8 to 7 in pairs: half the bytes.

    Of 8 neighbours v0 ... v7 byte j (of 4) is (v[j] and 15) | (v[j + 4] and 15) << 4, which costs a kernel least to
    unpack. Shuffle first: `pack_int4(shuffle_weight(w))` is B of `compile_preshuffle_gemm_a8(in_dtype="int4")`.

    Args:
        weight: (..., K) int8, a torch tensor or numpy array; K a multiple of 8.

    Returns (..., K / 2) of the same type.

    Raises:
        ValueError: another type, K that is no multiple of 8, or a value that is no int4.
    """
    if str(weight.dtype).rpartition(".")[2] != "int8":
        raise ValueError(f"pack_int4: expected int8, got {weight.dtype}")
    if weight.ndim < 1 or weight.shape[-1] % 8:
        raise ValueError(f"pack_int4: expected (..., K) with K a multiple of 8, got shape {tuple(weight.shape)}")
    if 0 not in weight.shape and (weight.min() < -8 or weight.max() > 7):
        raise ValueError(f"pack_int4: values are from {weight.min()} to {weight.max()}, int4 has -8 to 7")
    groups = weight.reshape(*weight.shape[:-1], weight.shape[-1] // 8, 2, 4)
    packed = (groups[..., 0, :] & 15) | (groups[..., 1, :] << 4)
    return packed.reshape(*weight.shape[:-1], weight.shape[-1] // 2)


def unpack_int4(packed: Any) -> Any:
    """The int8 values (..., K) that `pack_int4` packed into (..., K / 2)."""
    if str(packed.dtype).rpartition(".")[2] != "int8":
        raise ValueError(f"unpack_int4: expected int8, got {packed.dtype}")
    if packed.ndim < 1 or packed.shape[-1] % 4:
        raise ValueError(f"unpack_int4: expected (..., K / 2), a multiple of 4, got shape {tuple(packed.shape)}")
    groups = packed.reshape(*packed.shape[:-1], packed.shape[-1] // 4, 1, 4)
    stack = groups.repeat_interleave(2, -2) if hasattr(groups, "repeat_interleave") else groups.repeat(2, -2)
    stack[..., 0, :] = stack[..., 0, :] << 4
    return (stack >> 4).reshape(*packed.shape[:-1], packed.shape[-1] * 2)

# SPDX-License-Identifier: Apache-2.0
"""int4 weights, two a byte: of kernels that multiply them with int8, and of those that do with 16 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import torch

__all__ = ["pack_int4", "pack_int4_pairs", "unpack_int4", "unpack_int4_pairs"]

Array = TypeVar("Array")
"""A torch tensor or numpy array."""


def pack_int4(weight: torch.Tensor) -> torch.Tensor:
    """Pack int8 values of -8 to 7 in pairs: half the bytes.

    Of 8 neighbours v0 ... v7 byte j (of 4) is (v[j] and 15) | (v[j + 4] and 15) << 4, which costs a kernel least to
    unpack. Shuffle first: `pack_int4(shuffle_weight(w))` is B of `compile_preshuffle_gemm_a8(in_dtype="int4")`.

    Args:
        weight: (..., K) int8, a torch tensor or numpy array; K a multiple of 8.

    Returns (..., K / 2) of the same type.

    Raises:
        ValueError: another type, K that is no multiple of 8, or a value that is no int4.
    """
    _check("pack_int4", weight, 8)
    groups = weight.reshape(*weight.shape[:-1], weight.shape[-1] // 8, 2, 4)
    packed = (groups[..., 0, :] & 15) | (groups[..., 1, :] << 4)
    return packed.reshape(*weight.shape[:-1], weight.shape[-1] // 2)


def unpack_int4(packed: torch.Tensor) -> torch.Tensor:
    """The int8 values (..., K) that `pack_int4` packed into (..., K / 2)."""
    _expect_int8("unpack_int4", packed)
    if packed.ndim < 1 or packed.shape[-1] % 4:
        raise ValueError(f"unpack_int4: expected (..., K / 2), a multiple of 4, got shape {tuple(packed.shape)}")
    groups = packed.reshape(*packed.shape[:-1], packed.shape[-1] // 4, 1, 4)
    stack = groups.repeat_interleave(2, -2) if hasattr(groups, "repeat_interleave") else groups.repeat(2, -2)
    stack[..., 0, :] = stack[..., 0, :] << 4
    return (stack >> 4).reshape(*packed.shape[:-1], packed.shape[-1] * 2)


def pack_int4_pairs(weight: Array) -> Array:
    """Pack int8 values of -8 to 7 in pairs of neighbours, the even one in the lower half, as MXFP4 has its elements.

    Pack first: `shuffle_weight(pack_int4_pairs(w))`, of bytes, is what kernels with A of 16 bits read.

    Args:
        weight: (..., K) int8, a torch tensor or numpy array; K even.

    Returns (..., K / 2) of the same type.

    Raises:
        ValueError: another type, an odd K, or a value that is no int4.
    """
    _check("pack_int4_pairs", weight, 2)
    values: Any = weight
    packed: Array = (values[..., ::2] & 15) | (values[..., 1::2] << 4)
    return packed


def unpack_int4_pairs(packed: Array) -> Array:
    """The int8 values (..., K) that `pack_int4_pairs` packed into (..., K / 2)."""
    _expect_int8("unpack_int4_pairs", packed)
    held: Any = packed
    pairs = held.reshape(*held.shape, 1)
    stack = pairs.repeat_interleave(2, -1) if hasattr(pairs, "repeat_interleave") else pairs.repeat(2, -1)
    stack[..., 0] = stack[..., 0] << 4
    values: Array = (stack >> 4).reshape(*held.shape[:-1], held.shape[-1] * 2)
    return values


def _expect_int8(what: str, weight: Any) -> None:
    if str(weight.dtype).rpartition(".")[2] != "int8":
        raise ValueError(f"{what}: expected int8, got {weight.dtype}")


def _check(what: str, weight: Any, multiple: int) -> None:
    _expect_int8(what, weight)
    if weight.ndim < 1 or weight.shape[-1] % multiple:
        raise ValueError(f"{what}: expected (..., K) with K a multiple of {multiple}, got shape {tuple(weight.shape)}")
    if 0 not in weight.shape and (weight.min() < -8 or weight.max() > 7):
        raise ValueError(f"{what}: values are from {weight.min()} to {weight.max()}, int4 has -8 to 7")

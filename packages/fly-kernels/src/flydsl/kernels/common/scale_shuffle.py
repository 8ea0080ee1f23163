# SPDX-License-Identifier: Apache-2.0
"""The memory order of E8M0 scales and of 4-bit weights that the scaled matrix products of gfx950 read.

Scales (rows, K / 32), a byte each, are cut into blocks of 32 rows by 8 scales (256 of K), 256 bytes each. In a block,
byte 2 p + q of word 16 g + r (of 64) is the scale of row 16 q + r and of scale 4 p + g along K:

    view (rows / 32, 2, 16, K / 256, 2, 4)  ->  (rows / 32, K / 256, 4, 16, 2, 2)

So lane 16 g + r of a wave has, in one word, its scales of two blocks of 16 rows and two of 128 of K, and the matrix
instruction picks the byte (`opsel`). All functions take torch tensors or numpy arrays and return copies of the same
kind.
"""

from __future__ import annotations

from typing import Any, TypeVar

from .shuffle import shuffle_weight, unshuffle_weight

__all__ = [
    "e8m0_shuffle",
    "e8m0_unshuffle",
    "shuffle_scale",
    "shuffle_scale_32x4",
    "shuffle_scale_w4",
    "shuffle_weight_w4",
    "unshuffle_scale",
    "unshuffle_scale_32x4",
    "unshuffle_scale_w4",
    "unshuffle_weight_w4",
]

Array = TypeVar("Array")
"""A torch tensor or numpy array."""

_ROWS, _COLUMNS = 32, 8  # of a block
_LANES = 16


def shuffle_scale(scale: Array) -> Array:
    """Scales of a matrix in the order that GEMMs read: rows padded to a multiple of 32, columns of 8, with zeros.

    Args:
        scale: (rows, K / 32) of one byte each.

    Returns (rows up, K / 32 up); element (r, s) is where the page's top says.

    Raises:
        ValueError: no matrix of bytes.
    """
    stored: Array = _shuffle("shuffle_scale", scale, _ROWS)
    return stored


def unshuffle_scale(shuffled: Array, rows: int, columns: int) -> Array:
    """The (rows, columns) scales that `shuffle_scale` gave in another order, without its padding.

    Raises:
        ValueError: no matrix of bytes, or not the one that `shuffle_scale` makes of so many.
    """
    plain: Array = _unshuffle("unshuffle_scale", shuffled, rows, columns, _ROWS)
    return plain


def e8m0_shuffle(scale: Array) -> Array:
    """`shuffle_scale`, but with rows padded to a multiple of 256."""
    stored: Array = _shuffle("e8m0_shuffle", scale, 256)
    return stored


def e8m0_unshuffle(shuffled: Array, rows: int, columns: int) -> Array:
    """The (rows, columns) scales that `e8m0_shuffle` gave in another order, without its padding."""
    plain: Array = _unshuffle("e8m0_unshuffle", shuffled, rows, columns, 256)
    return plain


def shuffle_scale_32x4(scale: Array) -> Array:
    """Scales in the order of gfx1250: blocks of 32 rows by 4 scales, row by row; rows are padded to 32 with zeros.

        view (rows / 32, 32, K / 128, 4)  ->  (rows / 32, K / 128, 32, 4)

    Args:
        scale: (rows, K / 32) of one byte each, K / 32 a multiple of 4.

    Returns (rows up, K / 32).

    Raises:
        ValueError: no matrix of bytes, or columns that are no such multiple.
    """
    rows, columns = _matrix("shuffle_scale_32x4", scale)
    if columns % 4:
        raise ValueError(f"shuffle_scale_32x4: K / 32 = {columns} is no multiple of 4")
    up = _up(rows, _ROWS), columns
    padded = scale.new_zeros(up) if hasattr(scale, "new_zeros") else _zeros(up, scale)
    padded[:rows] = scale
    stored: Array = _permuted(padded, (-1, _ROWS, columns // 4, 4), (0, 2, 1, 3))
    return stored


def unshuffle_scale_32x4(shuffled: Array, rows: int) -> Array:
    """The scales of `rows` rows that `shuffle_scale_32x4` gave in another order, without its padding."""
    got, columns = _matrix("unshuffle_scale_32x4", shuffled)
    if columns % 4 or got != _up(rows, _ROWS):
        raise ValueError(f"unshuffle_scale_32x4: {(got, columns)} is not what {rows} rows become")
    plain: Array = _permuted(shuffled, (-1, columns // 4, _ROWS, 4), (0, 2, 1, 3))[:rows]
    return plain


def shuffle_scale_w4(scale: Array, experts_cnt: int = 1, gate_up: bool = False) -> Array:
    """Scales of the weights of `experts_cnt` experts, one after the other, each in the order of `shuffle_scale`.

    With `gate_up` each expert has as many rows of a gate as, behind them, of an up projection: a block has 16 rows of
    each, byte 2 p of a word is the gate's and 2 p + 1 the other's.

    Args:
        scale: (experts_cnt * rows, K / 32) or (experts_cnt, rows, K / 32), of one byte each; rows a multiple of 32,
            K / 32 of 8.

    Returns the same shape.

    Raises:
        ValueError: the scales are no bytes, or their extents no such multiples.
    """
    rows, columns = _experts("shuffle_scale_w4", scale, experts_cnt)
    blocks = rows // _ROWS
    # (expert, block, half, ...) or (expert, half, block, ...)
    shape, order = (-1, blocks, 2, 16, columns // 8, 2, 4), (0, 1, 4, 6, 3, 5, 2)
    if gate_up:
        shape, order = (-1, 2, blocks, 16, columns // 8, 2, 4), (0, 2, 4, 6, 3, 5, 1)
    stored: Array = _permuted(scale, shape, order)
    return stored


def unshuffle_scale_w4(shuffled: Array, experts_cnt: int = 1, gate_up: bool = False) -> Array:
    """What `shuffle_scale_w4` was given; arguments and errors as there."""
    rows, columns = _experts("unshuffle_scale_w4", shuffled, experts_cnt)
    stored = (-1, rows // _ROWS, columns // 8, 4, 16, 2, 2)
    plain: Array = _permuted(shuffled, stored, (0, 6, 1, 4, 2, 5, 3) if gate_up else (0, 1, 6, 4, 2, 5, 3))
    return plain


def shuffle_weight_w4(weight: Array, NLane: int = 16, gate_up: bool = False) -> Array:
    """4-bit weights, two a byte, in the order of `shuffle_weight` of their bytes.

    With `gate_up` each expert's rows are those of a gate and, behind them, as many of an up projection; blocks of 16
    rows of the two take turns.

    Args:
        weight: (..., N, K / 2) of one byte each; N a multiple of 16 (with `gate_up` of 32), K / 2 of 64.
        NLane: rows of a block: 16.

    Returns the same shape.

    Raises:
        ValueError: another NLane, elements of another size, or extents that are no such multiples.
    """
    n, depth = _weights("shuffle_weight_w4", weight, NLane, gate_up)
    shape = -1, 2, n // 32, 16, depth // 64, 4, 16
    stored: Array = _permuted(weight, shape, (0, 2, 1, 4, 5, 3, 6)) if gate_up else shuffle_weight(weight)
    return stored


def unshuffle_weight_w4(shuffled: Array, NLane: int = 16, gate_up: bool = False) -> Array:
    """What `shuffle_weight_w4` was given; arguments and errors as there."""
    n, depth = _weights("unshuffle_weight_w4", shuffled, NLane, gate_up)
    shape = -1, n // 32, 2, depth // 64, 4, 16, 16
    plain: Array = _permuted(shuffled, shape, (0, 2, 1, 5, 3, 4, 6)) if gate_up else unshuffle_weight(shuffled)
    return plain


def _size(array: Any) -> int:
    return int(array.element_size() if hasattr(array, "element_size") else array.itemsize)


def _permuted(array: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """A contiguous copy with the modes of `shape` in another order, in the shape of `array`."""
    if hasattr(array, "permute"):  # torch
        return array.reshape(shape).permute(order).contiguous().view(array.shape)
    return array.reshape(shape).transpose(order).copy().reshape(array.shape)


def _matrix(what: str, scale: Any) -> tuple[int, int]:
    if len(scale.shape) != 2 or _size(scale) != 1:
        raise ValueError(f"{what}: expected a matrix of bytes, got {tuple(scale.shape)} of {scale.dtype}")
    return int(scale.shape[0]), int(scale.shape[1])


def _up(extent: int, multiple: int) -> int:
    return -(-extent // multiple) * multiple


def _shuffle(what: str, scale: Any, multiple: int) -> Any:
    rows, columns = _matrix(what, scale)
    up = _up(rows, multiple), _up(columns, _COLUMNS)
    padded = scale.new_zeros(up) if hasattr(scale, "new_zeros") else _zeros(up, scale)
    padded[:rows, :columns] = scale
    return _permuted(padded, (up[0] // _ROWS, 2, 16, up[1] // 8, 2, 4), (0, 3, 5, 2, 4, 1))


def _unshuffle(what: str, shuffled: Any, rows: int, columns: int, multiple: int) -> Any:
    got, up = _matrix(what, shuffled), (_up(rows, multiple), _up(columns, _COLUMNS))
    if got != up:
        raise ValueError(f"{what}: expected {up}, which {(rows, columns)} become, got {got}")
    plain = _permuted(shuffled, (up[0] // _ROWS, up[1] // 8, 4, 16, 2, 2), (0, 5, 3, 1, 4, 2))
    part = plain[:rows, :columns]
    return part.contiguous() if hasattr(part, "contiguous") else part.copy()


def _zeros(shape: tuple[int, int], like: Any) -> Any:
    import numpy as np

    return np.zeros(shape, like.dtype)


def _experts(what: str, scale: Any, experts: int) -> tuple[int, int]:
    """Rows of an expert, and columns."""
    if isinstance(experts, bool) or not isinstance(experts, int) or experts < 1:
        raise ValueError(f"{what}: experts_cnt is a positive int, got {experts!r}")
    if len(scale.shape) not in (2, 3) or _size(scale) != 1:
        raise ValueError(f"{what}: expected (rows, K / 32) of bytes, got {tuple(scale.shape)} of {scale.dtype}")
    *leading, columns = (int(one) for one in scale.shape)
    total = leading[0] * leading[1] if len(leading) == 2 else leading[0]
    if (len(leading) == 2 and leading[0] != experts) or total % (experts * _ROWS) or columns % _COLUMNS:
        raise ValueError(
            f"{what}: {tuple(scale.shape)} are not {experts} experts with a multiple of {_ROWS} rows and of "
            f"{_COLUMNS} scales a row"
        )
    return total // experts, columns


def _weights(what: str, weight: Any, lanes: int, gate_up: bool) -> tuple[int, int]:
    if lanes != _LANES:
        raise ValueError(f"{what}: NLane is {_LANES}, got {lanes!r}")
    if len(weight.shape) < 2 or _size(weight) != 1:
        raise ValueError(f"{what}: expected (..., N, K / 2) of bytes, got {tuple(weight.shape)} of {weight.dtype}")
    n, depth = int(weight.shape[-2]), int(weight.shape[-1])
    rows = 2 * _LANES if gate_up else _LANES
    if n % rows or depth % 64:
        raise ValueError(f"{what}: N = {n} is no multiple of {rows}, or K / 2 = {depth} none of 64")
    return n, depth

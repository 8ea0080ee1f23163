# SPDX-License-Identifier: Apache-2.0
"""Static, possibly nested, row-major shapes of vectors: counting, broadcasting, indexing."""

from __future__ import annotations

from typing import Any

__all__ = ["broadcast_index", "broadcast_shapes", "count", "flatten", "lanes_of", "normal_shape"]


def normal_shape(shape: Any) -> tuple[Any, ...]:
    """Return `shape` as a (nested) tuple of positive ints.

    Raises:
        ValueError: an extent that is not a positive integer known while tracing.
    """
    normal = _normal(shape)
    return normal if isinstance(normal, tuple) else (normal,)


def _normal(shape: Any) -> Any:
    if isinstance(shape, (tuple, list)):
        if not shape:
            raise ValueError("the shape of a vector has at least one extent")
        return tuple(_normal(extent) for extent in shape)
    if hasattr(shape, "to_py_value"):  # an IntTuple
        return _normal(shape.to_py_value())
    is_static = getattr(shape, "is_static", None)
    if is_static is not None and callable(is_static) and not is_static():
        raise ValueError("the shape of a vector must be static; this extent is only known when the kernel runs")
    try:
        extent = int(shape)
    except (TypeError, RuntimeError):
        raise ValueError(f"the shape of a vector is made of integers, got {shape!r}") from None
    if extent <= 0:
        raise ValueError(f"the extents of a vector are positive, got {extent}")
    return extent


def count(shape: Any) -> int:
    """Return the number of elements of a shape."""
    if isinstance(shape, tuple):
        total = 1
        for extent in shape:
            total *= count(extent)
        return total
    return int(shape)


def flatten(shape: Any) -> tuple[int, ...]:
    """Return the extents of a nested shape in order."""
    if isinstance(shape, tuple):
        return tuple(leaf for extent in shape for leaf in flatten(extent))
    return (shape,)


def broadcast_shapes(a: Any, b: Any) -> tuple[int, ...]:
    """Return NumPy's common shape of two flattened shapes; `ValueError` when there is none."""
    fa, fb = flatten(a), flatten(b)
    rank = max(len(fa), len(fb))
    pa, pb = (1,) * (rank - len(fa)) + fa, (1,) * (rank - len(fb)) + fb
    for x, y in zip(pa, pb, strict=True):
        if x != y and 1 not in (x, y):
            raise ValueError(f"cannot broadcast shapes {a} and {b}")
    return tuple(max(x, y) for x, y in zip(pa, pb, strict=True))


def broadcast_index(have: tuple[int, ...], want: tuple[int, ...]) -> list[int]:
    """Return, for each element of `want` in row-major order, the flat position in `have` that it repeats."""
    have = (1,) * (len(want) - len(have)) + have
    strides, step = [0] * len(have), 1
    for i in range(len(have) - 1, -1, -1):
        strides[i] = 0 if have[i] == 1 else step
        step *= have[i]
    positions = [0]
    for extent, stride in zip(want, strides, strict=True):
        positions = [p + i * stride for p in positions for i in range(extent)]
    return positions


def lanes_of(shape: tuple[Any, ...], index: tuple[Any, ...]) -> tuple[list[int], tuple[Any, ...]]:
    """Return the flat positions that a static multi-index names, and the shape of what it keeps (`None` modes).

    Raises:
        ValueError: too many or too few coordinates.
        IndexError: a coordinate that is out of range.
    """
    if len(index) != len(shape):
        raise ValueError(f"coordinate rank {len(index)} does not match shape rank {len(shape)} of {shape}")
    lanes, kept = [0], []
    for extent, coordinate in zip(shape, index, strict=True):
        size = count(extent)
        positions, remain = _mode(extent, coordinate)
        lanes = [lane * size + p for lane in lanes for p in positions]
        if remain is not None:
            kept.append(remain)
    return lanes, tuple(kept)


def _mode(extent: Any, coordinate: Any) -> tuple[list[int], Any]:
    size = count(extent)
    if coordinate is None:
        return list(range(size)), extent
    if isinstance(coordinate, tuple):
        if not isinstance(extent, tuple):
            raise ValueError(f"coordinate {coordinate} does not match a mode of extent {extent}")
        lanes, kept = lanes_of(extent, coordinate)
        return lanes, (kept or None)
    if not -size <= coordinate < size:
        raise IndexError(f"coordinate {coordinate} is out of range for a mode of extent {extent}")
    return [coordinate % size], None

# SPDX-License-Identifier: Apache-2.0
"""Coordinates of layouts. Of a static layout plain arithmetic: shifts and masks where a number is a power of two.

Layouts are the language's or those of `flydsl.layout`; indices are Python ints or 32- or 64-bit integers of the
language that are not negative. The arithmetic of static layouts needs no trace.
"""

from __future__ import annotations

from typing import Any

from .language import fx
from .utils import udiv_pow2, urem_const

__all__ = ["crd2idx", "get", "idx2crd"]


def idx2crd(idx: fx.Numeric | int, layout: Any) -> Any:
    """The natural coordinate of an index: `(idx // stride) mod shape` of each mode, nested as the shape is.

    Args:
        idx: an index into the layout's co-domain.
        layout: a plain layout, not a composed one.

    Returns integers in nested tuples for a static layout, an `IntTuple` for a dynamic one; `get` takes either.

    Raises:
        ValueError: a stride is 0, so that an index has no one coordinate.
    """
    if not _is_static(layout):
        return fx.idx2crd(idx, layout)
    return _coordinate(idx, *_modes(layout))


def crd2idx(crd: Any, layout: Any) -> Any:
    """The index of a coordinate: the sum of coordinate times stride over the modes.

    Args:
        crd: a nested tuple of integers (or an `IntTuple`) that fits the layout's shape; an integer in the place of a
            tuple of modes is a linear coordinate in them, the first mode fastest.
        layout: a layout.

    Returns an integer for a static plain layout, an `IntTuple` for others.

    Raises:
        ValueError: the coordinate does not fit the modes.
    """
    if not _is_static(layout):
        return fx.crd2idx(crd, layout)
    if hasattr(crd, "to_py_value"):
        crd = crd.to_py_value()
    shape, stride = _modes(layout)
    if isinstance(crd, (tuple, list)) and not isinstance(shape, tuple):
        shape, stride = (shape,), (stride,)
    return _index(crd, shape, stride)


def get(t: Any, mode: int) -> Any:
    """Mode `mode` of a tuple or list, or of an int-tuple or layout of the language; an integer is its own mode 0.

    Raises:
        IndexError: there is no such mode.
    """
    if isinstance(t, (tuple, list)):
        return t[mode]
    if hasattr(t, "is_leaf"):
        return fx.get_(t, mode)
    if mode not in (0, -1):
        raise IndexError(f"get: mode {mode} of one integer, which has mode 0 only")
    return t


def _is_static(layout: Any) -> bool:
    """Whether plain arithmetic will do: a plain layout whose shape and strides are known."""
    return hasattr(layout, "stride") and not hasattr(layout, "inner") and bool(layout.is_static)


def _modes(layout: Any) -> tuple[Any, Any]:
    """Shape and strides in Python numbers."""
    parts = (layout.shape, layout.stride)
    shape, stride = (part.to_py_value() if hasattr(part, "to_py_value") else part for part in parts)
    return shape, stride


def _coordinate(idx: Any, shape: Any, stride: Any) -> Any:
    if isinstance(shape, tuple):
        return tuple(_coordinate(idx, *mode) for mode in zip(shape, stride, strict=True))
    if shape == 1:
        return 0
    if stride == 0:
        raise ValueError("idx2crd: the stride of a mode is 0, so that its coordinate does not follow from an index")
    return urem_const(_divided(idx, stride), shape)


def _divided(number: Any, divisor: int) -> Any:
    return udiv_pow2(number, divisor) if divisor & (divisor - 1) == 0 else number // divisor


def _times(number: Any, factor: int) -> Any:
    return number << (factor.bit_length() - 1) if factor > 0 and factor & (factor - 1) == 0 else number * factor


def _index(crd: Any, shape: Any, stride: Any) -> Any:
    if not isinstance(shape, tuple):
        if isinstance(crd, (tuple, list)):
            raise ValueError(f"crd2idx: coordinate {crd} in the place of one integer")
        return _times(crd, stride)
    if not isinstance(crd, (tuple, list)):
        crd = _split(crd, shape)
    if len(crd) != len(shape):
        raise ValueError(f"crd2idx: a coordinate of {len(crd)} modes does not fit the shape {shape}")
    return sum((_index(*mode) for mode in zip(crd, shape, stride, strict=True)), start=0)


def _split(number: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A linear coordinate as one linear coordinate per mode; the last mode takes what is left."""
    parts = []
    for mode in shape[:-1]:
        extent = _size(mode)
        parts.append(urem_const(number, extent))
        number = _divided(number, extent)
    return (*parts, number)


def _size(shape: Any) -> int:
    if not isinstance(shape, tuple):
        return int(shape)
    product = 1
    for mode in shape:
        product *= _size(mode)
    return product

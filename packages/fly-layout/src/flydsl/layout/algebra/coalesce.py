# SPDX-License-Identifier: Apache-2.0
"""Coalesce and filter: the same function with fewer modes."""

from __future__ import annotations

from ..basis import Basis
from ..layout import Layout, LayoutLike, flat_of, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import AnyLayout, IntTuple

__all__ = ["coalesce", "filter", "filter_zeros"]


def coalesce(x: AnyLayout, pattern: IntTuple = None) -> Any:
    """The same function of the linear coordinate with as few modes as possible.

    Law: ``size`` is kept and ``coalesce(L)(i) == L(i)`` for all linear coordinates ``i``; the depth is at most 1.
    Modes of extent 1 vanish and neighbours merge where ``s0 * d0 == d1`` (basis strides: on equal paths only);
    nothing merges across symbolic values, and a layout of one leaf keeps its tuple.

    Args:
        x: layout, composed layout or coordinate tensor.
        pattern: with a tuple, mode i is coalesced by itself with ``pattern[i]``; modes beyond it stay as they are.
    """
    if type(x) is Layout:
        if type(pattern) is tuple:
            return _by_mode(x, pattern, coalesce)
        shape = x._shape
        if type(shape) is tuple:
            flat, strides = flat_of(x)
            modes = merged(flat, strides) if x._static else merged_symbolic(flat, strides)
            if len(flat) == 1 and modes[0][0] != 1:
                return x
            return pack(modes[0], modes[1], x._static)
        return make(1, 0, True) if type(shape) is int and shape == 1 else x
    return x.lift(lambda a: coalesce(a, pattern))


def merged(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Coalesced modes of a static flat layout; ``1:0`` if nothing is left."""
    out_shape: list[int] = []
    out_stride: list[int] = []
    extent, first, following = 1, 0, None
    for s, d in zip(shape, stride):
        if s == 1:
            continue
        if d == following:
            extent *= s
        else:
            if following is not None:
                out_shape.append(extent)
                out_stride.append(first)
            extent, first = s, d
        following = extent * first
    out_shape.append(extent)
    out_stride.append(first)
    return out_shape, out_stride


def merged_symbolic(shape: tuple[Any, ...], stride: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """`merged` with symbolic leaves, which never merge, and basis strides, which merge on equal paths."""
    out_shape: list[Any] = []
    out_stride: list[Any] = []
    for s, d in zip(shape, stride):
        if type(s) is int and s == 1:
            continue
        if out_shape and follows(out_shape[-1], out_stride[-1], s, d):
            out_shape[-1] = out_shape[-1] * s
        else:
            out_shape.append(s)
            out_stride.append(d)
    return (out_shape, out_stride) if out_shape else ([1], [0])


def follows(s0: Any, d0: Any, s1: Any, d1: Any) -> bool:
    """True when ``s1:d1`` continues ``s0:d0``, with all four known."""
    if type(s0) is not int or type(s1) is not int:
        return False
    if isinstance(d0, Basis) and isinstance(d1, Basis):
        return d0.path == d1.path and follows(s0, d0.value, s1, d1.value)
    return type(d0) is int and type(d1) is int and s0 * d0 == d1


def pack(shape: list[Any], stride: list[Any], static: bool) -> Layout:
    """A flat layout; a single mode becomes a leaf."""
    if len(shape) == 1:
        return make(shape[0], stride[0], static)
    return make(tuple(shape), tuple(stride), static)


def _by_mode(x: Layout, pattern: tuple[Any, ...], operation: Callable[[Any, Any], Any]) -> Layout:
    shape, stride, static = x._shape, x._stride, x._static
    if type(shape) is not tuple:
        shape, stride = (shape,), (stride,)
    out = [operation(make(s, d, static), p) for s, d, p in zip(shape, stride, pattern)]
    n = len(out)
    return make(tuple([m._shape for m in out]) + shape[n:], tuple([m._stride for m in out]) + stride[n:], static)


def filter(x: AnyLayout, pattern: IntTuple = None) -> Any:
    """The layout without its modes of stride 0 and of extent 1, coalesced: what it reaches, each index once per mode.

    With a tuple pattern, by mode as in `coalesce`. Nothing left gives ``1:0``.
    """
    if isinstance(x, Layout):
        if type(pattern) is tuple:
            return _by_mode(x, pattern, filter)
        return coalesce(flat_filtered(x))
    return x.lift(lambda a: filter(a, pattern))


def flat_filtered(x: Layout) -> Layout:
    """The flat layout of the modes whose stride is not a static 0; ``1:0`` if there is none."""
    kept = [(s, d) for s, d in zip(*flat_of(x)) if type(d) is not int or d != 0]
    if not kept:
        return make(1, 0, True)
    return pack([s for s, _ in kept], [d for _, d in kept], x._static)


def filter_zeros(x: LayoutLike) -> Any:
    """The layout with the extent of every mode of static stride 0 replaced by 1."""

    def ones(s: Any, d: Any) -> Any:
        if type(s) is tuple:
            return tuple([ones(a, b) for a, b in zip(s, d)])
        return 1 if type(d) is int and d == 0 else s

    return x.lift(lambda a: make(ones(a._shape, a._stride), a._stride, a._static))

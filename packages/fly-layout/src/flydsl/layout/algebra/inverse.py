# SPDX-License-Identifier: Apache-2.0
"""Inverses of layouts, as layouts."""

from __future__ import annotations

from ..basis import Basis
from ..composed import ComposedLayout
from ..errors import fail
from ..int_tuple import flatten
from ..layout import Layout, flat_of, make
from ..swizzle import Swizzle
from .coalesce import coalesce, merged, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout

__all__ = ["inverse", "left_inverse", "right_inverse"]


def _leaves(a: Layout) -> tuple[Any, Any]:
    """Extents and strides of the coalesced layout, flat."""
    if a._static:
        return merged(*flat_of(a))
    c = coalesce(a)
    return flatten(c._shape), flatten(c._stride)


def right_inverse(a: AnyLayout | int) -> Any:
    """R with ``A(R(i)) == i`` for all ``i < size(R)``, the largest such range that starts at 0.

    Symbolic strides take no part; basis strides are taken by their values. On a composed layout the outer layout is
    inverted (see `inverse` for the whole function). An int N, standing for ``N:1``, is its own inverse.
    """
    if isinstance(a, int):
        return Layout(a, 1)
    if not isinstance(a, Layout):
        return a.lift(right_inverse)
    shape, stride = _leaves(a)
    if len(shape) == 1 and type(stride[0]) is int and type(shape[0]) is int:
        return make(shape[0], 1, True) if stride[0] == 1 and shape[0] != 1 else make(1, 0, True)
    modes: list[tuple[Any, ...]] = []
    position: Any = 1
    for s, d in zip(shape, stride):
        if isinstance(d, Basis):
            d = d.value
        if type(s) is int and type(d) is int and d > 0:
            modes.append((d, len(modes), s, position))
        position = position * s
    modes.sort(key=_stride_then_place)
    out_s: list[Any] = []
    out_d: list[Any] = []
    expected = 1
    for d, _, s, p in modes:
        if d == expected and s != 1:
            out_s.append(s)
            out_d.append(p)
            expected = s * d
    if not out_s:
        return make(1, 0, True)
    static = all(type(p) is int for p in out_d)
    if static:
        out_s, out_d = merged(tuple(out_s), tuple(out_d))
        return pack(out_s, out_d, True)
    return coalesce(pack(out_s, out_d, False))


def _stride_then_place(mode: tuple[Any, ...]) -> tuple[Any, Any]:
    return mode[0], mode[1]


def left_inverse(a: AnyLayout | int) -> Any:
    """R with ``R(A(i)) == i`` for all linear coordinates i of an injective ``a``.

    Modes of stride 0 are left out, so the inverse gives the coordinate 0 there; symbolic strides take no part.
    On a composed layout the outer layout is inverted (see `inverse`).

    Raises:
        LayoutError: modes overlap (then ``a`` is not injective), a stride is negative, or a stride is not a multiple
            of the one below it (then no layout is the inverse).
    """
    if isinstance(a, int):
        return Layout(a, 1)
    if not isinstance(a, Layout):
        return a.lift(left_inverse)
    shape, stride = _leaves(a)
    modes: list[tuple[Any, ...]] = []
    position: Any = 1
    for s, d in zip(shape, stride):
        if isinstance(d, Basis):
            d = d.value
        if type(d) is int and d != 0 and not (type(s) is int and s == 1):
            modes.append((d, len(modes), s, position))
        position = position * s
    if not modes:
        return make(1, 0, True)
    modes.sort(key=_stride_then_place)
    out_s: list[Any] = []
    out_d: list[Any] = [0]
    at = 1
    end: Any = 1
    for d, _, s, p in modes:
        if d < 0:
            raise fail("left_inverse", f"stride {d} is negative", a)
        if type(end) is int and d < end:
            raise fail("left_inverse", f"it is not injective: stride {d} is below {end}, where the mode before ends", a)
        if d % at:
            raise fail("left_inverse", f"stride {d} is no multiple of {at}, so no layout is the inverse", a)
        out_s.append(d // at)
        out_d.append(p)
        at = d
        end = d * s
    out_s.append(modes[-1][2])
    static = all(type(x) is int for x in (*out_s, *out_d))
    if static:
        out_s, out_d = merged(tuple(out_s), tuple(out_d))
        return pack(out_s, out_d, True)
    return coalesce(make(tuple(out_s), tuple(out_d), False))


def inverse(a: AnyLayout) -> Any:
    """The inverse function of a bijection: ``inverse(a)(a(c))`` is the linear coordinate of c.

    For a layout, `left_inverse`. For ``swizzle o offset o layout`` the swizzle is undone, the offset subtracted and
    the layout inverted: the result is ``layout^-1 o -offset o [swizzle o 0 o n:1]``.

    Raises:
        LayoutError: the layout has no left inverse, or the swizzle is not its own inverse.
    """
    if isinstance(a, Layout):
        return left_inverse(a)
    if not isinstance(a, ComposedLayout) or not isinstance(a.outer, Layout):
        raise fail("inverse", "only plain layouts and 'swizzle o offset o layout' have an inverse here", a)
    offset = a.offset
    if not isinstance(offset, int):
        raise fail("inverse", "the offset is not a static integer", a)
    if isinstance(a.inner, Swizzle):
        if not a.inner.is_involution:
            raise fail("inverse", "the swizzle is not its own inverse", a)
        n = a.outer.cosize() + offset
        period = a.inner.size()
        domain = make(-(-n // period) * period, 1, True)
        undo: Any = ComposedLayout(a.inner, 0, domain)
    elif isinstance(a.inner, Layout):
        undo = left_inverse(a.inner)
    else:
        raise fail("inverse", "the inner function is no swizzle or plain layout", a)
    return ComposedLayout(left_inverse(a.outer), -offset, undo)

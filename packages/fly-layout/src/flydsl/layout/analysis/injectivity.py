# SPDX-License-Identifier: Apache-2.0
"""Injectivity, with two coordinates that collide as the witness when there is none."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ..basis import Basis
from ..composed import ComposedLayout
from ..coordinates import split_index
from ..errors import LayoutError, LayoutTypeError, fail
from ..int_tuple import flatten, unflatten
from ..layout import Layout
from ..printing import text_of
from ..swizzle import CoordSwizzle, Swizzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout

__all__ = ["Overlap", "find_overlap", "is_bijective", "is_injective"]

_ENUMERATION_LIMIT = 1 << 20
_SEARCH_LIMIT = 200_000


@dataclass(frozen=True)
class Overlap:
    """Two coordinates with one index.

    Attributes:
        first, second: the coordinates, nested like the shape.
        index: where both map to.
    """

    first: Any
    second: Any
    index: Any

    def __str__(self) -> str:
        return f"{text_of(self.first)} and {text_of(self.second)} both map to {text_of(self.index)}"


def is_injective(layout: AnyLayout) -> bool:
    """True when no two coordinates map to the same index; see `find_overlap`."""
    return find_overlap(layout) is None


def is_bijective(layout: AnyLayout) -> bool:
    """True when the layout is a bijection onto ``[0, size)``."""
    n = layout.size()
    return bool(is_injective(layout) and layout.cosize() == n and _starts_at_zero(layout))


def _starts_at_zero(layout: Any) -> bool:
    if isinstance(layout, ComposedLayout):
        if not isinstance(layout.inner, Swizzle) or layout.offset != 0:
            return {layout(i) for i in range(layout.size())} == set(range(layout.size()))
        return _starts_at_zero(layout.outer) and layout.size() % layout.inner.size() == 0
    return all(s == 1 or (type(d) is int and d >= 0) for s, d in zip(flatten(layout.shape), flatten(layout.stride)))


def find_overlap(layout: AnyLayout) -> Overlap | None:
    """Two coordinates with the same index, or None if the layout is injective.

    A plain layout is decided from its modes: with strides that nest no search is needed; otherwise differences of
    coordinates are searched from the largest stride down. The domain is never enumerated, except for layouts
    composed with something other than a swizzle that is its own inverse.

    Raises:
        LayoutError: the layout is not static; or it would have to be enumerated and has more than 2**20 elements; or a
            search over many unrelated strides is given up.
    """
    if isinstance(layout, ComposedLayout):
        if isinstance(layout.inner, Swizzle) and layout.inner.is_involution:
            found = find_overlap(layout.outer)
            return None if found is None else Overlap(found.first, found.second, layout(found.first))
        return _enumerated(layout)
    if not isinstance(layout, Layout):
        raise fail("find_overlap", "the operand is no layout", layout, kind=LayoutTypeError)
    if not layout.is_static:
        raise fail("find_overlap", "the layout is not static; specialize it first", layout)
    shape, stride = flatten(layout.shape), flatten(layout.stride)
    if 0 in shape:
        return None
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, d in enumerate(stride):
        groups.setdefault(d.path if isinstance(d, Basis) else (), []).append(i)
    for members in groups.values():
        extents = [shape[i] for i in members]
        steps = [stride[i].value if isinstance(stride[i], Basis) else stride[i] for i in members]
        difference = _difference(extents, steps)
        if difference is not None:
            first = [0] * len(shape)
            second = [0] * len(shape)
            for i, x in zip(members, difference):
                first[i], second[i] = max(0, x), max(0, -x)
            a, b = unflatten(tuple(first), layout.shape), unflatten(tuple(second), layout.shape)
            return Overlap(a, b, layout(a))
    return None


def _difference(shape: list[int], stride: list[int]) -> list[int] | None:
    """Integers ``x``, not all 0, with ``|x_i| < shape_i`` and ``sum(x_i * stride_i) == 0``; None if there are none."""
    order = sorted((i for i in range(len(shape)) if shape[i] > 1), key=lambda i: -abs(stride[i]))
    for i in order:
        if stride[i] == 0:
            return [1 if j == i else 0 for j in range(len(shape))]
    # What the modes from each place on can add up to, and the gcd of their strides.
    reach = [0] * (len(order) + 1)
    common = [0] * (len(order) + 1)
    for place in range(len(order) - 1, -1, -1):
        i = order[place]
        reach[place] = reach[place + 1] + (shape[i] - 1) * abs(stride[i])
        common[place] = gcd(common[place + 1], stride[i])
    dead: set[tuple[int, int, bool]] = set()
    chosen = [0] * len(shape)
    steps = 0

    def search(place: int, total: int, nonzero: bool) -> bool:
        nonlocal steps
        steps += 1
        if steps > _SEARCH_LIMIT:
            raise LayoutError(f"find_overlap: gave up on {Layout(tuple(shape), tuple(stride))} after {steps} steps")
        if place == len(order):
            return nonzero and total == 0
        if (place, total, nonzero) in dead:
            return False
        i = order[place]
        for x in _candidates(total, abs(stride[i]), shape[i] - 1, reach[place + 1], common[place + 1]):
            chosen[i] = x if stride[i] > 0 else -x
            if search(place + 1, total + x * abs(stride[i]), nonzero or x != 0):
                return True
        chosen[i] = 0
        dead.add((place, total, nonzero))
        return False

    return chosen if search(0, 0, False) else None


def _candidates(total: int, d: int, most: int, reach: int, common: int) -> range:
    """The x with ``|x| <= most`` for which multiples of ``common`` up to ``reach`` can cancel ``total + x * d``."""
    low = max(-most, -((total + reach) // d))
    high = min(most, (reach - total) // d)
    if common == 0:
        return range(low, high + 1) if total % d == 0 else range(0)
    g = gcd(d, common)
    if total % g:
        return range(0)
    period = common // g
    x = -total // g * pow(d // g, -1, period) % period if period > 1 else 0
    return range(low + (x - low) % period, high + 1, period)


def _enumerated(layout: ComposedLayout) -> Overlap | None:
    n = layout.size()
    if type(n) is not int or n > _ENUMERATION_LIMIT:
        raise fail("find_overlap", f"only layouts of at most {_ENUMERATION_LIMIT} elements can be enumerated", layout)
    if isinstance(layout.inner, CoordSwizzle) and layout.inner.row_path != layout.inner.col_path:
        found = find_overlap(layout.outer)
        return None if found is None else Overlap(found.first, found.second, layout(found.first))
    seen: dict[Any, int] = {}
    for i in range(n):
        index = layout(i)
        if index in seen:
            return Overlap(split_index(seen[index], layout.shape), split_index(i, layout.shape), index)
        seen[index] = i
    return None

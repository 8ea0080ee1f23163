# SPDX-License-Identifier: Apache-2.0
"""Sizes of domain and co-domain."""

from __future__ import annotations

from ..basis import Basis, accumulate
from ..errors import LayoutTypeError, fail
from ..int_tuple import depth_of, flatten, product, transform_leaves
from ..layout import Layout, LayoutLike, flat_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..swizzle import Swizzle
    from ..tile import Tile
    from ..types import AnyLayout, Nested

__all__ = ["coprofile", "coshape", "cosize", "depth", "rank", "size"]


def rank(x: Nested | Tile) -> int:
    """Number of modes of an int-tuple, tile or layout; a leaf has rank 1."""
    if isinstance(x, LayoutLike):
        return x.rank
    if type(x) is tuple:
        return len(x)
    return getattr(x, "rank", 1)


def depth(x: Nested) -> int:
    """Nesting depth of an int-tuple or of a layout's shape; a leaf has depth 0."""
    return x.depth if isinstance(x, LayoutLike) else depth_of(x)


def size(x: Nested) -> Any:
    """Number of elements: the product of all leaves of an int-tuple or of a layout's shape."""
    if type(x) is Layout:
        return product(x._shape)
    if type(x) is tuple:
        return product(x)
    if isinstance(x, LayoutLike):
        return product(x.shape)
    size_of = getattr(x, "size", None)
    if size_of is not None and not isinstance(x, int):
        return size_of()
    return x


def coprofile(x: LayoutLike) -> Any:
    """The profile of the co-domain: 0 for integer strides, a tuple of zeros for basis strides.

    Raises:
        LayoutTypeError: basis strides of incompatible depths are mixed.
    """
    layout = x.plain()
    if layout._static:
        return 0
    paths = [d.path if isinstance(d, Basis) else () for d in flatten(layout._stride) if not _is_zero(d)]
    return _profile_of(paths, layout)


def _is_zero(d: Any) -> bool:
    return type(d) is int and d == 0


def _profile_of(paths: list[tuple[int, ...]], layout: Any) -> Any:
    if not any(paths):
        return 0
    if not all(paths):
        raise fail("coprofile", "basis strides of incompatible depths are mixed", layout, kind=LayoutTypeError)
    modes = range(1 + max(p[0] for p in paths))
    return tuple([_profile_of([p[1:] for p in paths if p[0] == m], layout) for m in modes])


def coshape(x: LayoutLike) -> Any:
    """``1 + sum((extent - 1) * stride)``, with the 1 added to every leaf of the co-domain.

    For a composed layout this is a property of its outermost plain layout. Negative strides count as they are.
    """
    layout = x.plain()
    total: Any = 0
    for s, d in zip(*flat_of(layout)):
        total = accumulate(total, (s - 1) * d)
    return transform_leaves(lambda leaf: leaf + 1, total.as_coordinate() if isinstance(total, Basis) else total)


def cosize(x: AnyLayout | Swizzle) -> Any:
    """Product of the leaves of `coshape`; for integer strides one more than the index of the last coordinate."""
    if not isinstance(x, LayoutLike):
        return x.cosize()
    layout = x.plain()
    if layout._static:
        total = 1
        for s, d in zip(*flat_of(layout)):
            total += (s - 1) * d
        return total
    return product(coshape(layout))

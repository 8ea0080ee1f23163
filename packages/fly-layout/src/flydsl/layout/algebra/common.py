# SPDX-License-Identifier: Apache-2.0
"""What two layouts have in common, and what one layout forgets."""

from __future__ import annotations

from ..errors import LayoutTypeError, fail
from ..layout import Layout, flat_of, make
from .coalesce import coalesce, pack
from .inverse import right_inverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout

__all__ = ["max_common_layout", "max_common_vector", "nullspace"]


def max_common_layout(a: AnyLayout, b: AnyLayout) -> Layout:
    """The longest layout R of linear coordinates that is contiguous in both: ``a(R(i)) == b(R(i)) == i``.

    It describes the elements that can be copied from ``a`` to ``b`` as one vector, whatever their coordinates are.
    """
    if not isinstance(a, Layout) or not isinstance(b, Layout):
        raise fail("max_common_layout", "both operands are plain layouts", a, b, kind=LayoutTypeError)
    out_s: list[Any] = []
    out_d: list[Any] = []
    # The inverses agree on a prefix of their modes, and then on the shorter of two extents of equal stride.
    for s, d, t, e in zip(*flat_of(right_inverse(a)), *flat_of(right_inverse(b))):
        if d != e or type(d) is not int:
            break
        out_s.append(min(s, t))
        out_d.append(d)
        if s != t:
            break
    return pack(out_s, out_d, True) if out_s else make(1, 0, True)


def max_common_vector(a: AnyLayout, b: AnyLayout) -> int:
    """Number of elements of `max_common_layout`."""
    common = max_common_layout(a, b)
    n = common.size()
    assert isinstance(n, int)
    return n


def nullspace(a: Layout) -> Layout:
    """The linear coordinates of ``a`` that map to 0 through modes of stride 0, as a layout.

    Law: ``a(nullspace(a)(i)) == 0``; it is ``1:0`` when no mode has stride 0.
    """
    if not isinstance(a, Layout):
        raise fail("nullspace", "the operand is no plain layout", a, kind=LayoutTypeError)
    out_s = []
    out_d = []
    position: Any = 1
    for s, d in zip(*flat_of(a)):
        if type(d) is int and d == 0 and not (type(s) is int and s == 1):
            out_s.append(s)
            out_d.append(position)
        position = position * s
    if not out_s:
        return make(1, 0, True)
    static = all(type(x) is int for x in (*out_s, *out_d))
    result: Layout = coalesce(pack(out_s, out_d, static))
    return result

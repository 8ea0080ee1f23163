# SPDX-License-Identifier: Apache-2.0
"""What two layouts have in common, and what one layout forgets."""

from __future__ import annotations

from ..errors import LayoutTypeError, fail
from ..int_tuple import flatten
from ..layout import Layout, make
from .coalesce import coalesce, pack
from .composition import composition
from .inverse import right_inverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["max_common_layout", "max_common_vector", "nullspace"]


def max_common_layout(a: Any, b: Any) -> Layout:
    """The longest layout R of linear coordinates that is contiguous in both: ``a(R(i)) == b(R(i)) == i``.

    It describes the elements that can be copied from ``a`` to ``b`` as one vector, whatever their coordinates are.
    """
    if not isinstance(a, Layout) or not isinstance(b, Layout):
        raise fail("max_common_layout", "both operands are plain layouts", a, b, kind=LayoutTypeError)
    inverse = right_inverse(b)
    common = coalesce(composition(a, inverse))
    shape, stride = flatten(common._shape), flatten(common._stride)
    if stride[0] == 1 and type(shape[0]) is int and shape[0] > 1:
        result: Layout = coalesce(composition(inverse, make(shape[0], 1, True)))
        return result
    return make(1, 0, True)


def max_common_vector(a: Any, b: Any) -> int:
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
    for s, d in zip(flatten(a._shape), flatten(a._stride)):
        if type(d) is int and d == 0 and not (type(s) is int and s == 1):
            out_s.append(s)
            out_d.append(position)
        position = position * s
    if not out_s:
        return make(1, 0, True)
    static = all(type(x) is int for x in (*out_s, *out_d))
    result: Layout = coalesce(pack(out_s, out_d, static))
    return result

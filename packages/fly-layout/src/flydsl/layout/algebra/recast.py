# SPDX-License-Identifier: Apache-2.0
"""Recast: the same bits seen as elements of another width."""

from __future__ import annotations

from math import gcd

from ..composed import ComposedLayout
from ..errors import LayoutError, LayoutTypeError, fail, within
from ..layout import Layout, LayoutLike, make
from ..swizzle import CoordSwizzle, Swizzle
from ..symbolic import SymInt, ceil_div_leaf, exact_div_leaf, is_scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import AnyLayout

__all__ = ["downcast", "recast_layout", "upcast"]


def recast_layout(a: AnyLayout, old_bits: int, new_bits: int) -> Any:
    """The layout of the same bits in elements of ``new_bits`` instead of ``old_bits``.

    Law: with every extent that the new width merges divisible, the set of bits that each mode reaches is kept.
    Wider elements merge along the modes of small stride (`upcast`), narrower ones lengthen the contiguous mode
    (`downcast`); widths without a whole ratio do both. Non-positive or equal widths change nothing.

    Raises:
        LayoutError: a stride neither divides nor is divided by the ratio, or a swizzle's base would get negative.
    """
    if type(old_bits) is not int or type(new_bits) is not int:
        raise fail("recast_layout", "the widths are integers, in bits", a, old_bits, new_bits, kind=LayoutTypeError)
    if old_bits <= 0 or new_bits <= 0 or old_bits == new_bits:
        return a
    g = gcd(old_bits, new_bits)
    result = a
    try:
        if new_bits // g > 1:
            result = upcast(result, new_bits // g)
        if old_bits // g > 1:
            result = downcast(result, old_bits // g)
    except LayoutError as e:
        raise within(e, "recast_layout", a, old_bits, new_bits) from None
    return result


def upcast(a: AnyLayout, factor: int) -> Any:
    """The layout in elements that are ``factor`` times as wide.

    A leaf ``s:d`` becomes ``ceil(s / k) : ceil(|d| / factor)`` with ``k = ceil(factor / |d|)``, the sign kept.
    """
    _check_factor("upcast", a, factor)
    if isinstance(a, ComposedLayout):
        return _composed("upcast", a, factor, -1, upcast)
    return _leafwise("upcast", a, lambda s, d: _up(s, d, factor))


def downcast(a: AnyLayout, factor: int) -> Any:
    """The layout in elements ``factor`` times as narrow: ``s:1`` becomes ``s*factor:1``, ``s:d`` ``s:d*factor``."""
    _check_factor("downcast", a, factor)
    if isinstance(a, ComposedLayout):
        return _composed("downcast", a, factor, 1, downcast)
    return _leafwise("downcast", a, lambda s, d: (s * factor, d) if d in (1, -1) else (s, d * factor))


def _check_factor(operation: str, a: Any, factor: int) -> None:
    if type(factor) is not int or factor < 1:
        raise fail(operation, "the factor is a positive integer", a, factor)


def _leafwise(operation: str, a: Any, f: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    if not isinstance(a, LayoutLike):
        raise fail(operation, "the operand is no layout", a, kind=LayoutTypeError)

    def tree(s: Any, d: Any) -> tuple[Any, Any]:
        if type(s) is tuple:
            parts = [tree(x, y) for x, y in zip(s, d)]
            return tuple([p[0] for p in parts]), tuple([p[1] for p in parts])
        if not is_scalar(d):
            raise LayoutTypeError(f"stride {d} is a basis element, which has no width")
        return f(s, d)

    def whole(layout: Layout) -> Layout:
        try:
            shape, stride = tree(layout._shape, layout._stride)
        except LayoutError as e:
            raise fail(operation, str(e), a) from None
        return Layout(shape, stride) if not layout._static else make(shape, stride, True)

    return a.lift(whole)


def _up(s: Any, d: Any, factor: int) -> tuple[Any, Any]:
    if isinstance(d, SymInt):
        if d.div % factor:
            raise LayoutError(f"the symbolic stride {d} is not known to be a multiple of {factor}")
        return s, exact_div_leaf(d, factor)
    if d == 0:
        return s, d
    size = abs(d)
    if size % factor and factor % size:
        raise LayoutError(f"stride {d} and the ratio {factor}: neither divides the other")
    k = -(-factor // size)
    stride = -(-size // factor)
    return (-(-s // k) if type(s) is int else ceil_div_leaf(s, k)), (stride if d > 0 else -stride)


def _composed(operation: str, a: ComposedLayout, factor: int, direction: int, f: Callable[[Any, int], Any]) -> Any:
    inner = a.inner
    if isinstance(inner, (Swizzle, CoordSwizzle)):
        if factor & (factor - 1):
            raise fail(operation, f"a swizzle needs a power of two, not the ratio {factor}", a)
        step = direction * (factor.bit_length() - 1)
        bases = (inner.base,) if isinstance(inner, Swizzle) else (inner.row_base, inner.col_base)
        if min(bases) + step < 0:
            raise fail(operation, f"the swizzle base would become negative (ratio {factor})", a)
        if isinstance(inner, Swizzle):
            inner = Swizzle(inner.bits, inner.base + step, inner.shift)
        else:
            inner = CoordSwizzle(
                inner.bits, inner.row_base + step, inner.row_path, inner.col_base + step, inner.col_path
            )
    else:
        inner = f(inner, factor)
    offset = a.offset
    if not is_scalar(offset):
        raise fail(operation, "the offset is no single integer", a)
    if direction > 0:
        offset = offset * factor
    else:
        known = offset.div if isinstance(offset, SymInt) else offset
        if known % factor:
            raise fail(operation, f"the offset is no multiple of {factor}", a)
        offset = exact_div_leaf(offset, factor)
    return ComposedLayout(inner, offset, f(a.outer, factor))

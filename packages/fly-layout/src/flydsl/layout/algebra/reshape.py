# SPDX-License-Identifier: Apache-2.0
"""The same function of the linear coordinate under another shape."""

from __future__ import annotations

from ..errors import LayoutError, LayoutTypeError, fail, within
from ..int_tuple import flatten, product, unflatten
from ..layout import Layout, LayoutLike, make
from .composition import composition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout, IntTuple, Shape

__all__ = ["flat_layout", "sort_modes", "unflatten_layout", "with_shape"]


def with_shape(a: AnyLayout, shape: Shape) -> Any:
    """``a`` with its domain rearranged as ``shape``, column-major: ``composition(a, Layout(shape))``.

    Law: the linear coordinate keeps its index, ``with_shape(L, s)(i) == L(i)``.

    Raises:
        LayoutError: the sizes differ, or ``shape`` does not split over the modes of ``a``.
    """
    if not isinstance(a, LayoutLike):
        raise fail("with_shape", "the operand is no layout", a, shape, kind=LayoutTypeError)
    if product(a.shape) != product(shape):
        raise fail("with_shape", "the sizes differ", a, shape)
    try:
        return composition(a, Layout(shape))
    except LayoutError as e:
        raise within(e, "with_shape", a, shape) from None


def flat_layout(a: AnyLayout) -> Any:
    """The layout with all nesting removed; a leaf stays a leaf."""

    def flat(layout: Layout) -> Layout:
        if type(layout._shape) is not tuple:
            return layout
        return make(flatten(layout._shape), flatten(layout._stride), layout._static)

    return a.lift(flat)


def unflatten_layout(a: Layout, profile: IntTuple) -> Layout:
    """A flat layout in the nesting of ``profile``."""
    return make(unflatten(flatten(a._shape), profile), unflatten(flatten(a._stride), profile), a._static)


def sort_modes(a: Layout) -> Layout:
    """The flat layout with its modes in ascending order of their (static) strides.

    Raises:
        LayoutError: a stride is not a static integer.
    """
    modes = list(zip(flatten(a._stride), flatten(a._shape)))
    if not all(type(d) is int for d, _ in modes):
        raise fail("sort_modes", "every stride has to be a static integer", a)
    modes.sort(key=lambda mode: mode[0])
    if len(modes) == 1:
        return make(modes[0][1], modes[0][0], a._static)
    return make(tuple([s for _, s in modes]), tuple([d for d, _ in modes]), a._static)

# SPDX-License-Identifier: Apache-2.0
"""Coordinate tensors: a base index or coordinate, and a layout on top of it; no memory behind it."""

from __future__ import annotations

from .basis import accumulate
from .errors import LayoutTypeError, fail
from .int_tuple import has_none, is_int_tuple, is_static, specialize_tuple
from .layout import Layout, LayoutLike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CoordTensor"]


class CoordTensor(LayoutLike):
    """``c -> base + layout(c)``. With basis strides its elements are the coordinates of a larger tensor.

    Slicing moves the fixed coordinates into the base, so a partition of a tensor keeps track of where it lies.
    """

    __slots__ = ("_base", "_layout")
    _base: Any
    _layout: Any

    def __init__(self, base: Any, layout: Any) -> None:
        from .composed import ComposedLayout

        if not isinstance(layout, (Layout, ComposedLayout)):
            raise LayoutTypeError(f"CoordTensor: {layout!r} is no layout")
        if base is None or not is_int_tuple(base):
            raise LayoutTypeError(f"CoordTensor: base {base!r} is no int-tuple")
        self._base = base
        self._layout = layout

    @property
    def base(self) -> Any:
        """Index or coordinate of the first element."""
        return self._base

    @property
    def layout(self) -> Any:
        """The layout on top of the base."""
        return self._layout

    @property
    def shape(self) -> Any:
        """Shape of the domain."""
        return self._layout.shape

    @property
    def is_static(self) -> bool:
        """True when no leaf is symbolic."""
        return is_static(self._base) and bool(self._layout.is_static)

    def lift(self, f: Callable[[Any], Any]) -> CoordTensor:
        """The same base with ``f`` applied to the layout."""
        return CoordTensor(self._base, self._layout.lift(f))

    def plain(self) -> Layout:
        """The outermost plain layout."""
        return self._layout.plain()  # type: ignore[no-any-return]

    def __call__(self, *coord: Any) -> Any:
        """The element at a coordinate; with None in it, the sub-tensor."""
        crd = coord[0] if len(coord) == 1 else coord
        if crd is None or has_none(crd):
            from .modes import slice_

            return slice_(self, crd)
        return accumulate(self._base, self._layout(crd))

    def decomposition(self) -> CoordTensor:
        """The tensor with a composed layout's ``inner(offset)`` folded into the base and the plain layout kept.

        Only the first element is sure to be the same: the fold assumes that the plain layout stays inside a part on
        which ``inner`` is an offset.
        """
        from .composed import ComposedLayout

        layout = self._layout
        if isinstance(layout, Layout):
            return self
        value: Any = 0
        chain = []
        while isinstance(layout, ComposedLayout):
            chain.append(layout)
            layout = layout.outer
        for part in reversed(chain):
            value = part.inner(accumulate(part.offset, value))
        return CoordTensor(accumulate(self._base, value), layout)

    def specialize(self, **values: int) -> CoordTensor:
        """The tensor with named symbolic integers replaced."""
        return CoordTensor(specialize_tuple(self._base, values), self._layout.specialize(**values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoordTensor) and (self._base, self._layout) == (other._base, other._layout)

    def __hash__(self) -> int:
        return hash((self._base, self._layout))

    def __reduce__(self) -> tuple[type[CoordTensor], tuple[Any, Any]]:
        return (CoordTensor, (self._base, self._layout))

    def __repr__(self) -> str:
        return f"CoordTensor({self._base!r}, {self._layout!r})"

    def __str__(self) -> str:
        from .text.printing import text_of

        return text_of(self)


def make_view(base: Any, layout: Any) -> CoordTensor:
    """A `CoordTensor`, after checking that the base fits the co-domain of the layout.

    Raises:
        LayoutError: the layout has basis strides and the base is not congruent with its co-domain.
    """
    from .algebra.sizes import coprofile
    from .int_tuple import congruent

    tensor = CoordTensor(base, layout)
    if isinstance(layout, Layout):
        profile = coprofile(layout)
        if not congruent(base, profile):
            raise fail("make_view", "the base is not congruent with the co-domain of the layout", base, layout)
    return tensor

# SPDX-License-Identifier: Apache-2.0
"""Composed layouts: ``c -> inner(offset + outer(c))``."""

from __future__ import annotations

from .basis import accumulate
from .coordinates import evaluate
from .errors import LayoutTypeError
from .int_tuple import has_none, is_int_tuple, is_static, specialize_tuple
from .layout import Layout, LayoutLike
from .swizzle import CoordSwizzle, Swizzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["ComposedLayout"]


class ComposedLayout(LayoutLike):
    """``inner o offset o outer``, the function ``c -> inner(offset + outer(c))``. Immutable and hashable.

    Args:
        inner: a `Swizzle`, `CoordSwizzle`, `Layout` or `ComposedLayout`.
        offset: an index (or coordinate) added before ``inner`` is applied.
        outer: the `Layout` or `ComposedLayout` that has the domain.

    The algebra acts on the outer layout and keeps inner and offset.
    """

    __slots__ = ("_inner", "_offset", "_outer")
    _inner: Any
    _offset: Any
    _outer: Any

    def __init__(self, inner: Any, offset: Any, outer: Any) -> None:
        if not isinstance(inner, (Swizzle, CoordSwizzle, Layout, ComposedLayout)):
            raise LayoutTypeError(f"ComposedLayout: inner is a {type(inner).__name__}, not a swizzle or layout")
        if not isinstance(outer, (Layout, ComposedLayout)):
            raise LayoutTypeError(f"ComposedLayout: outer is a {type(outer).__name__}, not a layout")
        if offset is None or not is_int_tuple(offset):
            raise LayoutTypeError(f"ComposedLayout: offset {offset!r} is no int-tuple")
        self._inner = inner
        self._offset = offset
        self._outer = outer

    @property
    def inner(self) -> Any:
        """What is applied last: a swizzle or layout."""
        return self._inner

    @property
    def offset(self) -> Any:
        """The index added before ``inner``."""
        return self._offset

    @property
    def outer(self) -> Any:
        """The layout that is applied first and has the domain."""
        return self._outer

    @property
    def shape(self) -> Any:
        """Shape of the outermost plain layout."""
        return self._outer.shape

    @property
    def is_static(self) -> bool:
        """True when no leaf of inner, offset or outer is symbolic."""
        return getattr(self._inner, "is_static", True) and is_static(self._offset) and self._outer.is_static

    def lift(self, f: Callable[[Any], Any]) -> ComposedLayout:
        """``inner o offset o f(outer)``."""
        return ComposedLayout(self._inner, self._offset, self._outer.lift(f))

    def plain(self) -> Layout:
        """The outermost plain layout."""
        return self._outer.plain()  # type: ignore[no-any-return]

    def __call__(self, *coord: Any) -> Any:
        """The index of a coordinate; with None in it, the sub-layout, the fixed part going into the offset."""
        crd = coord[0] if len(coord) == 1 else coord
        if crd is None or has_none(crd):
            from .modes import slice_

            return slice_(self, crd)
        outer = self._outer
        index = evaluate(crd, outer._shape, outer._stride) if isinstance(outer, Layout) else outer(crd)
        return self._inner(accumulate(self._offset, index))

    def inverse(self) -> ComposedLayout:
        """The true inverse function of a bijection ``swizzle o offset o layout`` onto ``[0, n)``.

        Unlike `left_inverse`, which by the contract acts on the outer layout alone.
        """
        from .algebra.inverse import inverse

        return inverse(self)  # type: ignore[no-any-return]

    def specialize(self, **values: int) -> ComposedLayout:
        """The composed layout with named symbolic integers replaced."""
        inner = self._inner.specialize(**values) if isinstance(self._inner, LayoutLike) else self._inner  # type: ignore[attr-defined]
        return ComposedLayout(inner, specialize_tuple(self._offset, values), self._outer.specialize(**values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposedLayout) and (self._inner, self._offset, self._outer) == (
            other._inner,
            other._offset,
            other._outer,
        )

    def __hash__(self) -> int:
        return hash((self._inner, self._offset, self._outer))

    def __reduce__(self) -> tuple[type[ComposedLayout], tuple[Any, Any, Any]]:
        return (ComposedLayout, (self._inner, self._offset, self._outer))

    def __repr__(self) -> str:
        return f"ComposedLayout({self._inner!r}, {self._offset!r}, {self._outer!r})"

    def __str__(self) -> str:
        from .text.printing import text_of

        return text_of(self)

# SPDX-License-Identifier: Apache-2.0
"""What is built around a layout: composed layouts ``c -> inner(offset + outer(c))``, and coordinate tensors
``c -> base + layout(c)``, which have no memory behind them.
"""

from __future__ import annotations

from . import above
from .basis import accumulate, basis_get
from .coordinates import evaluate
from .errors import LayoutTypeError
from .int_tuple import has_none, is_int_tuple, is_static, specialize_tuple
from .layout import Layout, LayoutLike, fixed
from .printing import text_of
from .swizzle import CoordSwizzle, Swizzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .types import Coord

__all__ = ["ComposedLayout", "CoordTensor"]


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
            return self.slice(crd)
        outer = self._outer
        index = evaluate(crd, outer._shape, outer._stride) if isinstance(outer, Layout) else outer(crd)
        return self._inner(accumulate(self._offset, index))

    def slice(self, coord: Coord) -> ComposedLayout:
        """See `flydsl.layout.slice_`; the fixed coordinates move into the offset of the innermost part."""
        outer = self._outer
        offset = accumulate(self._offset, fixed(outer, coord)) if isinstance(outer, Layout) else self._offset
        return ComposedLayout(self._inner, offset, outer.slice(coord))

    def inverse(self) -> ComposedLayout:
        """The true inverse function of a bijection ``swizzle o offset o layout`` onto ``[0, n)``.

        Unlike `left_inverse`, which acts on the outer layout alone, as that of the dialect does.
        """
        return above.inverse(self)  # type: ignore[no-any-return]

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

    def _text(self, names: bool) -> str:
        outer = text_of(self._outer, names)
        if isinstance(self._outer, ComposedLayout):
            outer = f"[{outer}]"
        return f"{text_of(self._inner, names)} o {text_of(self._offset, names)} o {outer}"

    def __str__(self) -> str:
        return self._text(True)


class CoordTensor(LayoutLike):
    """``c -> base + layout(c)``. With basis strides its elements are the coordinates of a larger tensor.

    Slicing moves the fixed coordinates into the base, so a partition of a tensor keeps track of where it lies.
    """

    __slots__ = ("_base", "_layout")
    _base: Any
    _layout: Any

    def __init__(self, base: Any, layout: Any) -> None:
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
            return self.slice(crd)
        return accumulate(self._base, self._layout(crd))

    def slice(self, coord: Coord) -> CoordTensor:
        """See `flydsl.layout.slice_`; the fixed coordinates move into the base."""
        layout = self._layout
        base = accumulate(self._base, fixed(layout, coord)) if isinstance(layout, Layout) else self._base
        return CoordTensor(base, layout.slice(coord))

    def _at(self, path: tuple[int, ...]) -> CoordTensor:
        base = basis_get(path, self._base, "get") if type(self._base) is tuple else self._base
        return CoordTensor(base, self._layout._at(path))

    def decomposition(self) -> CoordTensor:
        """The tensor with a composed layout's ``inner(offset)`` folded into the base and the plain layout kept.

        Only the first element is sure to be the same: the fold assumes that the plain layout stays inside a part on
        which ``inner`` is an offset.
        """
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

    def _text(self, names: bool) -> str:
        return f"coord_tensor<{text_of(self._base, names)}, {text_of(self._layout, names)}>"

    def __str__(self) -> str:
        return self._text(True)

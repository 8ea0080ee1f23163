# SPDX-License-Identifier: Apache-2.0
"""The layout: a function from coordinates to indices, written ``shape:stride``."""

from __future__ import annotations

from . import above
from .basis import Basis
from .coordinates import dot, evaluate, flat_coord, idx2crd_shape, linear, linear_coord, split_index
from .errors import LayoutError, LayoutTypeError, fail
from .int_tuple import (
    MAX_DEPTH,
    depth_of,
    flatten,
    has_none,
    is_static,
    prefix_product,
    product,
    specialize_tuple,
    too_deep,
)
from .printing import text_of
from .symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from typing_extensions import Self

    from .symbolic import Scalar
    from .types import Coord, IntTuple, Shape, Stride, Tiler

__all__ = ["Layout", "LayoutLike", "is_layout"]


class LayoutLike:
    """Base of everything with the domain of a layout: `Layout`, `ComposedLayout` and `CoordTensor`.

    The algebra acts on the (outermost) plain layout of such a value and keeps the rest.
    """

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """Shape of the domain."""
        raise NotImplementedError

    def lift(self, f: Callable[[Any], Any]) -> Any:
        """``f`` applied to the plain layout inside, with everything around it kept."""
        raise NotImplementedError

    def plain(self) -> Layout:
        """The (outermost) plain layout, which has the domain."""
        raise NotImplementedError

    # -- size and structure --------------------------------------------------------------------------------------
    @property
    def rank(self) -> int:
        """Number of modes."""
        shape = self.shape
        return len(shape) if type(shape) is tuple else 1

    @property
    def depth(self) -> int:
        """Nesting depth of the shape; a leaf has 0."""
        return depth_of(self.shape)

    def __len__(self) -> int:
        shape = self.shape
        return len(shape) if type(shape) is tuple else 1

    def size(self) -> Any:
        """Number of elements of the domain."""
        return product(self.shape)

    def cosize(self) -> Any:
        """One more than the index of the last coordinate; for basis strides the product over the co-domain."""
        return above.cosize(self)

    def __getitem__(self, mode: int | tuple[int, ...] | list[int]) -> Self:
        if type(mode) is int:
            n = len(self)
            if not -n <= mode < n:
                raise IndexError(f"mode {mode} of {self}, which has rank {n}")
            if type(self.shape) is not tuple:
                return self
            return self._at((mode % n,))  # type: ignore[no-any-return]
        return above.get(self, tuple(mode))  # type: ignore[arg-type, no-any-return]

    def __iter__(self) -> Iterator[Self]:
        for i in range(len(self)):
            yield self[i]

    # -- algebra, as methods; the free functions of the same names are the definitions -----------------------------
    def coalesce(self, pattern: IntTuple = None) -> Self:
        """See `flydsl.layout.coalesce`."""
        return above.coalesce(self, pattern)  # type: ignore[no-any-return]

    def filter(self, pattern: IntTuple = None) -> Self:
        """See `flydsl.layout.filter`."""
        return above.filter(self, pattern)  # type: ignore[no-any-return]

    def compose(self, other: Tiler) -> Any:
        """See `flydsl.layout.composition`; ``self.compose(other)`` is ``self`` after ``other``."""
        return above.composition(self, other)

    composition = compose

    def complement(self, codomain: Scalar | None = None) -> Any:
        """See `flydsl.layout.complement`."""
        return above.complement(self, codomain)

    def right_inverse(self) -> Any:
        """See `flydsl.layout.right_inverse`."""
        return above.right_inverse(self)

    def left_inverse(self) -> Any:
        """See `flydsl.layout.left_inverse`."""
        return above.left_inverse(self)

    def logical_divide(self, divisor: Tiler) -> Any:
        """See `flydsl.layout.logical_divide`."""
        return above.logical_divide(self, divisor)

    def zipped_divide(self, divisor: Tiler) -> Any:
        """See `flydsl.layout.zipped_divide`."""
        return above.zipped_divide(self, divisor)

    def tiled_divide(self, divisor: Tiler) -> Any:
        """See `flydsl.layout.tiled_divide`."""
        return above.tiled_divide(self, divisor)

    def flat_divide(self, divisor: Tiler) -> Any:
        """See `flydsl.layout.flat_divide`."""
        return above.flat_divide(self, divisor)

    def logical_product(self, tiler: Tiler) -> Any:
        """See `flydsl.layout.logical_product`."""
        return above.logical_product(self, tiler)

    def blocked_product(self, tiler: Tiler) -> Any:
        """See `flydsl.layout.blocked_product`."""
        return above.blocked_product(self, tiler)

    def raked_product(self, tiler: Tiler) -> Any:
        """See `flydsl.layout.raked_product`."""
        return above.raked_product(self, tiler)

    def recast(self, old_bits: int, new_bits: int) -> Any:
        """See `flydsl.layout.recast_layout`."""
        return above.recast_layout(self, old_bits, new_bits)

    def with_shape(self, shape: Shape) -> Any:
        """See `flydsl.layout.with_shape`."""
        return above.with_shape(self, shape)

    def slice(self, coord: Coord) -> Any:
        """See `flydsl.layout.slice_`."""
        raise NotImplementedError

    def _at(self, path: tuple[int, ...]) -> Any:
        """The sub-mode at a path that exists, see `flydsl.layout.get`."""
        return self.lift(lambda layout: layout._at(path))

    # -- notebooks -----------------------------------------------------------------------------------------------
    def _repr_svg_(self) -> str | None:
        return above.pictures.notebook_svg(self)  # type: ignore[no-any-return]

    def _repr_html_(self) -> str | None:
        return above.pictures.notebook_html(self)  # type: ignore[no-any-return]


class Layout(LayoutLike):
    """``shape:stride``: coordinate ``c`` maps to the inner product of ``c`` with the strides.

    ``Layout(shape)`` is compact and column-major; ``Layout(shape, stride)`` is as written; ``Layout(text)`` parses
    either.
    A coordinate may be a linear index, one coordinate per mode, or nested like the shape. Immutable and hashable.

    Raises:
        LayoutError: shape and stride are not congruent, an extent is negative, or the text is no layout.
        LayoutTypeError: a leaf is no integer (strides may also be basis elements).
    """

    __slots__ = ("_flat", "_shape", "_static", "_stride")
    _shape: Any
    _stride: Any
    _static: bool  # known to have only ints as leaves
    _flat: tuple[tuple[Any, ...], tuple[Any, ...]] | None  # flattened shape and stride, once they were needed

    def __init__(self, shape: Any, stride: Any = None) -> None:
        self._flat = None
        if type(shape) is tuple:
            if type(stride) is tuple:
                if _static_pair(shape, stride):
                    self._shape = shape
                    self._stride = stride
                    self._static = True
                    return
            elif stride is None:
                compact = _static_compact(shape, 1)
                if compact:
                    self._shape = shape
                    self._stride = compact[0]
                    self._static = True
                    return
        self._shape, self._stride, self._static = _checked(shape, stride)

    # -- parts ---------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> Any:
        """Extents, an int-tuple."""
        return self._shape

    @property
    def stride(self) -> Any:
        """Strides, congruent with the shape."""
        return self._stride

    @property
    def is_static(self) -> bool:
        """True when no leaf is symbolic."""
        return self._static or (is_static(self._shape) and is_static(self._stride))

    @property
    def is_leaf(self) -> bool:
        """True when the shape is a single integer."""
        return type(self._shape) is not tuple

    def lift(self, f: Callable[[Any], Any]) -> Any:
        """``f(self)``."""
        return f(self)

    def plain(self) -> Layout:
        """The layout itself."""
        return self

    def size(self) -> Any:
        """Number of elements of the domain."""
        return product(self._shape)

    def __getitem__(self, mode: int | tuple[int, ...] | list[int]) -> Layout:
        """The mode, or the sub-mode at a path."""
        if type(mode) is int and type(self._shape) is tuple:
            try:
                return make(self._shape[mode], self._stride[mode], self._static)
            except IndexError:
                pass
        return super().__getitem__(mode)

    # -- evaluation ----------------------------------------------------------------------------------------------
    def __call__(self, *coord: Any) -> Any:
        """The index of a coordinate; with None in the coordinate, the sub-layout of the modes that None keeps."""
        shape = self._shape
        crd = coord[0] if len(coord) == 1 else coord
        if self._static:
            if type(crd) is int:
                if type(shape) is int:
                    return crd * self._stride
                if crd >= 0:
                    flat = self._flat or flat_of(self)
                    return linear(crd, flat[0], flat[1])
            elif type(crd) is tuple and type(shape) is tuple:
                index = dot(crd, shape, self._stride)
                if index is not None:
                    return index
        if crd is None or (type(crd) is tuple and has_none(crd)):
            return self.slice(crd)
        if type(crd) is tuple and not crd:
            raise fail("crd2idx", "an empty coordinate", self)
        return evaluate(crd, shape, self._stride)

    def idx2crd(self, index: Coord) -> Any:
        """The natural coordinate of an index, where the layout is compact; see `flydsl.layout.idx2crd`."""
        return idx2crd_shape(index, self._shape, self._stride)

    get_hier_coord = idx2crd

    def get_flat_coord(self, index: Coord) -> Any:
        """One linear coordinate per mode; see `flydsl.layout.get_flat_coord`."""
        return flat_coord(index, self._shape, self._stride)

    def get_1d_coord(self, index: Coord) -> Any:
        """The linear coordinate of an index; see `flydsl.layout.get_1d_coord`."""
        return linear_coord(index, self._shape, self._stride)

    def slice(self, coord: Coord) -> Layout:
        """The modes where ``coord`` is None, see `flydsl.layout.slice_`."""
        shapes: list[Any] = []
        strides: list[Any] = []
        if not _keep_none(self._shape, self._stride, coord, shapes, strides):
            raise fail("slice", "the coordinate is not weakly congruent with the operand", self, coord)
        if len(shapes) == 1:
            return make(shapes[0], strides[0], self._static)
        if not shapes:
            raise fail("slice", "the coordinate keeps nothing", self, coord)
        return make(tuple(shapes), tuple(strides), self._static)

    def _at(self, path: tuple[int, ...]) -> Layout:
        shape, stride = self._shape, self._stride
        for p in path:
            shape, stride = shape[p], stride[p]
        return make(shape, stride, self._static)

    def coords(self) -> Iterator[Any]:
        """All coordinates, nested like the shape, leftmost mode fastest."""
        for i in range(self._static_size("coords")):
            yield split_index(i, self._shape)

    def indices(self) -> Iterator[Any]:
        """The indices of all coordinates, leftmost mode fastest."""
        shape, stride = flat_of(self)
        for i in range(self._static_size("indices")):
            yield linear(i, shape, stride)

    def _static_size(self, operation: str) -> int:
        n = product(self._shape)
        if type(n) is not int:
            raise fail(operation, "the size is not known; specialize the layout first", self)
        return n

    # -- symbolic integers ---------------------------------------------------------------------------------------
    def specialize(self, **values: int) -> Layout:
        """The layout with named symbolic integers replaced (those with a known extent need no value)."""
        if self._static:
            return self
        return Layout(specialize_tuple(self._shape, values), specialize_tuple(self._stride, values))

    # -- identity ------------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if type(other) is not Layout:
            return False
        return bool(self._shape == other._shape and self._stride == other._stride)

    def __hash__(self) -> int:
        return hash((self._shape, self._stride))

    def __reduce__(self) -> tuple[type[Layout], tuple[Any, Any]]:
        return (Layout, (self._shape, self._stride))

    def __repr__(self) -> str:
        return f"Layout({self._shape!r}, {self._stride!r})"

    def _text(self, names: bool) -> str:
        return f"{text_of(self._shape, names)}:{text_of(self._stride, names)}"

    def __str__(self) -> str:
        return self._text(True)


def make(shape: Shape, stride: Stride, static: bool) -> Layout:
    """A layout from parts that are known to be valid."""
    self = object.__new__(Layout)
    self._shape = shape
    self._stride = stride
    self._static = static
    self._flat = None
    return self


def fixed(layout: Layout, coord: Coord) -> Any:
    """The index of the coordinates that a slice fixes."""
    return evaluate(coord, layout._shape, layout._stride)


def _keep_none(shape: Any, stride: Any, coord: Any, shapes: list[Any], strides: list[Any]) -> bool:
    """Collect the parts of a layout where ``coord`` is None; False when it does not fit."""
    if coord is None:
        shapes.append(shape)
        strides.append(stride)
    elif type(coord) is tuple:
        if type(shape) is not tuple or len(shape) != len(coord):
            return False
        for s, d, c in zip(shape, stride, coord):
            if c is None:
                shapes.append(s)
                strides.append(d)
            elif type(c) is tuple and not _keep_none(s, d, c, shapes, strides):
                return False
    return True


def flat_of(layout: Layout) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Flattened shape and stride."""
    flat = layout._flat
    if flat is None:
        flat = layout._flat = (flatten(layout._shape), flatten(layout._stride))
    return flat


def is_layout(x: object) -> bool:
    """True for a `Layout`, a `ComposedLayout` or a `CoordTensor`."""
    return isinstance(x, LayoutLike)


def _static_pair(shape: tuple[Any, ...], stride: tuple[Any, ...], level: int = 1) -> bool:
    """True when both are non-empty, congruent, all plain ints, and no extent is negative."""
    if len(shape) != len(stride) or not shape:
        return False
    if level > MAX_DEPTH:
        raise too_deep("Layout")
    for s, d in zip(shape, stride):
        if type(s) is int:
            if type(d) is int and s >= 0:
                continue
            return False
        if type(s) is not tuple or type(d) is not tuple or not _static_pair(s, d, level + 1):
            return False
    return True


def _static_compact(shape: tuple[Any, ...], start: int, level: int = 1) -> tuple[Any, int] | None:
    """Column-major strides from ``start`` on, and the stride after them; None unless all extents are ints >= 0."""
    if level > MAX_DEPTH:
        raise too_deep("Layout")
    strides: list[Any] = []
    for s in shape:
        if type(s) is int and s >= 0:
            strides.append(start)
            start *= s
        elif type(s) is tuple:
            inner = _static_compact(s, start, level + 1)
            if inner is None:
                return None
            strides.append(inner[0])
            start = inner[1]
        else:
            return None
    return (tuple(strides), start) if strides else None


def _checked(shape: Any, stride: Any) -> tuple[Any, Any, bool]:
    if isinstance(shape, str) and stride is None:
        parsed = above.parse(shape)
        if type(parsed) is tuple or isinstance(parsed, (int, SymInt)):
            parsed = Layout(parsed)
        if not isinstance(parsed, Layout):
            raise LayoutTypeError(f"Layout({shape!r}): the text is a {type(parsed).__name__}; read it with parse()")
        return parsed._shape, parsed._stride, parsed._static
    shape = _normalize("shape", shape, shape, stride)
    if stride is None:
        stride = prefix_product(shape)
        return shape, stride, all(type(s) is int for s in flatten(shape))
    stride = _normalize("stride", stride, shape, stride)
    _require_congruent(shape, stride, shape, stride, ())
    static = all(type(s) is int for s in flatten(shape)) and all(type(d) is int for d in flatten(stride))
    return shape, stride, static


def _normalize(what: str, t: Any, shape: Any, stride: Any, level: int = 1) -> Any:
    """Tuples (also named ones) of ints, SymInts and, in strides, basis elements; index types become ints."""
    if isinstance(t, tuple):
        if level > MAX_DEPTH:
            raise too_deep("Layout")
        if not t:
            raise LayoutError(f"Layout({shape!r}, {stride!r}): the {what} has an empty tuple")
        return tuple([_normalize(what, x, shape, stride, level + 1) for x in t])
    if type(t) is int or isinstance(t, SymInt):
        value: Any = t
    elif isinstance(t, Basis):
        if what == "shape":
            raise LayoutTypeError(f"Layout({shape!r}, {stride!r}): basis element {t} in the shape")
        return t
    elif hasattr(type(t), "__index__"):
        value = t.__index__()
    else:
        raise LayoutTypeError(
            f"Layout({shape!r}, {stride!r}): the {what} has a {type(t).__name__}; "
            "write nested tuples of integers (lists are not tuples)"
        )
    if what == "shape" and type(value) is int and value < 0:
        raise LayoutError(f"Layout({shape!r}, {stride!r}): extent {value} is negative")
    return value


def _require_congruent(a: Any, b: Any, shape: Any, stride: Any, path: tuple[int, ...]) -> None:
    where = f"mode {list(path)}" if path else "the top level"
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            _require_congruent(x, y, shape, stride, (*path, i))
    elif type(a) is tuple or type(b) is tuple:
        raise LayoutError(f"Layout({shape!r}, {stride!r}): shape and stride are not congruent at {where}")

# SPDX-License-Identifier: Apache-2.0
"""The traced objects of the layout algebra: int-tuples, layouts, swizzles, tiles.

Each wraps one SSA value whose MLIR type spells everything static about it. `str()` is `Class<text>`, with `?` where a
value is only known when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from flydsl._mlir import facts as records
from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import bool_attribute, build_once, build_op, i32_array, infer, type_of
from flydsl.trace.wrap import register_wrapper, wrap_any

from .. import above
from ..numeric.base import as_numeric, wrap
from ..numeric.types import Int32, Int64
from . import trees

__all__ = ["Basis", "ComposedLayout", "CoordSwizzle", "E", "IntTuple", "Layout", "Swizzle", "Tile"]


class FlyValue:
    """Base of the objects that wrap one SSA value of a `!fly` type."""

    __slots__ = ("_facts", "value")

    value: ir.Value
    _facts: Any
    """What the type of the value says."""
    _kinds: ClassVar[tuple[type, ...]] = ()
    """The classes of `flydsl._mlir.facts` for the types that an object of the class may wrap."""

    def __init__(self, value: Any) -> None:
        if isinstance(value, FlyValue):
            value = value.value
        self._facts = fly.facts_of(value) if isinstance(value, ir.Value) else None
        if type(self._facts) not in self._kinds:
            got = value.type if isinstance(value, ir.Value) else f"'{type(value).__name__}'"
            wanted = " or ".join(kind.__name__.replace("Facts", "Type") for kind in self._kinds)
            raise TypeError(f"{type(self).__name__} wraps an SSA value of type {wanted}, not {got}")
        self.value = value

    @property
    def type(self) -> ir.Type:
        """The MLIR type."""
        return self.value.type

    @property
    def type_text(self) -> str:
        """The text of the MLIR type."""
        return str(self.value.type)

    @property
    def owner(self) -> Any:
        """The operation (or block) that the SSA value is of."""
        return self.value.owner

    def ir_value(self) -> ir.Value:
        """Return the SSA value."""
        return self.value

    def __str__(self) -> str:
        return f"{type(self).__name__}<{fly.spelling(self.value)}>"

    __repr__ = __str__

    def __ir_value_count__(self) -> int:
        return 1

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[ir.Value], exemplar: Any = None) -> Any:
        return cls(values[0])

    def __get_ir_types__(self) -> list[ir.Type]:
        return [self.value.type]

    def __cache_signature__(self) -> Any:
        return (type(self), self._facts)


class IntTuple(FlyValue):
    """A nested tuple of integers, each static or dynamic. A leaf takes part in arithmetic like a scalar."""

    __slots__ = ()
    _kinds = (records.IntTupleFacts,)

    @property
    def tree(self) -> trees.Tree:
        """The nested tuple of leaves (`layout.trees`)."""
        return self._facts.tree

    @property
    def rank(self) -> int:
        """The number of top-level modes; 1 for a leaf."""
        return trees.rank_of(self.tree)

    @property
    def depth(self) -> int:
        """The nesting depth; 0 for a leaf."""
        return trees.depth_of(self.tree)

    @property
    def is_leaf(self) -> bool:
        """Whether this is a single integer."""
        return type(self.tree) is not tuple

    @property
    def is_static(self) -> bool:
        """Whether every leaf is known while tracing."""
        return trees.is_static(self.tree)

    @property
    def get_static_leaf_int(self) -> int:
        """The Python int of a static leaf; `ValueError` otherwise."""
        tree = self.tree
        if type(tree) is not int:
            raise ValueError(f"{self} is not one static integer")
        return tree

    def __len__(self) -> int:
        return self.rank

    def __iter__(self) -> Any:
        return (self[i] for i in range(self.rank))

    def __getitem__(self, mode: Any) -> IntTuple:
        return IntTuple(_get(self, mode, self.tree))

    def to_py_value(self) -> Any:
        """Return a nested tuple of Python ints (static leaves), scalars (dynamic ones) and `None`."""
        tree = self.tree
        if trees.is_static(tree):
            return _static_py(tree)
        dynamic = [leaf for leaf in trees.leaves_of(tree) if not trees.is_static(leaf)]
        types = [Int64.ir_type if _leaf_width(leaf) == 64 else Int32.ir_type for leaf in dynamic]
        results = list(build_op("fly.get_leaves", (self.value,), types, {"dynamicOnly": bool_attribute(True)}).results)
        return _fill(tree, results)

    unpack = to_py_value

    def __dsl_scalar__(self) -> Any:
        value = self.to_py_value()
        while isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        if isinstance(value, tuple) or value is None:
            raise TypeError(f"{self} is not one integer; take a mode of it first, for example t[0]")
        return value

    def __index__(self) -> int:
        value: int = int(self.__dsl_scalar__())
        return value

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self.__dsl_scalar__()) if self.is_leaf else True

    def _scalar(self) -> Any:
        return as_numeric(self.__dsl_scalar__())

    def __add__(self, other: Any) -> Any:
        return self._scalar() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._scalar()

    def __sub__(self, other: Any) -> Any:
        return self._scalar() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self._scalar()

    def __mul__(self, other: Any) -> Any:
        return self._scalar() * other

    def __rmul__(self, other: Any) -> Any:
        return other * self._scalar()

    def __floordiv__(self, other: Any) -> Any:
        return self._scalar() // other

    def __rfloordiv__(self, other: Any) -> Any:
        return other // self._scalar()

    def __mod__(self, other: Any) -> Any:
        return self._scalar() % other

    def __rmod__(self, other: Any) -> Any:
        return other % self._scalar()

    def __lt__(self, other: Any) -> Any:
        return self._scalar() < other

    def __le__(self, other: Any) -> Any:
        return self._scalar() <= other

    def __gt__(self, other: Any) -> Any:
        return self._scalar() > other

    def __ge__(self, other: Any) -> Any:
        return self._scalar() >= other

    def __eq__(self, other: Any) -> Any:
        if other is None:
            return False
        if self.is_static and isinstance(other, (int, tuple, IntTuple)) and not isinstance(other, bool):
            return _static_py(self.tree) == (other.to_py_value() if isinstance(other, IntTuple) else other)
        return self._scalar() == other

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return not equal if isinstance(equal, bool) else self._scalar() != other

    def __hash__(self) -> int:
        return hash(self.value)


def _leaf_width(leaf: Any) -> int:
    value: Any = leaf.value if type(leaf) is trees.BasisLeaf else leaf
    width: int = value.width
    return width


def _static_py(tree: Any) -> Any:
    if type(tree) is tuple:
        return tuple(_static_py(item) for item in tree)
    return Basis(tree.value, tree.modes) if type(tree) is trees.BasisLeaf else tree


def _fill(tree: Any, results: list[ir.Value]) -> Any:
    if type(tree) is tuple:
        return tuple(_fill(item, results) for item in tree)
    if trees.is_static(tree):
        return _static_py(tree)
    scalar = wrap(Int64 if _leaf_width(tree) == 64 else Int32, results.pop(0))
    return Basis(scalar, tree.modes) if type(tree) is trees.BasisLeaf else scalar


def _get(value: FlyValue, mode: Any, tree: Any) -> ir.Value:
    path = list(mode) if isinstance(mode, (list, tuple)) else [mode]
    at, normal = tree, []
    for step in path:
        index = int(step)
        rank = trees.rank_of(at)
        if type(at) is not tuple or not -rank <= index < rank:
            if type(at) is not tuple and index in (0, -1) and len(path) == 1:
                return value.value
            raise IndexError(f"mode {path} of {value} is out of range")
        normal.append(index % rank)
        at = at[index]
    return infer("fly.get", (value.value,), {"mode": i32_array(normal)})


def has_none(coord: Any) -> bool:
    """Tell whether a coordinate leaves a mode open."""
    if coord is None:
        return True
    if isinstance(coord, (tuple, list)):
        return any(has_none(item) for item in coord)
    return isinstance(coord, IntTuple) and any(leaf is None for leaf in trees.leaves_of(coord.tree))


class _LayoutValue(FlyValue):
    """What plain and composed layouts have in common: a domain."""

    __slots__ = ()

    @property
    def parsed(self) -> records.LayoutFacts | records.ComposedLayoutFacts:
        """The static facts of the layout (`flydsl._mlir.facts`)."""
        return self._facts

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return trees.rank_of(self._facts.shape)

    @property
    def depth(self) -> int:
        """The nesting depth of the shape."""
        return trees.depth_of(self._facts.shape)

    @property
    def is_leaf(self) -> bool:
        """Whether the shape is a single integer."""
        return type(self._facts.shape) is not tuple

    @property
    def is_static_shape(self) -> bool:
        """Whether every extent is known while tracing."""
        return trees.is_static(self._facts.shape)

    @property
    def shape(self) -> IntTuple:
        """The shape."""
        return IntTuple(infer("fly.get_shape", (self.value,)))

    def __len__(self) -> int:
        return self.rank

    def __getitem__(self, mode: Any) -> Any:
        return type(self)(_get(self, mode, self._facts.shape))

    def __call__(self, *coord: Any) -> Any:
        """Return the index of a coordinate; with a `None` anywhere, the sub-layout of the modes left open."""
        at = coord[0] if len(coord) == 1 else coord
        return above.slice(self, at) if has_none(at) else above.crd2idx(at, self)


class Layout(_LayoutValue):
    """A function from coordinates to indices: shape and stride."""

    __slots__ = ()
    _kinds = (records.LayoutFacts,)

    @property
    def is_static_stride(self) -> bool:
        """Whether every stride is known while tracing."""
        return trees.is_static(self._facts.stride)

    @property
    def is_static(self) -> bool:
        """Whether the layout is known while tracing."""
        return trees.is_static(self._facts)

    @property
    def stride(self) -> IntTuple:
        """The strides."""
        return IntTuple(infer("fly.get_stride", (self.value,)))

    def get_hier_coord(self, index: Any) -> IntTuple:
        """Return the natural coordinate of an index."""
        result: IntTuple = above.idx2crd(index, self)
        return result

    def get_flat_coord(self, index: Any) -> IntTuple:
        """Return one linear coordinate per top-level mode."""
        result: IntTuple = above.get_flat_coord(index, self)
        return result

    def get_1d_coord(self, index: Any) -> IntTuple:
        """Return the linear coordinate of an index."""
        result: IntTuple = above.get_1d_coord(index, self)
        return result


class ComposedLayout(_LayoutValue):
    """`inner` after (`offset` + `outer`): swizzled and otherwise non-affine layouts."""

    __slots__ = ()
    _kinds = (records.ComposedLayoutFacts,)

    @property
    def inner(self) -> Any:
        """The function that is applied last."""
        return wrap_any(infer("fly.composed_get_inner", (self.value,)))

    @property
    def offset(self) -> IntTuple:
        """What is added to the outer layout's index."""
        return IntTuple(infer("fly.composed_get_offset", (self.value,)))

    @property
    def outer(self) -> Any:
        """The layout that is applied first."""
        return wrap_any(infer("fly.composed_get_outer", (self.value,)))

    @property
    def is_static_outer(self) -> bool:
        """Whether the outer layout is known while tracing."""
        return trees.is_static(self._facts.outer)

    @property
    def is_static_inner(self) -> bool:
        """Whether the inner function is known while tracing."""
        return trees.is_static(self._facts.inner)

    @property
    def is_static_offset(self) -> bool:
        """Whether the offset is known while tracing."""
        return trees.is_static(self._facts.offset)

    @property
    def is_static(self) -> bool:
        """Whether everything is known while tracing."""
        return trees.is_static(self._facts)

    @property
    def stride(self) -> IntTuple:
        """A composed layout has no strides: `TypeError`."""
        raise TypeError(f"{self} is a composed layout and has no stride; use .outer.stride")


class Swizzle(FlyValue):
    """S<mask, base, shift>: x xor ((x and (2^mask - 1) << (base + shift)) >> shift)."""

    __slots__ = ()
    _kinds = (records.SwizzleFacts,)

    @property
    def mask(self) -> int:
        """The number of bits."""
        bits: int = self._facts.mask
        return bits

    @property
    def base(self) -> int:
        """The lowest bit that changes."""
        lowest: int = self._facts.base
        return lowest

    @property
    def shift(self) -> int:
        """The distance to the bits that are xored in."""
        distance: int = self._facts.shift
        return distance


class CoordSwizzle(FlyValue):
    """Xor of bits of one coordinate mode into another."""

    __slots__ = ()
    _kinds = (records.CoordSwizzleFacts,)

    @property
    def mask(self) -> int:
        """The number of bits."""
        bits: int = self._facts.mask
        return bits

    @property
    def base_row(self) -> int:
        """The lowest bit that is read from the row mode."""
        lowest: int = self._facts.base_row
        return lowest

    @property
    def mode_row(self) -> list[int]:
        """The path of the row mode."""
        return list(self._facts.mode_row)

    @property
    def base_col(self) -> int:
        """The lowest bit that changes in the column mode."""
        lowest: int = self._facts.base_col
        return lowest

    @property
    def mode_col(self) -> list[int]:
        """The path of the column mode."""
        return list(self._facts.mode_col)


class Tile(FlyValue):
    """One tiler per mode: an extent, a layout, or `None` to leave the mode alone."""

    __slots__ = ()
    _kinds = (records.TileFacts,)

    @property
    def rank(self) -> int:
        """The number of modes."""
        modes = self._facts.tree
        return len(modes) if type(modes) is tuple else 1

    def unpack(self) -> Any:
        """Return the modes as ints, layouts and tuples; a mode that is left alone as 0."""
        return _unpack_tile(self._facts.tree)


def _unpack_tile(tiler: Any) -> Any:
    if type(tiler) is tuple:
        return tuple(_unpack_tile(mode) for mode in tiler)
    if tiler is None:
        return 0
    return layout_of(*tiler) if type(tiler) is records.LayoutFacts else tiler


def layout_of(shape: trees.Tree, stride: trees.Tree) -> Layout:
    """Return the layout of two static trees."""
    kind = type_of(fly.LayoutType, shape, stride)
    return Layout(build_once(kind, "fly.static", kind))


class Basis:
    """A host object: `value` times the unit vector of the mode path `modes`."""

    __slots__ = ("modes", "value")

    def __init__(self, value: Any, modes: Any) -> None:
        self.value = value
        self.modes = tuple(modes) if isinstance(modes, (list, tuple)) else (int(modes),)

    def __mul__(self, factor: Any) -> Basis:
        return Basis(self.value * factor, self.modes)

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Basis) and self.modes == other.modes and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((self.modes, self.value if isinstance(self.value, int) else id(self.value)))

    def __repr__(self) -> str:
        return f"{self.value}" + "".join(f"E{mode}" for mode in self.modes)


def E(*modes: int) -> Basis | int:
    """Return the unit basis of a mode path; `E()` is 1."""
    return Basis(1, modes) if modes else 1


for _cls in (IntTuple, Layout, ComposedLayout, Swizzle, CoordSwizzle, Tile):
    for _kind in _cls._kinds:
        register_wrapper(_kind, _cls)

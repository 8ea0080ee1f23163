# SPDX-License-Identifier: Apache-2.0
"""Making int-tuples, layouts and tiles from Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import build, build_once, infer, parse_type, type_of
from flydsl.trace.wrap import wrap_any

from ..numeric.base import Numeric, as_numeric
from ..numeric.meta import NumericMeta
from ..numeric.types import Index, Int32, Int64
from . import trees
from .host import from_host
from .objects import Basis, ComposedLayout, IntTuple, Layout, Swizzle, Tile, layout_of

if TYPE_CHECKING:
    from ..accepted import IntTupleLike, LayoutLike

__all__ = [
    "as_int_tuple",
    "as_tile",
    "assume",
    "make_composed_layout",
    "make_coord",
    "make_fragment_layout_like",
    "make_identity_layout",
    "make_int_tuple",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "make_shape",
    "make_stride",
    "make_swizzle",
    "make_tile",
    "static",
]

_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1
_DYNAMIC = (trees.Dynamic(32), trees.Dynamic(64))


def static(ir_type: Any) -> Any:
    """Return the object that a fully static `!fly` type describes (a type class' `.get(...)`, or an MLIR type).

    Raises:
        ValueError: the type has leaves that are only known when the kernel runs.
    """
    kind = ir_type if isinstance(ir_type, ir.Type) else parse_type(str(ir_type))
    if not trees.is_static(fly.facts_of(kind)):
        raise ValueError(f"fx.static needs a type that says everything; {kind} has dynamic leaves")
    return wrap_any(build_once(kind, "fly.static", kind))


def tree_of_value(value: Any, operands: list[ir.Value], none_allowed: bool) -> trees.Tree:
    """Return the tree of a tuple-like value and append its dynamic leaves to `operands`."""
    kind = type(value)
    if kind is int:
        if not _INT32_MIN <= value <= _INT32_MAX:
            raise ValueError(f"{value} does not fit a static leaf, which has 32 bits; pass it as fx.Int64")
        return value
    if kind is tuple or kind is list:
        if not value:
            raise ValueError("an int-tuple has at least one leaf; () is none")
        return tuple([tree_of_value(item, operands, none_allowed) for item in value])
    if type(kind) is NumericMeta:
        return _tree_of_scalar(value, operands)
    if value is None:
        if not none_allowed:
            raise ValueError("None is only meaningful in a coordinate or a tile")
        return None
    if isinstance(value, IntTuple):
        _append_leaves(value, operands)
        return value.tree
    if isinstance(value, Basis):
        return trees.BasisLeaf(tree_of_value(value.value, operands, False), list(value.modes))
    if kind is bool:
        return int(value)
    if isinstance(value, ir.Value):
        return _tree_of_scalar(as_numeric(value), operands)
    if hasattr(value, "__index__"):
        return tree_of_value(int(value), operands, none_allowed)
    raise TypeError(f"an int-tuple is made of integers and nested tuples, got '{kind.__name__}': {value!r}")


def _tree_of_scalar(scalar: Numeric, operands: list[ir.Value]) -> trees.Tree:
    cls = type(scalar)
    if cls.is_float:
        raise TypeError(f"an int-tuple is made of integers, got {cls.__name__}")
    if scalar.is_static():
        return tree_of_value(int(scalar.value), operands, False)
    wide = cls is Index or cls.width > 32
    operands.append(scalar.value if cls is Int32 else scalar.to(Int64 if wide else Int32).ir_value())
    return _DYNAMIC[wide]


def _append_leaves(value: IntTuple, operands: list[ir.Value]) -> None:
    if value.is_static:
        return
    for leaf in trees.leaves_of(value.to_py_value()):
        scalar = leaf.value if isinstance(leaf, Basis) else leaf
        if isinstance(scalar, Numeric):
            operands.append(scalar.ir_value())


def _make(op: str, value: Any, none_allowed: bool = False) -> IntTuple:
    operands: list[ir.Value] = []
    return _of_tree(op, tree_of_value(value, operands, none_allowed), operands)


def _of_tree(op: str, tree: Any, operands: list[ir.Value]) -> IntTuple:
    kind = type_of(fly.IntTupleType, tree)
    return IntTuple(build(op, operands, kind) if operands else build_once((op, kind), op, kind))


def as_int_tuple(value: Any, none_allowed: bool = True) -> IntTuple:
    """Return a tuple-like value as an `IntTuple`; one that already is comes back as it is."""
    return value if isinstance(value, IntTuple) else _make("fly.make_int_tuple", value, none_allowed)


def assume(value: Any, divisibility: int) -> IntTuple:
    """Return a run-time integer of which the compiler may assume that it is a multiple of `divisibility`.

    Shapes, strides and offsets that are made of it carry the fact, which lets wide accesses be proved aligned. Nothing
    checks it at run time.

    Raises:
        TypeError: `value` is no integer, or `divisibility` no Python int.
        ValueError: `divisibility` is not positive, or a value that is known while tracing is no multiple of it.
    """
    if isinstance(divisibility, bool) or not isinstance(divisibility, int):
        raise TypeError(f"fx.assume takes the divisibility as a Python int, got {divisibility!r}")
    if divisibility < 1:
        raise ValueError(f"fx.assume takes a positive divisibility, got {divisibility}")
    scalar = as_numeric(value)
    if scalar.dtype.is_float:
        raise TypeError(f"fx.assume is about integers, got {scalar.dtype.__name__}")
    if scalar.is_static():
        if int(scalar) % divisibility:
            raise ValueError(f"fx.assume: {int(scalar)} is no multiple of {divisibility}")
        return as_int_tuple(int(scalar))
    wide = scalar.dtype is Index or scalar.dtype.width > 32
    operand = scalar.to(Int64 if wide else Int32).ir_value()
    return _of_tree("fly.make_int_tuple", trees.Dynamic(64 if wide else 32, divisibility), [operand])


def make_int_tuple(value: Any) -> IntTuple:
    """Return the int-tuple of an int, scalar, or nested tuple of them."""
    return as_int_tuple(value)


def _variadic(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values


def make_shape(*extents: Any) -> IntTuple:
    """Return the shape of these modes; a single argument is taken as it is."""
    return _make("fly.make_shape", _variadic(extents))


def make_stride(*strides: Any) -> IntTuple:
    """Return the strides of these modes."""
    return _make("fly.make_stride", _variadic(strides))


def make_coord(*coordinates: Any) -> IntTuple:
    """Return a coordinate; `None` stands for "all of this mode"."""
    return _make("fly.make_coord", _variadic(coordinates), none_allowed=True)


def make_layout(shape: IntTupleLike, stride: IntTupleLike) -> Layout:
    """Return the layout `shape:stride`; both are tuple-like and have the same nesting.

    Raises:
        ValueError: the nestings differ (profile mismatch).
    """
    parts: list[Any] = []
    found: list[Any] = []
    for part in (shape, stride):
        leaves: list[ir.Value] = []
        if isinstance(part, IntTuple):
            parts.append(part)
            found.append(part.tree)
            continue
        found.append(tree_of_value(part, leaves, False))
        parts.append(leaves)
    if not trees.congruent(*found):
        raise _profile_mismatch(*found)
    if trees.is_static(found[0]) and trees.is_static(found[1]):
        return layout_of(*found)
    shape_value, stride_value = (
        part if isinstance(part, IntTuple) else _of_tree("fly.make_int_tuple", tree, part)
        for part, tree in zip(parts, found, strict=True)
    )
    return Layout(infer("fly.make_layout", (shape_value.value, stride_value.value)))


def compact_layout(shape: IntTupleLike) -> Layout:
    """Return the column-major layout of a static shape."""
    step = 1

    def strides(tree: Any) -> Any:
        nonlocal step
        if isinstance(tree, tuple):
            return tuple(strides(item) for item in tree)
        here, step = step, step * int(tree)
        return here

    tree = tree_of_value(shape, [], False)
    return layout_of(tree, strides(tree))


def _profile_mismatch(shape: Any, stride: Any) -> ValueError:
    return ValueError(
        f"profile mismatch: shape {trees.spelled(shape)} and stride {trees.spelled(stride)} must have the same nesting"
    )


def make_ordered_layout(shape: IntTupleLike, order: IntTupleLike) -> Layout:
    """Return the compact layout whose modes are packed by `order`, fastest first; order 0 is column-major."""
    return Layout(infer("fly.make_ordered_layout", (as_int_tuple(shape, False).value, as_int_tuple(order).value)))


def make_layout_like(layout: LayoutLike) -> Layout:
    """Return the compact layout of the same shape that keeps the order of the strides."""
    return Layout(infer("fly.make_layout_like", (from_host(layout).value,)))


def make_fragment_layout_like(layout: LayoutLike) -> Layout:
    """Return the compact register layout for a layout or tensor of static shape."""
    return Layout(infer("fly.make_fragment_layout_like", (from_host(layout).value,)))


def make_identity_layout(shape: IntTupleLike) -> Layout:
    """Return the layout that maps a coordinate to itself (strides are unit bases)."""
    return Layout(infer("fly.make_identity_layout", (as_int_tuple(shape, False).value,)))


def make_composed_layout(inner: Any, *rest: Any) -> ComposedLayout:
    """Return `inner` after (`offset` + `outer`): `(inner, outer)` or `(inner, offset, outer)`.

    Raises:
        TypeError: not two or three arguments.
    """
    if len(rest) not in (1, 2):
        raise TypeError("make_composed_layout takes (inner, outer) or (inner, offset, outer)")
    offset, outer = (0, rest[0]) if len(rest) == 1 else rest
    inner, outer = from_host(inner), from_host(outer)
    return ComposedLayout(infer("fly.make_composed_layout", (inner.value, as_int_tuple(offset).value, outer.value)))


def make_swizzle(mask: int, base: int, shift: int) -> Swizzle:
    """Return the swizzle S<mask, base, shift>."""
    kind = type_of(fly.SwizzleType, int(mask), int(base), int(shift))
    return Swizzle(build_once(kind, "fly.static", kind))


def tiler_of(mode: Any) -> trees.Tree | ir.Type:
    """Return a mode of a tile as the type of tiles takes it: an int, `None`, a layout's or tile's type, or a tuple."""
    if mode is None or isinstance(mode, ir.Type):
        return mode
    mode = from_host(mode)
    if isinstance(mode, Layout):
        if not mode.is_static:
            raise ValueError(f"a mode of a tile is a static layout; {mode} is only known when the kernel runs")
        return mode.type
    if isinstance(mode, Tile):
        return mode.type
    if isinstance(mode, IntTuple):
        mode = mode.to_py_value()
    if isinstance(mode, (tuple, list)):
        return tuple([tiler_of(item) for item in mode])
    if isinstance(mode, Numeric) and mode.is_static():
        mode = int(mode.value)
    if isinstance(mode, (Numeric, ir.Value)):
        raise ValueError("the extents of a tile are static; this one is only known when the kernel runs")
    if type(mode) is not int:
        raise ValueError(f"a mode of a tile is an int, None, a nested tuple or a static layout, got {mode!r}")
    return mode


def make_tile(*modes: Any) -> Tile:
    """Return the tile of these modes: ints, `None` (leave the mode alone), nested tuples or static layouts.

    Raises:
        ValueError: a mode of another kind, or one that is not static.
    """
    if not modes:
        raise ValueError("make_tile needs at least one mode")
    if len(modes) == 1 and isinstance(modes[0], Tile):
        return modes[0]
    kind = type_of(fly.TileType, tiler_of(modes))
    return Tile(build_once(kind, "fly.static", kind))


def as_tile(value: Any) -> Layout | Tile:
    """Return a tuple as a tile; layouts and tiles come back as they are; `TypeError` for anything else."""
    value = from_host(value)
    if isinstance(value, (Layout, Tile)):
        return value
    if isinstance(value, tuple):
        return make_tile(*value)
    raise TypeError(
        f"a divisor is a Layout, a Tile or a Python tuple of extents, not {type(value).__name__}; "
        f"write ({value!r},) for one mode"
    )

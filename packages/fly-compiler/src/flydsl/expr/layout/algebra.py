# SPDX-License-Identifier: Apache-2.0
"""The functions of the layout algebra, with CuTe's meaning; each builds one op of the `fly` dialect.

Tuple-like arguments are ints, nested tuples, scalars, or `IntTuple`s. Functions of layouts also take tensors, and act
on their layout.
"""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from .._build import attribute, build, infer
from ..numeric.base import Numeric, as_numeric, wrap
from ..numeric.cast import constant
from ..numeric.meta import NumericMeta
from ..numeric.types import Boolean, Index
from ..wrap import wrap_any
from . import typetext as tt
from .construct import as_int_tuple, as_tile
from .host import from_host
from .objects import ComposedLayout, FlyValue, IntTuple, Layout, Tile

__all__ = [
    "append",
    "assume",
    "block_product",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "complement",
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "composition",
    "coprofile",
    "coshape",
    "cosize",
    "crd2idx",
    "depth",
    "dice",
    "elem_less",
    "equal",
    "flat_divide",
    "flat_product",
    "get",
    "get_",
    "get_1d_coord",
    "get_flat_coord",
    "get_iter",
    "get_layout",
    "get_leaves",
    "get_scalar",
    "get_shape",
    "get_stride",
    "group",
    "has_none",
    "idx2crd",
    "int_tuple_add",
    "int_tuple_div",
    "int_tuple_mod",
    "int_tuple_mul",
    "int_tuple_product",
    "int_tuple_product_each",
    "int_tuple_product_like",
    "int_tuple_sub",
    "is_profile_congruent",
    "is_profile_weakly_congruent",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "prepend",
    "raked_product",
    "rank",
    "recast_layout",
    "right_inverse",
    "select",
    "shape_div",
    "size",
    "slice",
    "take",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "zip",
    "zipped_divide",
    "zipped_product",
]


def _value(x: Any, what: str) -> ir.Value:
    """Return the SSA value of a layout-like operand; tuple-likes become int-tuples."""
    if isinstance(x, FlyValue):
        return x.value
    if isinstance(x, ir.Value) and str(x.type).startswith("!fly."):
        return x
    x = from_host(x)
    if isinstance(x, FlyValue):
        return x.value
    if x is None or isinstance(x, (str, type)):
        raise TypeError(f"{what} takes a layout, a tensor or an int-tuple, not {x!r}")
    return as_int_tuple(x).value


def _layout_value(x: Any, what: str) -> ir.Value:
    if not isinstance(x, FlyValue):
        x = from_host(x)
    if isinstance(x, FlyValue) and not isinstance(x, IntTuple):
        return x.value
    raise TypeError(f"{what} takes a layout or a tensor, not {type(x).__name__}")


def _again(source: Any, value: ir.Value) -> Any:
    """Return the object for `value`, with the element class of the tensor `source` it was made from."""
    result = wrap_any(value)
    dtype = getattr(source, "_dtype", None)
    if dtype is not None and hasattr(result, "_dtype"):
        result._dtype = dtype
    return result


def _tree(x: Any) -> Any:
    """Return the nesting that rank and depth are read from: an int-tuple's own, a layout-like's shape."""
    if isinstance(x, IntTuple):
        return x.tree
    if isinstance(x, (Layout, ComposedLayout)):
        return x.parsed.shape
    if isinstance(x, Tile):
        return (None,) * x.rank
    shape = getattr(x, "shape_tree", None)
    if shape is not None:
        return shape
    if type(x).__module__.startswith("flydsl.layout"):
        return x.shape
    if isinstance(x, (int, Numeric, ir.Value)) or x is None:
        return 0
    if isinstance(x, tuple):
        return tuple(_tree(item) for item in x)
    raise TypeError(f"rank and depth are those of an int, a tuple or a layout-like value, not {type(x).__name__}")


def rank(x: Any) -> int:
    """Return the number of top-level modes; 1 for a leaf."""
    return tt.rank_of(_tree(x))


def depth(x: Any) -> int:
    """Return the nesting depth; 0 for a leaf."""
    return tt.depth_of(_tree(x))


def has_none(coord: Any) -> bool:
    """Tell whether a coordinate leaves a mode open."""
    if coord is None:
        return True
    if isinstance(coord, (tuple, list)):
        return any(has_none(item) for item in coord)
    return isinstance(coord, IntTuple) and any(leaf is None for leaf in tt.leaves_of(coord.tree))


# -- sizes and extractors ----------------------------------------------------------------------------------------------


def size(x: Any) -> IntTuple:
    """Return the number of elements (product of the shape) as an `IntTuple`; `.unpack()` gives a number."""
    return IntTuple(infer("fly.size", (_value(x, "size"),)))


def cosize(x: Any) -> IntTuple:
    """Return the extent of the co-domain: the largest index plus 1."""
    return IntTuple(infer("fly.cosize", (_layout_value(x, "cosize"),)))


def coshape(x: Any) -> IntTuple:
    """Return the shape of the co-domain."""
    return IntTuple(infer("fly.coshape", (_layout_value(x, "coshape"),)))


def coprofile(x: Any) -> IntTuple:
    """Return the nesting of the co-domain, with zeros."""
    return IntTuple(infer("fly.coprofile", (_layout_value(x, "coprofile"),)))


def get_shape(x: Any) -> IntTuple:
    """Return the shape of a layout or tensor."""
    return IntTuple(infer("fly.get_shape", (_layout_value(x, "get_shape"),)))


def get_stride(x: Any) -> IntTuple:
    """Return the strides of a layout or tensor; a composed layout has none (`ValueError`)."""
    return IntTuple(infer("fly.get_stride", (_layout_value(x, "get_stride"),)))


def get_layout(x: Any) -> Any:
    """Return the layout of a tensor."""
    return wrap_any(infer("fly.get_layout", (_layout_value(x, "get_layout"),)))


def get_iter(x: Any) -> Any:
    """Return the iterator of a tensor: its pointer, or the base coordinate of a coordinate tensor."""
    return _again(x, infer("fly.get_iter", (_layout_value(x, "get_iter"),)))


def composed_get_inner(x: ComposedLayout) -> Any:
    """Return the inner function of a composed layout."""
    return x.inner


def composed_get_offset(x: ComposedLayout) -> IntTuple:
    """Return the offset of a composed layout."""
    return x.offset


def composed_get_outer(x: ComposedLayout) -> Any:
    """Return the outer layout of a composed layout."""
    return x.outer


def get_scalar(x: Any) -> Any:
    """Return the Python int or scalar of an int-tuple of one leaf; `ValueError` when there are more."""
    value = as_int_tuple(x)
    leaves = tt.leaves_of(value.tree)
    if len(leaves) != 1:
        raise ValueError(f"get_scalar: expected an int-tuple of one leaf, got {value}")
    if type(leaves[0]) is int:
        return leaves[0]
    return as_numeric(infer("fly.get_scalar", (value.value,)))


def get_leaves(x: Any, dynamic_only: bool = False) -> tuple[Any, ...]:
    """Return the leaves, depth first, as Python ints (static) and scalars; with `dynamic_only` just the latter."""
    leaves = tt.leaves_of(as_int_tuple(x).to_py_value())
    return tuple(leaf for leaf in leaves if isinstance(leaf, Numeric)) if dynamic_only else tuple(leaves)


def get_(x: Any, mode: Any) -> Any:
    """Return the sub-mode at an index or a path of indices; `IndexError` out of range."""
    from .objects import _get

    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    return _again(x, _get(x, mode, _tree(x)))


def get(x: Any, mode: int) -> Any:
    """Return item `mode` of a Python sequence, or of an int-tuple as an index-typed SSA value."""
    if isinstance(x, (tuple, list)):
        return x[mode]
    scalar = get_(x, mode)
    value = get_scalar(scalar) if isinstance(scalar, IntTuple) else scalar
    return constant(value, Index) if isinstance(value, int) else value.to(Index).ir_value()


# -- arithmetic of int-tuples ------------------------------------------------------------------------------------------


def _tuple_op(op: str, a: Any, b: Any) -> IntTuple:
    return IntTuple(infer(op, (as_int_tuple(a).value, as_int_tuple(b).value)))


def int_tuple_add(a: Any, b: Any) -> IntTuple:
    """Return the leaf-wise sum."""
    return _tuple_op("fly.int_tuple_add", a, b)


def int_tuple_sub(a: Any, b: Any) -> IntTuple:
    """Return the leaf-wise difference."""
    return _tuple_op("fly.int_tuple_sub", a, b)


def int_tuple_mul(a: Any, b: Any) -> IntTuple:
    """Return the leaf-wise product."""
    return _tuple_op("fly.int_tuple_mul", a, b)


def int_tuple_div(a: Any, b: Any) -> IntTuple:
    """Return the leaf-wise quotient, truncated."""
    return _tuple_op("fly.int_tuple_div", a, b)


def int_tuple_mod(a: Any, b: Any) -> IntTuple:
    """Return the leaf-wise remainder."""
    return _tuple_op("fly.int_tuple_mod", a, b)


def int_tuple_product(x: Any) -> IntTuple:
    """Return the product of all leaves."""
    return IntTuple(infer("fly.int_tuple_product", (as_int_tuple(x).value,)))


def int_tuple_product_each(x: Any) -> IntTuple:
    """Return the product of each top-level mode."""
    return IntTuple(infer("fly.int_tuple_product_each", (as_int_tuple(x).value,)))


def int_tuple_product_like(a: Any, b: Any) -> IntTuple:
    """Return the products of `a` folded to the nesting of `b`."""
    return _tuple_op("fly.int_tuple_product_like", a, b)


def shape_div(a: Any, b: Any) -> IntTuple:
    """Return CuTe's shape division; a scalar divisor is used up by the leading modes."""
    return _tuple_op("fly.shape_div", a, b)


def ceil_div(a: Any, b: Any) -> IntTuple:
    """Return the quotient of int-tuples rounded up (for scalars see `ceildiv`)."""
    return _tuple_op("fly.ceil_div", a, b)


def elem_less(a: Any, b: Any) -> Any:
    """Tell, as a dynamic `Boolean`, whether every leaf of `a` is less than its partner in `b`."""
    return wrap(Boolean, build("fly.elem_less", (as_int_tuple(a).value, as_int_tuple(b).value), Boolean.ir_type))


def equal(a: Any, b: Any) -> Any:
    """Tell, as a dynamic `Boolean`, whether two int-tuples are the same."""
    return wrap(Boolean, build("fly.equal", (as_int_tuple(a).value, as_int_tuple(b).value), Boolean.ir_type))


# -- modes -------------------------------------------------------------------------------------------------------------


def _i32(number: int) -> ir.Attribute:
    return attribute(f"{int(number)} : i32")


def _range(x: Any, begin: int, end: int, what: str) -> dict[str, ir.Attribute]:
    modes = rank(x)
    last = modes if end == -1 else end
    if not 0 <= begin <= last <= modes:
        raise IndexError(f"{what}: modes [{begin}, {end}) of a value of rank {modes}")
    return {"begin": _i32(begin), "end": _i32(end)}


def take(x: Any, begin: int, end: int) -> Any:
    """Return the modes from `begin` up to `end` (-1: the last)."""
    limits = _range(x, begin, end, "take")
    if begin == (rank(x) if end == -1 else end):
        raise IndexError(f"take: modes [{begin}, {end}) are none")
    return _again(x, infer("fly.take", (_value(x, "take"),), limits))


def select(x: Any, indices: Any) -> Any:
    """Return the modes that `indices` lists, in that order."""
    modes = [int(i) for i in indices]
    if not modes:
        raise IndexError("select: no mode is listed")
    for mode in modes:
        if not 0 <= mode < rank(x):
            raise IndexError(f"select: mode {mode} of a value of rank {rank(x)}")
    text = "array<i32: " + ", ".join(map(str, modes)) + ">"
    return _again(x, infer("fly.select", (_value(x, "select"),), {"indices": attribute(text)}))


def group(x: Any, begin: int, end: int) -> Any:
    """Return `x` with the modes from `begin` up to `end` (-1: the last) made one mode."""
    return _again(x, infer("fly.group", (_value(x, "group"),), _range(x, begin, end, "group")))


def _extend(op: str, base: Any, elem: Any, n: int | None) -> Any:
    if n is not None and n < rank(base):
        raise ValueError(f"{op.removeprefix('fly.')}: rank {n} is less than the rank {rank(base)} of the base")
    attributes = {} if n is None else {"n": _i32(n)}
    return wrap_any(infer(op, (_value(base, op), _value(elem, op)), attributes))


def append(base: Any, elem: Any, n: int | None = None) -> Any:
    """Return `base` with `elem` as a further last mode; with `n`, as often as it takes to have rank `n`."""
    return _extend("fly.append", base, elem, n)


def prepend(base: Any, elem: Any, n: int | None = None) -> Any:
    """Return `base` with `elem` as a further first mode; with `n`, as often as it takes to have rank `n`."""
    return _extend("fly.prepend", base, elem, n)


def zip(lhs: Any, rhs: Any) -> Any:
    """Return the modes of two tuples or layouts of one rank in pairs: ((l0, r0), (l1, r1), …)."""
    if rank(lhs) != rank(rhs):
        raise ValueError(f"zip: ranks {rank(lhs)} and {rank(rhs)} differ")
    pairs: Any = None
    for i in range(rank(lhs)):
        a, b = get_(lhs, i), get_(rhs, i)
        pair = _wrapped_pair(a, b)
        pairs = _one_mode(pair) if pairs is None else append(pairs, pair)
    return pairs


def _wrapped_pair(a: Any, b: Any) -> Any:
    if isinstance(a, IntTuple):
        return as_int_tuple((a, b))
    from .construct import make_layout

    return make_layout((a.shape, b.shape), (a.stride, b.stride))


def _one_mode(x: Any) -> Any:
    if isinstance(x, IntTuple):
        return as_int_tuple((x,))
    from .construct import make_layout

    return make_layout((x.shape,), (x.stride,))


def _coordinate(x: Any, coord: Any, what: str) -> ir.Value:
    value = as_int_tuple(tuple(coord) if isinstance(coord, list) else coord)
    if not tt.weakly_congruent(value.tree, _tree(x)):
        raise ValueError(
            f"{what}: profile mismatch: coordinate {tt.print_tree(value.tree)} does not fit the modes "
            f"{tt.print_tree(_tree(x))}"
        )
    return value.value


def slice(x: Any, coord: Any) -> Any:
    """Keep the modes where `coord` is `None` and fix the others.

    On a tensor the iterator moves to the fixed coordinates.

    Raises:
        ValueError: the coordinate does not fit the modes, or leaves none open.
    """
    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    if not has_none(coord):
        raise ValueError("slice: the coordinate leaves no mode open; use None for the modes to keep")
    return _again(x, infer("fly.slice", (x.value, _coordinate(x, coord, "slice"))))


def dice(x: Any, coord: Any) -> Any:
    """Keep the modes where `coord` is not `None`; for int-tuples and layouts."""
    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    return wrap_any(infer("fly.dice", (x.value, _coordinate(x, coord, "dice"))))


# -- coordinates -------------------------------------------------------------------------------------------------------


def crd2idx(coord: Any, layout: Any) -> IntTuple:
    """Return the index of a coordinate in a layout, composed layout or swizzle; an int is a linear coordinate."""
    layout = from_host(layout)
    if isinstance(layout, (Layout, ComposedLayout)):
        at = _coordinate(layout, coord, "crd2idx")
    else:
        at = as_int_tuple(coord).value
    return IntTuple(infer("fly.crd2idx", (at, layout.value)))


def idx2crd(index: Any, layout: Any) -> IntTuple:
    """Return the natural coordinate of an index in a plain layout."""
    return IntTuple(infer("fly.idx2crd", (as_int_tuple(index).value, _layout_value(layout, "idx2crd"))))


def get_flat_coord(index: Any, layout: Any) -> IntTuple:
    """Return one linear coordinate per top-level mode."""
    return IntTuple(infer("fly.get_flat_coord", (as_int_tuple(index).value, _layout_value(layout, "get_flat_coord"))))


def get_1d_coord(index: Any, layout: Any) -> IntTuple:
    """Return the linear coordinate of an index."""
    return IntTuple(infer("fly.get_1d_coord", (as_int_tuple(index).value, _layout_value(layout, "get_1d_coord"))))


# -- algebra -----------------------------------------------------------------------------------------------------------


def coalesce(layout: Any, pattern: Any = None) -> Any:
    """Return the simplest layout of the same function; `pattern` keeps the modes that it names apart."""
    operands = [_layout_value(layout, "coalesce")]
    if pattern is not None:
        operands.append(as_int_tuple(pattern).value)
    return _again(layout, infer("fly.coalesce", operands))


def composition(a: Any, b: Any) -> Any:
    """Return `a` after `b`; a tile (or tuple) as `b` works mode by mode.

    Raises:
        TypeError: `b` is no layout, tile or tuple.
        ValueError: the divisibility that composition needs does not hold.
    """
    return _again(a, infer("fly.composition", (_layout_value(a, "composition"), _divisor(b))))


def _divisor(x: Any) -> ir.Value:
    x = from_host(x)
    return x.value if isinstance(x, ComposedLayout) else as_tile(x).value


def complement(layout: Any, codomain_size: Any = None) -> Layout:
    """Return the layout of what `layout` leaves out of `codomain_size` (by default its cosize)."""
    operands = [_layout_value(layout, "complement")]
    if codomain_size is not None:
        operands.append(as_int_tuple(codomain_size).value)
    return Layout(infer("fly.complement", operands))


def right_inverse(layout: Any) -> Layout:
    """Return the layout R with layout(R(i)) == i on the largest contiguous range."""
    return Layout(infer("fly.right_inverse", (_layout_value(layout, "right_inverse"),)))


def left_inverse(layout: Any) -> Layout:
    """Return the layout L with L(layout(i)) == i."""
    return Layout(infer("fly.left_inverse", (_layout_value(layout, "left_inverse"),)))


def _divide(op: str, x: Any, divisor: Any) -> Any:
    return _again(x, infer(op, (_layout_value(x, op.removeprefix("fly.")), _divisor(divisor))))


def logical_divide(x: Any, divisor: Any) -> Any:
    """Split each mode in (tile, rest). `divisor`: layout, tile, or tuple of extents."""
    return _divide("fly.logical_divide", x, divisor)


def zipped_divide(x: Any, divisor: Any) -> Any:
    """Divide, and gather to ((tile…), (rest…))."""
    return _divide("fly.zipped_divide", x, divisor)


def tiled_divide(x: Any, divisor: Any) -> Any:
    """Divide, and gather to ((tile…), rest…)."""
    return _divide("fly.tiled_divide", x, divisor)


def flat_divide(x: Any, divisor: Any) -> Any:
    """Divide, and gather to (tile…, rest…)."""
    return _divide("fly.flat_divide", x, divisor)


def _product(op: str, layout: Any, tiler: Any) -> Any:
    name = op.removeprefix("fly.")
    return wrap_any(infer(op, (_layout_value(layout, name), _layout_value(tiler, name))))


def logical_product(layout: Any, tiler: Any) -> Any:
    """Repeat `layout` over the layout `tiler`."""
    return _product("fly.logical_product", layout, tiler)


def zipped_product(layout: Any, tiler: Any) -> Any:
    """Repeat, and gather to ((block…), (rest…))."""
    return _product("fly.zipped_product", layout, tiler)


def tiled_product(layout: Any, tiler: Any) -> Any:
    """Repeat, and gather to ((block…), rest…)."""
    return _product("fly.tiled_product", layout, tiler)


def flat_product(layout: Any, tiler: Any) -> Any:
    """Repeat, and gather to (block…, rest…)."""
    return _product("fly.flat_product", layout, tiler)


def blocked_product(layout: Any, tiler: Any) -> Any:
    """Repeat as blocks: mode by mode (block, tiler)."""
    return _product("fly.blocked_product", layout, tiler)


block_product = blocked_product


def raked_product(layout: Any, tiler: Any) -> Any:
    """Repeat interleaved: mode by mode (tiler, block)."""
    return _product("fly.raked_product", layout, tiler)


def recast_layout(layout: Any, old_bits: Any, new_bits: Any) -> Any:
    """Return the layout for elements of `new_bits` where it was for elements of `old_bits` (ints or MLIR types)."""
    old, new = _bits(old_bits), _bits(new_bits)
    attributes = {"old_type_bits": _i32(old), "new_type_bits": _i32(new)}
    return wrap_any(infer("fly.recast_layout", (_layout_value(layout, "recast_layout"),), attributes))


def _bits(bits: Any) -> int:
    if type(bits) is int:
        return bits
    if isinstance(bits, ir.Type):
        from ..numeric.meta import class_of_ir_type

        return class_of_ir_type(bits).width
    hint = f"; write fx.{bits.__name__}.width" if isinstance(bits, NumericMeta) else ""
    raise TypeError(f"recast_layout takes bits as an int or an MLIR type, got {bits!r}{hint}")


def tile_to_shape(block: Any, target_shape: Any, order: Any) -> Any:
    """Repeat `block` until it covers `target_shape`, in the order given: ((block_i, rep_i), …)."""
    operands = (_layout_value(block, "tile_to_shape"), as_int_tuple(target_shape).value, as_int_tuple(order).value)
    return wrap_any(infer("fly.tile_to_shape", operands))


def is_profile_congruent(a: Any, b: Any) -> bool:
    """Tell whether two values have the same nesting."""
    return tt.congruent(_tree(a), _tree(b))


def is_profile_weakly_congruent(a: Any, b: Any) -> bool:
    """Tell whether the nesting of `a` is a prefix of that of `b`."""
    return tt.weakly_congruent(_tree(a), _tree(b))


def assume(*_: Any) -> Any:
    """Give the compiler a fact about a value; not supported by the dialect: `NotImplementedError`."""
    raise NotImplementedError("fx.assume has no lowering; give divisibility on the host, with mark_layout_dynamic(...)")

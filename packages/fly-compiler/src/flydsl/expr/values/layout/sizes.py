# SPDX-License-Identifier: Apache-2.0
"""Facts of layouts and int-tuples: rank, depth, sizes, and their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import infer
from flydsl.trace.wrap import wrap_any

from ..numeric.base import Numeric, as_numeric
from ..numeric.cast import constant
from ..numeric.types import Index
from . import trees
from .construct import as_int_tuple
from .objects import ComposedLayout, FlyValue, IntTuple, Layout, Tile, _get, has_none
from .operands import again, layout_operand, operand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..accepted import TilerLike

__all__ = [
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "coprofile",
    "coshape",
    "cosize",
    "depth",
    "get",
    "get_",
    "get_iter",
    "get_layout",
    "get_leaves",
    "get_scalar",
    "get_shape",
    "get_stride",
    "has_none",
    "rank",
    "size",
    "tree_of",
]


def tree_of(x: Any) -> Any:
    """Return the nesting that rank and depth are read from: an int-tuple's own, a layout-like's shape."""
    if isinstance(x, IntTuple):
        return x.tree
    if isinstance(x, (Layout, ComposedLayout)):
        return x._facts.shape
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
        return tuple(tree_of(item) for item in x)
    raise TypeError(f"rank and depth are those of an int, a tuple or a layout-like value, not {type(x).__name__}")


def rank(x: TilerLike) -> int:
    """Return the number of top-level modes; 1 for a leaf."""
    return trees.rank_of(tree_of(x))


def depth(x: TilerLike) -> int:
    """Return the nesting depth; 0 for a leaf."""
    return trees.depth_of(tree_of(x))


def size(x: TilerLike) -> IntTuple:
    """Return the number of elements (product of the shape) as an `IntTuple`; `.unpack()` gives a number."""
    return IntTuple(infer("fly.size", (operand(x, "size"),)))


def cosize(x: TilerLike) -> IntTuple:
    """Return the extent of the co-domain: the largest index plus 1."""
    return IntTuple(infer("fly.cosize", (layout_operand(x, "cosize"),)))


def coshape(x: TilerLike) -> IntTuple:
    """Return the shape of the co-domain."""
    return IntTuple(infer("fly.coshape", (layout_operand(x, "coshape"),)))


def coprofile(x: TilerLike) -> IntTuple:
    """Return the nesting of the co-domain, with zeros."""
    return IntTuple(infer("fly.coprofile", (layout_operand(x, "coprofile"),)))


def get_shape(x: TilerLike) -> IntTuple:
    """Return the shape of a layout or tensor."""
    return IntTuple(infer("fly.get_shape", (layout_operand(x, "get_shape"),)))


def get_stride(x: TilerLike) -> IntTuple:
    """Return the strides of a layout or tensor; a composed layout has none (`ValueError`)."""
    return IntTuple(infer("fly.get_stride", (layout_operand(x, "get_stride"),)))


def get_layout(x: TilerLike) -> Any:
    """Return the layout of a tensor."""
    return wrap_any(infer("fly.get_layout", (layout_operand(x, "get_layout"),)))


def get_iter(x: TilerLike) -> Any:
    """Return the iterator of a tensor: its pointer, or the base coordinate of a coordinate tensor."""
    return again(x, infer("fly.get_iter", (layout_operand(x, "get_iter"),)))


def composed_get_inner(x: ComposedLayout) -> Any:
    """Return the inner function of a composed layout."""
    return x.inner


def composed_get_offset(x: ComposedLayout) -> IntTuple:
    """Return the offset of a composed layout."""
    return x.offset


def composed_get_outer(x: ComposedLayout) -> Any:
    """Return the outer layout of a composed layout."""
    return x.outer


def get_scalar(x: TilerLike) -> int | Numeric:
    """Return the Python int or scalar of an int-tuple of one leaf; `ValueError` when there are more."""
    value = as_int_tuple(x)
    leaves = trees.leaves_of(value.tree)
    if len(leaves) != 1:
        raise ValueError(f"get_scalar: expected an int-tuple of one leaf, got {value}")
    if type(leaves[0]) is int:
        return leaves[0]
    return as_numeric(infer("fly.get_scalar", (value.value,)))


def get_leaves(x: TilerLike, dynamic_only: bool = False) -> tuple[Any, ...]:
    """Return the leaves, depth first, as Python ints (static) and scalars; with `dynamic_only` just the latter."""
    leaves = trees.leaves_of(as_int_tuple(x).to_py_value())
    return tuple(leaf for leaf in leaves if isinstance(leaf, Numeric)) if dynamic_only else tuple(leaves)


def get_(x: TilerLike, mode: int | Sequence[int]) -> Any:
    """Return the sub-mode at an index or a path of indices; `IndexError` out of range."""
    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    return again(x, _get(x, mode, tree_of(x)))


def get(x: TilerLike, mode: int) -> Any:
    """Return item `mode` of a Python sequence, or of an int-tuple as an index-typed SSA value."""
    if isinstance(x, (tuple, list)):
        return x[mode]
    scalar = get_(x, mode)
    value = get_scalar(scalar) if isinstance(scalar, IntTuple) else scalar
    return constant(value, Index) if isinstance(value, int) else value.to(Index).ir_value()

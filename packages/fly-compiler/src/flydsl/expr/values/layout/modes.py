# SPDX-License-Identifier: Apache-2.0
"""Taking, grouping and adding modes of int-tuples, layouts and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import i32_array, infer, int_attribute
from flydsl.trace.wrap import wrap_any

from .. import above
from . import trees
from .bounds import check_bounds
from .construct import as_int_tuple, make_layout
from .objects import FlyValue, IntTuple
from .operands import again, operand
from .sizes import get_, has_none, rank, tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..accepted import IntTupleLike, TilerLike

__all__ = [
    "append",
    "dice",
    "group",
    "prepend",
    "select",
    "slice",
    "take",
    "zip",
]


def _range(x: Any, begin: int, end: int, what: str) -> dict[str, ir.Attribute]:
    modes = rank(x)
    last = modes if end == -1 else end
    if not 0 <= begin <= last <= modes:
        raise IndexError(f"{what}: modes [{begin}, {end}) of a value of rank {modes}")
    return {"begin": int_attribute(begin), "end": int_attribute(end)}


def take(x: TilerLike, begin: int, end: int) -> Any:
    """Return the modes from `begin` up to `end` (-1: the last)."""
    limits = _range(x, begin, end, "take")
    if begin == (rank(x) if end == -1 else end):
        raise IndexError(f"take: modes [{begin}, {end}) are none")
    return again(x, infer("fly.take", (operand(x, "take"),), limits))


def select(x: TilerLike, indices: Sequence[int]) -> Any:
    """Return the modes that `indices` lists, in that order."""
    modes = [int(i) for i in indices]
    if not modes:
        raise IndexError("select: no mode is listed")
    for mode in modes:
        if not 0 <= mode < rank(x):
            raise IndexError(f"select: mode {mode} of a value of rank {rank(x)}")
    return again(x, infer("fly.select", (operand(x, "select"),), {"indices": i32_array(modes)}))


def group(x: TilerLike, begin: int, end: int) -> Any:
    """Return `x` with the modes from `begin` up to `end` (-1: the last) made one mode."""
    return again(x, infer("fly.group", (operand(x, "group"),), _range(x, begin, end, "group")))


def _extend(op: str, base: Any, elem: Any, n: int | None) -> Any:
    if n is not None and n < rank(base):
        raise ValueError(f"{op.removeprefix('fly.')}: rank {n} is less than the rank {rank(base)} of the base")
    attributes = {} if n is None else {"n": int_attribute(n)}
    return wrap_any(infer(op, (operand(base, op), operand(elem, op)), attributes))


def append(base: TilerLike, elem: TilerLike, n: int | None = None) -> Any:
    """Return `base` with `elem` as a further last mode; with `n`, as often as it takes to have rank `n`."""
    return _extend("fly.append", base, elem, n)


def prepend(base: TilerLike, elem: TilerLike, n: int | None = None) -> Any:
    """Return `base` with `elem` as a further first mode; with `n`, as often as it takes to have rank `n`."""
    return _extend("fly.prepend", base, elem, n)


def zip(lhs: TilerLike, rhs: TilerLike) -> Any:
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
    return make_layout((a.shape, b.shape), (a.stride, b.stride))


def _one_mode(x: Any) -> Any:
    if isinstance(x, IntTuple):
        return as_int_tuple((x,))
    return make_layout((x.shape,), (x.stride,))


def _coordinate(x: Any, coord: Any, what: str) -> ir.Value:
    value = as_int_tuple(tuple(coord) if isinstance(coord, list) else coord)
    if not trees.weakly_congruent(value.tree, tree_of(x)):
        raise ValueError(
            f"{what}: profile mismatch: coordinate {trees.spelled(value.tree)} does not fit the modes "
            f"{trees.spelled(tree_of(x))}"
        )
    if hasattr(x, "is_coordinate"):  # a tensor
        check_bounds(x, value.tree)
    return value.value


def slice(x: TilerLike, coord: IntTupleLike) -> Any:
    """Keep the modes where `coord` is `None` and fix the others.

    On a tensor the iterator moves to the fixed coordinates.

    Raises:
        ValueError: the coordinate does not fit the modes, or leaves none open.
        IndexError: it is known to be outside a tensor in registers or LDS.
    """
    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    if not has_none(coord):
        raise ValueError("slice: the coordinate leaves no mode open; use None for the modes to keep")
    return again(x, infer("fly.slice", (x.value, _coordinate(x, coord, "slice"))))


def dice(x: TilerLike, coord: IntTupleLike) -> Any:
    """Keep the modes where `coord` is not `None`; for int-tuples and layouts."""
    if not isinstance(x, FlyValue):
        x = as_int_tuple(x)
    return wrap_any(infer("fly.dice", (x.value, _coordinate(x, coord, "dice"))))


above.attach(slice=slice)

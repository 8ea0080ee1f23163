# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of int-tuples, leaf by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.trace.build import build, infer

from ..numeric.base import Numeric, wrap
from ..numeric.types import Boolean
from .construct import as_int_tuple
from .objects import IntTuple

if TYPE_CHECKING:
    from ..accepted import IntTupleLike

__all__ = [
    "ceil_div",
    "elem_less",
    "equal",
    "int_tuple_add",
    "int_tuple_div",
    "int_tuple_mod",
    "int_tuple_mul",
    "int_tuple_product",
    "int_tuple_product_each",
    "int_tuple_product_like",
    "int_tuple_sub",
    "shape_div",
]


def _tuple_op(op: str, a: Any, b: Any) -> IntTuple:
    return IntTuple(infer(op, (as_int_tuple(a).value, as_int_tuple(b).value)))


def int_tuple_add(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the leaf-wise sum."""
    return _tuple_op("fly.int_tuple_add", a, b)


def int_tuple_sub(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the leaf-wise difference."""
    return _tuple_op("fly.int_tuple_sub", a, b)


def int_tuple_mul(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the leaf-wise product."""
    return _tuple_op("fly.int_tuple_mul", a, b)


def int_tuple_div(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the leaf-wise quotient, truncated."""
    return _tuple_op("fly.int_tuple_div", a, b)


def int_tuple_mod(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the leaf-wise remainder."""
    return _tuple_op("fly.int_tuple_mod", a, b)


def int_tuple_product(x: IntTupleLike) -> IntTuple:
    """Return the product of all leaves."""
    return IntTuple(infer("fly.int_tuple_product", (as_int_tuple(x).value,)))


def int_tuple_product_each(x: IntTupleLike) -> IntTuple:
    """Return the product of each top-level mode."""
    return IntTuple(infer("fly.int_tuple_product_each", (as_int_tuple(x).value,)))


def int_tuple_product_like(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the products of `a` folded to the nesting of `b`."""
    return _tuple_op("fly.int_tuple_product_like", a, b)


def shape_div(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return CuTe's shape division; a scalar divisor is used up by the leading modes."""
    return _tuple_op("fly.shape_div", a, b)


def ceil_div(a: IntTupleLike, b: IntTupleLike) -> IntTuple:
    """Return the quotient of int-tuples rounded up (for scalars see `ceildiv`)."""
    return _tuple_op("fly.ceil_div", a, b)


def elem_less(a: IntTupleLike, b: IntTupleLike) -> Numeric:
    """Tell, as a dynamic `Boolean`, whether every leaf of `a` is less than its partner in `b`."""
    return wrap(Boolean, build("fly.elem_less", (as_int_tuple(a).value, as_int_tuple(b).value), Boolean.ir_type))


def equal(a: IntTupleLike, b: IntTupleLike) -> Numeric:
    """Tell, as a dynamic `Boolean`, whether two int-tuples are the same."""
    return wrap(Boolean, build("fly.equal", (as_int_tuple(a).value, as_int_tuple(b).value), Boolean.ir_type))

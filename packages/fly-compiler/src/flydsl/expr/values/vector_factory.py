# SPDX-License-Identifier: Apache-2.0
"""Making register vectors: filled, like others, broadcast, selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.trace.build import build, vector_type

from . import above
from .numeric.base import _class_of, as_numeric
from .vector import Vector, _as_vector_operand, _make, element, select_lanes
from .vector_shape import count, normal_shape

if TYPE_CHECKING:
    from .accepted import IntTupleLike, ScalarLike, TypeLike

__all__ = [
    "empty_like",
    "full",
    "full_like",
    "ones_like",
    "vec_broadcast",
    "vec_select",
    "zeros_like",
]


def full(shape: IntTupleLike, fill_value: ScalarLike, dtype: TypeLike | None = None) -> Vector:
    """Return a vector of `shape` with `fill_value` in every lane; without `dtype`, the dtype of the value.

    Raises:
        ValueError: a Python number with a fraction, for integers.
        OverflowError: a Python integer of more bits than `dtype` has.
    """
    if dtype is None:
        scalar = as_numeric(fill_value)
        cls = scalar.dtype
    else:
        cls = _class_of(dtype)
        scalar = element(fill_value, cls)
    shape = normal_shape(shape)
    kind = vector_type(count(shape), cls.ir_type)
    return _make(build("vector.broadcast", (scalar.ir_value(),), kind), shape, cls)


def full_like(other: Vector, fill_value: ScalarLike, dtype: TypeLike | None = None) -> Vector:
    """Return a vector shaped like `other`, filled with `fill_value`."""
    return full(other.shape, fill_value, other.dtype if dtype is None else dtype)


def zeros_like(other: Vector, dtype: TypeLike | None = None) -> Vector:
    """Return a vector of zeros shaped like `other`."""
    return full_like(other, 0, dtype)


def ones_like(other: Vector, dtype: TypeLike | None = None) -> Vector:
    """Return a vector of ones shaped like `other`."""
    return full_like(other, 1, dtype)


def empty_like(other: Vector, dtype: TypeLike | None = None) -> Vector:
    """Return a vector shaped like `other`; its lanes are zero."""
    return full_like(other, 0, dtype)


def vec_broadcast(value: Any, shape: IntTupleLike, dtype: TypeLike | None = None) -> Vector:
    """Return a scalar, or a vector by NumPy's rules, repeated to `shape`."""
    operand = _as_vector_operand(value)
    if isinstance(operand, Vector):
        return operand.broadcast_to(shape)
    return full(shape, value, dtype)


def vec_select(mask: Any, true_value: Any, false_value: Any) -> Vector:
    """Return `true_value` where `mask` is true, else `false_value`, lane by lane."""
    return select_lanes(mask, true_value, false_value)


above.attach(full=full, full_like=full_like)

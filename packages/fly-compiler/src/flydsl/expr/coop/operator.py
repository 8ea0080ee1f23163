# SPDX-License-Identifier: Apache-2.0
"""Operators of reductions and scans: `fx.ReductionOp`, their names, or a callable of two values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.math import max, min
from ..values.numeric.meta import NumericMeta
from ..values.vector import ReductionOp

if TYPE_CHECKING:
    from ..values.accepted import Combine

__all__ = ["combiner", "identity_of"]


def _add(a: Any, b: Any) -> Any:
    return a + b


def _mul(a: Any, b: Any) -> Any:
    return a * b


_COMBINE: dict[ReductionOp, Callable[[Any, Any], Any]] = {
    ReductionOp.ADD: _add,
    ReductionOp.MUL: _mul,
    ReductionOp.MAX: max,
    ReductionOp.MIN: min,
}


def combiner(op: Combine) -> Callable[[Any, Any], Any]:
    """Return the function of two values that `op` means.

    Raises:
        ValueError: an unknown name.
        TypeError: neither an operation, a name nor a callable.
    """
    if callable(op) and not isinstance(op, ReductionOp):
        return op
    return _COMBINE[ReductionOp.of(op)]


def identity_of(op: Combine, dtype: NumericMeta) -> Any:
    """Return the value that `op` leaves others unchanged with, as a scalar of `dtype`.

    Raises:
        ValueError: `op` is a callable, whose identity is not known.
    """
    if callable(op) and not isinstance(op, ReductionOp):
        raise ValueError("the identity of a callable operator is not known; give init=")
    kind = ReductionOp.of(op)
    if kind is ReductionOp.ADD:
        return dtype(0)
    if kind is ReductionOp.MUL:
        return dtype(1)
    largest = kind is ReductionOp.MAX
    if dtype.is_float:
        return dtype(-math.inf if largest else math.inf)
    if dtype.signed:
        return dtype(-(1 << (dtype.width - 1)) if largest else (1 << (dtype.width - 1)) - 1)
    return dtype(0 if largest else (1 << dtype.width) - 1)

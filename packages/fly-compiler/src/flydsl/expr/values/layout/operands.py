# SPDX-License-Identifier: Apache-2.0
"""Operands of the layout algebra: any layout-like or tuple-like value as an SSA value."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyDialect import facts_of
from flydsl.trace.wrap import wrap_any

from .construct import as_int_tuple
from .host import from_host
from .objects import FlyValue, IntTuple

__all__ = [
    "again",
    "layout_operand",
    "operand",
]


def operand(x: Any, what: str) -> ir.Value:
    """Return the SSA value of a layout-like operand; tuple-likes become int-tuples."""
    if isinstance(x, FlyValue):
        return x.value
    if isinstance(x, ir.Value) and facts_of(x) is not None:
        return x
    x = from_host(x)
    if isinstance(x, FlyValue):
        return x.value
    if x is None or isinstance(x, (str, type)):
        raise TypeError(f"{what} takes a layout, a tensor or an int-tuple, not {x!r}")
    return as_int_tuple(x).value


def layout_operand(x: Any, what: str) -> ir.Value:
    """Return the SSA value of a layout or tensor; `TypeError` for int-tuples and everything else."""
    if not isinstance(x, FlyValue):
        x = from_host(x)
    if isinstance(x, FlyValue) and not isinstance(x, IntTuple):
        return x.value
    raise TypeError(f"{what} takes a layout or a tensor, not {type(x).__name__}")


def again(source: Any, value: ir.Value) -> Any:
    """Return the object for `value`, with the element class of the tensor `source` it was made from."""
    result = wrap_any(value)
    dtype = getattr(source, "_dtype", None)
    if dtype is not None and hasattr(result, "_dtype"):
        result._dtype = dtype
    beyond = getattr(source, "beyond", None)
    if beyond is not None and hasattr(result, "beyond"):
        result.beyond = beyond
    return result

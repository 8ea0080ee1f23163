# SPDX-License-Identifier: Apache-2.0
"""The common type of two operands: the promotion table of the language.

Python literals are not weak: they take part as `Boolean`, `Int32`/`Int64` or `Float32`.
"""

from __future__ import annotations

from typing import Any

from .meta import NumericMeta, classes

__all__ = ["arithmetic_type", "common_type"]

_table: dict[tuple[Any, Any], Any] = {}
_arithmetic: dict[tuple[Any, Any], Any] = {}


def arithmetic_type(a: NumericMeta, b: NumericMeta) -> NumericMeta:
    """Return the common type for `+ - * / // %`: as `common_type`, with `Boolean` taken as `Int32`."""
    found = _arithmetic.get((a, b))
    if found is None:
        boolean, int32 = classes.Boolean, classes.Int32
        found = common_type(int32 if a is boolean else a, int32 if b is boolean else b)
        _arithmetic[a, b] = found
    return found


def common_type(a: NumericMeta, b: NumericMeta) -> NumericMeta:
    """Return the type in which an operation on an `a` and a `b` is done.

    Raises:
        ValueError: two different floats of 8 bits or less; one has to be cast by hand.
    """
    if a is b:
        return a
    found = _table.get((a, b))
    if found is None:
        found = _table[a, b] = _common(a, b)
    return found


def _common(a: NumericMeta, b: NumericMeta) -> NumericMeta:
    if a.is_float and b.is_float:
        return _two_floats(a, b)
    if a.is_float:
        return _float_and_integer(a, b)
    if b.is_float:
        return _float_and_integer(b, a)
    return _two_integers(a, b)


def _two_floats(a: NumericMeta, b: NumericMeta) -> NumericMeta:
    wider = max(a.width, b.width)
    if wider < 16:
        raise ValueError(
            f"{a.__name__} and {b.__name__} have no common type; cast one of them, for example x.to(fx.Float32)"
        )
    if a.width == b.width:  # Float16 with BFloat16
        return classes.Float32
    return a if a.width > b.width else b


def _float_and_integer(flt: NumericMeta, integer: NumericMeta) -> NumericMeta:
    if flt.width >= integer.width:
        return flt
    return classes.Float32 if integer.width <= 32 else classes.Float64


def _two_integers(a: NumericMeta, b: NumericMeta) -> NumericMeta:
    index = classes.Index
    if a is index or b is index:
        other = b if a is index else a
        if other.width == 128:
            return other
        return a if other is classes.Uint64 else index
    if a.signed == b.signed:
        return a if a.width >= b.width else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.width >= signed.width else signed

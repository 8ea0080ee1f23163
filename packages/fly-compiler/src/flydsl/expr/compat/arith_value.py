# SPDX-License-Identifier: Apache-2.0
"""`ArithValue(value)`: a scalar or vector of the language as the raw value that MLIR's bindings return."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from ..values.arith_value import ArithValue as RawValue
from .builders import opened

__all__ = ["ArithValue"]


class _Family(type):
    """Makes the name stand for the class of raw values, which must not have a constructor of its own."""

    def __call__(cls, value: Any, signed: bool | None = None) -> Any:
        raw = opened(value)
        if not isinstance(raw, ir.Value):
            raise TypeError(
                f"ArithValue(...) wraps a scalar or vector that exists when the kernel runs, not "
                f"{type(value).__name__}; for a number use fx.arith.constant"
            )
        if not isinstance(raw, RawValue):
            raw = RawValue(raw)
        return raw if signed is None else raw.with_signedness(signed)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, RawValue)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, RawValue)

    def __getattr__(cls, name: str) -> Any:
        return getattr(RawValue, name)


class ArithValue(metaclass=_Family):
    """A raw SSA scalar or vector with operators; see `flydsl.expr.values.arith_value`.

    Args:
        value: a scalar or vector of the language, or an SSA value.
        signed: whether integers count as signed; by default as they do.

    Raises:
        TypeError: `value` is no value of a kernel.
    """

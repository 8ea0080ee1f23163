# SPDX-License-Identifier: Apache-2.0
"""Constructs that only Python values can decide, refused by name and line when a run-time value comes."""

from __future__ import annotations

from typing import Any

from ..diagnostics import compile_error
from .logic import is_dynamic

__all__ = ["const_expr", "static_subject", "static_test"]


def _described(value: Any) -> str:
    return type(value).__name__


def const_expr(value: Any) -> Any:
    """Return a Python value as it is; a run-time value has no truth while tracing."""
    if is_dynamic(value):
        raise compile_error(
            f"const_expr() got a run-time {_described(value)}: it is known only when the kernel runs. Drop const_expr "
            "for a run-time branch, or pass the value as fx.Constexpr"
        )
    return value


def static_test(value: Any, what: str) -> Any:
    """Return a condition that Python itself has to decide."""
    if is_dynamic(value):
        hint = "fx.device_assert(...) checks it when the kernel runs (fx.host_assert in a host function)"
        if what != "an assert":
            hint = "Write it as an `if` statement"
        raise compile_error(
            f"cannot evaluate dynamic '{_described(value)}' as Python bool during tracing: {what} is decided by "
            f"Python. {hint}; or pass the value as fx.Constexpr"
        )
    return value


def static_subject(value: Any) -> Any:
    """Return the subject of a `match`."""
    if is_dynamic(value):
        raise compile_error(
            f"cannot evaluate dynamic '{_described(value)}' as Python bool during tracing: match is decided by Python. "
            "Write it as `if` / `elif` / `else`"
        )
    return value

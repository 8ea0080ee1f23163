# SPDX-License-Identifier: Apache-2.0
"""Constructs that only Python values can decide, refused by name and line when a run-time value comes."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.ops.printf import device_assert, host_assert
from flydsl.expr.values.numeric import Numeric
from flydsl.expr.values.tensor import Tensor
from flydsl.expr.values.vector import Vector
from flydsl.trace import context as _trace
from flydsl.trace.diagnostics import compile_error
from flydsl.trace.library import is_of_compiler

from .logic import is_dynamic

__all__ = ["asserted", "const_expr", "own_names", "rebound", "static_subject", "static_test", "unused"]


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
        raise compile_error(
            f"cannot evaluate dynamic '{_described(value)}' as Python bool during tracing: {what} is decided by "
            "Python. Write it as an `if` statement; or pass the value as fx.Constexpr"
        )
    return value


def asserted(condition: Any, message: Callable[[], tuple[Any, ...]]) -> Any:
    """Return the condition of an `assert` for Python. One known only at run time is checked then; Python gets `True`.

    Args:
        condition: what is asserted.
        message: gives the texts and values that the message is made of.
    """
    if not is_dynamic(condition):
        return condition
    parts = message()
    kernel = _trace.current().kernel is not None
    (device_assert if kernel else host_assert)(condition, "{}" * len(parts), *parts)
    return True


def unused(value: Any) -> Any:
    """Return the value of a statement that is a name alone; a function of the language was to be called."""
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, FunctionType | MethodType) and is_of_compiler(module):
        name = value.__name__
        raise compile_error(f"'{name}' is named and not called, which does nothing: write {name}(...)")
    return value


def own_names(names: dict[str, object] | list[str]) -> dict[str, object] | list[str]:
    """Return what `locals()`, `vars()` or `dir()` gave, without the names that rewriting made."""
    if isinstance(names, dict):
        return {name: value for name, value in names.items() if not name.startswith("__fly_")}
    return [name for name in names if not name.startswith("__fly_")]


def rebound(before: Any, value: Any, name: str) -> Any:
    """Return what a parameter that nothing reads is assigned; for a tensor an element was meant."""
    if isinstance(before, Tensor) and isinstance(value, (int, float, Numeric, Vector, ir.Value, Tensor)):
        raise compile_error(
            f"'{name}' is a tensor, and this makes the name stand for something else: nothing is stored. Write "
            f"`{name}[i] = ...` for an element, {name}.store(vector) or fx.copy(...) for more"
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

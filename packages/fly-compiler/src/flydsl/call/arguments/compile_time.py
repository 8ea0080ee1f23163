# SPDX-License-Identifier: Apache-2.0
"""Compile-time arguments as parts of the key of a specialisation."""

from __future__ import annotations

import enum
from types import FunctionType
from typing import Any

__all__ = ["constexpr_key", "type_key"]


def constexpr_key(where: str, value: Any, *, optional: bool = False) -> Any:
    """Return the value of a `Constexpr` parameter as a part of the cache key; `True`, `1` and `1.0` differ.

    Args:
        where: the argument, for the message.
        value: what was passed.
        optional: `None` is the parameter's default, and so may be passed.

    Raises:
        TypeError: the value has no content to compare by.
    """
    kind = type(value)
    if isinstance(value, (int, str)):
        return (kind, value)
    if isinstance(value, float):
        return (kind, float.hex(value))
    if isinstance(value, tuple):
        return (kind, *(constexpr_key(where, one) for one in value))
    if value is None and optional:
        return (kind, None)
    if kind is FunctionType and _is_closed_lambda(value):
        code = value.__code__
        return (kind, code.co_code, code.co_consts, code.co_names, value.__defaults__)
    hint = ""
    if isinstance(value, type):
        hint = ". Declare the parameter fx.Type to pass a class"
    elif isinstance(value, enum.Enum):
        hint = ". Pass its value, or make it an enum.IntEnum"
    elif value is None:
        hint = ". Give the parameter the default None to make it optional"
    raise TypeError(
        f"{where}: a compile-time argument is an int, bool, float, str, a tuple of these, or a lambda without outer "
        f"variables, not {kind.__module__}.{kind.__qualname__}{hint}"
    )


def type_key(where: str, value: Any) -> type:
    """Return the value of a `Type` parameter as a part of the cache key.

    Raises:
        TypeError: no class.
    """
    if isinstance(value, type):
        return value
    raise TypeError(
        f"{where} is declared fx.Type: pass a class such as fx.Float32, not a value of type {type(value).__name__}"
    )


def _is_closed_lambda(value: FunctionType) -> bool:
    code = value.__code__
    return value.__name__ == "<lambda>" and not code.co_freevars and not value.__kwdefaults__ and not code.co_names

# SPDX-License-Identifier: Apache-2.0
"""MLIR's own op builders, reachable as names of our modules: they take values of the language and user locations."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

from flydsl.trace.context import location
from flydsl.trace.fastmath import flags_attribute

__all__ = ["proxy"]


def _open(value: Any) -> Any:
    """Return the SSA value of a value of the language; sequences element by element; anything else as it is."""
    ir_value = getattr(value, "ir_value", None)
    if callable(ir_value) and not isinstance(value, type):
        return ir_value()
    if isinstance(value, (list, tuple)):
        return type(value)(_open(item) for item in value)
    return value


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def build(*args: Any, **kwargs: Any) -> Any:
        from ..values.numeric.meta import NumericMeta

        args = tuple(a.ir_type if isinstance(a, NumericMeta) else _open(a) for a in args)
        kwargs = {key: item.ir_type if isinstance(item, NumericMeta) else _open(item) for key, item in kwargs.items()}
        if "fastmath" in kwargs:
            flags = flags_attribute(kwargs.pop("fastmath"))
            if flags:
                kwargs["fastmath"] = flags["fastmath"]
        where = location()
        if where is not None:
            kwargs.setdefault("loc", where)
        return function(*args, **kwargs)

    return build


def proxy(dialect: Any, name: str, module: str) -> Any:
    """Return `name` of a generated dialect module; builders get the wrapper, classes and enumerations stay.

    Raises:
        AttributeError: neither our module nor the dialect has that name.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(dialect, name, None)
    if found is None:
        raise AttributeError(f"module '{module}' has no attribute '{name}', and neither has MLIR's dialect")
    if isinstance(found, type) and callable(getattr(dialect, name + "_", None)):
        found = getattr(dialect, name + "_")  # where the op class has the name, its builder ends in an underscore
    if isinstance(found, (type, enum.EnumMeta)) or not callable(found):
        return found
    return _wrap(found)

# SPDX-License-Identifier: Apache-2.0
"""MLIR's own op builders, reachable as names of our modules: they take values of the language and user locations."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from flydsl._mlir import ir
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


def _wrap(function: Callable[..., Any], check: Callable[[str], None] | None) -> Callable[..., Any]:
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
        made = function(*args, **kwargs)
        if check is not None and isinstance(made, (ir.Value, ir.OpView)):
            op = made.owner if isinstance(made, ir.Value) else made
            check(op.operation.name)
        return made

    return build


def proxy(dialect: ModuleType, name: str, module: str, check: Callable[[str], None] | None = None) -> Any:
    """Return `name` of a generated dialect module; builders get the wrapper, classes and enumerations stay.

    Args:
        dialect: the generated module.
        name: what is asked for.
        module: the module of ours that is asked.
        check: is given the name of each operation that is built, and may refuse it.

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
    return _wrap(found, check)

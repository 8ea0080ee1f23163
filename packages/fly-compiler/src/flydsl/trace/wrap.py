# SPDX-License-Identifier: Apache-2.0
"""From an SSA value of any type to the object of the language that wraps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyDialect import facts_of

__all__ = ["as_dsl_value", "as_ir_value"]

_wrappers: dict[type, Any] = {}


def register_wrapper(kind: type, cls: Any) -> None:
    """Make `cls(value)` the object for SSA values whose type's facts are of a class of `flydsl._mlir.facts`."""
    _wrappers[kind] = cls


_makers: dict[str, Callable[[Any], Any]] = {}


def register_makers(**makers: Callable[[Any], Any]) -> None:
    """Say what wraps values of builtin types: `scalar`, which takes Python numbers too, and `vector`."""
    _makers.update(makers)


def wrap_any(value: ir.Value) -> Any:
    """Return the object of the language for an SSA value.

    Raises:
        TypeError: nothing wraps values of that type.
    """
    facts = facts_of(value)
    if facts is not None:
        cls = _wrappers.get(type(facts))
        if cls is None:
            raise TypeError(f"no object of the language wraps a value of type {value.type}")
        return cls(value)
    if isinstance(value.type, ir.VectorType):
        return _makers["vector"](value)
    return _makers["scalar"](value)


def as_dsl_value(value: Any, exemplar: Any = None) -> Any:
    """Return an SSA value (or list of them, for a composite exemplar) as a value of the language.

    With an `exemplar` the class, logical shape and signedness are those of the exemplar.
    """
    if exemplar is not None:
        from .protocol import construct_from_ir_values

        values = list(value) if isinstance(value, (list, tuple)) else [as_ir_value(value)]
        return construct_from_ir_values(exemplar, values)
    if isinstance(value, ir.Value):
        return wrap_any(value)
    if isinstance(value, (bool, int, float)):
        return _makers["scalar"](value)
    return value


def as_ir_value(value: Any, keep_static: bool = False) -> Any:
    """Return the SSA value of a value of the language; a number becomes a constant unless `keep_static`.

    Raises:
        TypeError: the value has no SSA form, or more than one SSA value.
    """
    if isinstance(value, ir.Value):
        return value
    if keep_static:
        if isinstance(value, (bool, int, float)):
            return value
        is_static = getattr(value, "is_static", None)
        if callable(is_static) and is_static():
            return value.value
    if isinstance(value, (bool, int, float)):
        return _makers["scalar"](value).ir_value()
    from .protocol import extract_to_ir_values

    values = extract_to_ir_values(value)
    if len(values) != 1:
        raise TypeError(f"a '{type(value).__name__}' is {len(values)} SSA values, not one")
    return values[0]

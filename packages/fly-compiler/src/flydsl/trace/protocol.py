# SPDX-License-Identifier: Apache-2.0
"""Flattening of DSL values to SSA values and back, through control flow, kernel arguments and storage.

A *DSL value* has `__extract_to_ir_values__()` (a list of SSA values, all that is dynamic about it) and a class-level
`__construct_from_ir_values__(values, exemplar)` that rebuilds it. Python containers flatten element by element, in
order; what is plain Python and not a number (a string, `None`, a class) is carried by the exemplar.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

__all__ = ["construct_from_ir_values", "extract_to_ir_values"]


def is_dsl_value(value: Any) -> bool:
    """Tell whether `value` takes part in the protocol itself (containers do not)."""
    return hasattr(value, "__extract_to_ir_values__")


def extract_to_ir_values(value: Any) -> list[Any]:
    """Return the SSA values of `value`, depth first.

    Raises:
        TypeError: `value` is neither a DSL value, an SSA value nor a container of them.
    """
    extract = getattr(value, "__extract_to_ir_values__", None)
    if extract is not None and not isinstance(value, type):
        return list(extract())
    if isinstance(value, (list, tuple)):
        return _leaves(value)
    if isinstance(value, dict):
        return _leaves(value.values())
    if isinstance(value, SimpleNamespace):
        return _leaves(vars(value).values())
    from flydsl._mlir import ir

    if isinstance(value, ir.Value):
        return [value]
    raise TypeError(
        f"a value of type '{type(value).__name__}' has no SSA form; wrap numbers in a DSL type such as fx.Int32, "
        "or declare the parameter fx.Constexpr"
    )


def _leaves(items: Iterable[Any]) -> list[Any]:
    """Return the SSA values of the parts of a container; a part that is `None` has none."""
    return [leaf for item in items if item is not None for leaf in extract_to_ir_values(item)]


def ir_value_count(exemplar: Any) -> int:
    """Return how many SSA values a DSL value flattens to, without materialising constants where the class knows it."""
    count = getattr(exemplar, "__ir_value_count__", None)
    return int(count()) if count is not None else len(extract_to_ir_values(exemplar))


def construct_from_ir_values(exemplar: Any, values: Sequence[Any]) -> Any:
    """Rebuild a value of the form of `exemplar` from `values`; all of them are used up.

    Raises:
        ValueError: the number of values does not match the exemplar.
    """
    rest = list(values)
    result = _take(exemplar, rest)
    if rest:
        raise ValueError(f"{len(rest)} of {len(values)} SSA values are left over for a '{type(exemplar).__name__}'")
    return result


def _take(exemplar: Any, rest: list[Any]) -> Any:
    construct = getattr(type(exemplar), "__construct_from_ir_values__", None)
    if construct is not None:
        count = ir_value_count(exemplar)
        if len(rest) < count:
            raise ValueError(f"a '{type(exemplar).__name__}' needs {count} SSA values, got {len(rest)}")
        taken, rest[:count] = rest[:count], []
        return construct(taken, exemplar)
    if isinstance(exemplar, tuple) and hasattr(exemplar, "_fields"):
        return type(exemplar)(*(_part(item, rest) for item in exemplar))
    if isinstance(exemplar, (list, tuple)):
        return type(exemplar)(_part(item, rest) for item in exemplar)
    if isinstance(exemplar, dict):
        return {key: _part(item, rest) for key, item in exemplar.items()}
    if isinstance(exemplar, SimpleNamespace):
        return SimpleNamespace(**{key: _part(item, rest) for key, item in vars(exemplar).items()})
    if not rest:
        raise ValueError(f"a '{type(exemplar).__name__}' needs an SSA value, but none is left")
    return rest.pop(0)


def _part(exemplar: Any, rest: list[Any]) -> Any:
    return None if exemplar is None else _take(exemplar, rest)

# SPDX-License-Identifier: Apache-2.0
"""The protocols by which classes of others take part: as values of traced code, as launch arguments, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from flydsl.trace.protocol import construct_from_ir_values as _construct
from flydsl.trace.protocol import extract_to_ir_values, is_dsl_value

__all__ = [
    "DslType",
    "JitArgument",
    "Storable",
    "c_abi_spec",
    "cache_signature",
    "construct_from_ir_values",
    "dsl_align_of",
    "dsl_size_of",
    "extract_to_ir_values",
    "get_ir_types",
    "is_dsl_value",
    "peek_from_ptr",
    "poke_into_ptr",
]


@runtime_checkable
class DslType(Protocol):
    """A value of traced code: it flattens to SSA values and is rebuilt from them."""

    def __extract_to_ir_values__(self) -> list[Any]:
        """Return all that is dynamic about the value, as SSA values."""

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Any], exemplar: Any = None) -> Any:
        """Return a value like `exemplar` made from `values`."""


@runtime_checkable
class JitArgument(Protocol):
    """A launch argument."""

    def __get_ir_types__(self) -> list[Any]:
        """Return the MLIR types that it becomes."""

    def __cache_signature__(self) -> Any:
        """Return what of it a compilation depends on, hashable."""


@runtime_checkable
class Storable(Protocol):
    """A type with a layout in memory."""

    @classmethod
    def __dsl_size_of__(cls) -> int:
        """Return the size in bytes."""

    @classmethod
    def __dsl_align_of__(cls) -> int:
        """Return the alignment in bytes."""

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        """Return the value in memory at `ptr`."""

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        """Store `value` at `ptr`."""


def _hook(owner: Any, name: str, what: str) -> Any:
    hook = getattr(owner, name, None)
    if hook is None:
        kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
        raise TypeError(f"'{kind}' has no {name}: it is no {what}")
    return hook


def get_ir_types(value: Any) -> list[Any]:
    """Return the MLIR types of a launch argument or of a container of them."""
    return [one for part in _parts(value) for one in _hook(part, "__get_ir_types__", "launch argument")()]


def c_abi_spec(value: Any) -> list[tuple[Any, Any]]:
    """Return how a launch argument, or a container of them, fills the host function's slots: `(ctypes type, fill)`."""
    from .arguments.slots import slots_of

    return [one for part in _parts(value) for one in slots_of(part)]


def construct_from_ir_values(exemplar: Any, *rest: Any) -> Any:
    """Rebuild a value from its SSA values.

    `construct_from_ir_values(exemplar, values)` makes a value like `exemplar`, which may be a container;
    `construct_from_ir_values(dsl_type, exemplar, values)` asks a class.
    """
    if len(rest) == 1:
        return _construct(exemplar, rest[0])
    like, values = rest
    hook = getattr(exemplar, "__construct_from_ir_values__", None)
    if isinstance(exemplar, type) and hook is not None:
        return hook(values, like)
    return _construct(like, values)


def cache_signature(value: Any) -> Any:
    """Return the signature of a launch argument or of a container of them."""
    parts = tuple(_hook(part, "__cache_signature__", "launch argument")() for part in _parts(value))
    return parts if isinstance(value, (list, tuple, dict)) else parts[0]


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [part for one in value for part in _parts(one)] if isinstance(value, (list, tuple)) else [value]


def dsl_size_of(kind: Any) -> int:
    """Return the size of a storable type in bytes."""
    return int(_hook(kind, "__dsl_size_of__", "storable type")())


def dsl_align_of(kind: Any) -> int:
    """Return the alignment of a storable type in bytes."""
    return int(_hook(kind, "__dsl_align_of__", "storable type")())


def peek_from_ptr(kind: Any, ptr: Any) -> Any:
    """Return the value of a storable type in memory at `ptr`."""
    return _hook(kind, "__peek_from_ptr__", "storable type")(ptr)


def poke_into_ptr(kind: Any, ptr: Any, value: Any) -> None:
    """Store a value of a storable type in memory at `ptr`."""
    _hook(kind, "__poke_into_ptr__", "storable type")(ptr, value)

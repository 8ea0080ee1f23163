# SPDX-License-Identifier: Apache-2.0
"""How a run-time argument travels: what its parameter is compiled for, and what the artifact's function takes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from flydsl.compile.dtypes import scalar_type
from flydsl.compile.specs import ArgumentSpec, ProtocolSpec, ScalarSpec, ValueSpec, _Exemplar
from flydsl.expr.values.numeric import Numeric
from flydsl.expr.values.struct import StructBase
from flydsl.expr.values.typing import Stream

from .pointer import PointerArgument
from .registry import JitArgumentRegistry
from .tensor import TensorArgument
from .tensor_kinds import is_immutable_type

__all__ = ["Passed", "numbers_of", "of_protocol", "of_struct", "refuse_immutable", "refuse_written", "unwrapped"]


class Passed(NamedTuple):
    """How a run-time argument is compiled for and passed.

    `convert` makes what the artifact's function takes from the caller's value; `None` passes the value as it is. With
    `unpacked` it gives a list, one value per entry of the note. Nothing may write to an `immutable` tensor.
    """

    spec: ArgumentSpec
    convert: Callable[[Any], Any] | None = None
    unpacked: bool = False
    immutable: bool = False


def refuse_written(where: str, passed: Passed, entries: list[dict[str, Any]]) -> None:
    """Refuse a tensor that never changes where a program writes.

    Args:
        where: names the argument.
        passed: how it is passed.
        entries: the argument's entries of the artifact's note.

    Raises:
        ValueError: the tensor is immutable, and the program may write to it.
    """
    if passed.immutable and any(one["kind"] == "tensor" and one["access"] != "read" for one in entries):
        raise ValueError(f"{where}: {_IMMUTABLE}")


_IMMUTABLE = (
    "a kernel writes to this tensor, and the arrays of JAX are immutable: other arrays may share the memory. Pass an "
    "array that may be written, such as numpy.array(x) or a torch tensor, and make a JAX array of the result with "
    "jax.numpy.asarray"
)


def refuse_immutable(where: str, value: Any) -> None:
    """Refuse a value for a tensor that a program writes, when its class says that it never changes.

    Raises:
        ValueError: it is such a tensor, wrapped or not.
    """
    if is_immutable_type(type(unwrapped(value))):
        raise ValueError(f"{where}: {_IMMUTABLE}")


def unwrapped(value: Any) -> Any:
    """Return what the artifact's function takes for a value that is wrapped, and any other value as it is."""
    if isinstance(value, TensorArgument):
        return value.tensor
    if isinstance(value, PointerArgument):
        return value.address
    if isinstance(value, Stream):
        return value.handle()
    if isinstance(value, Numeric):
        return value.value
    return value


def of_protocol(value: Any) -> Passed:
    """Return how an object of somebody else's class travels, which says so itself (`JitArgument`)."""
    slots = list(value.__c_abi_spec__())
    names = []
    for kind, _ in slots:
        name = _C_TYPES.get(kind)
        if name is None:
            raise TypeError(
                f"{type(value).__qualname__}.__c_abi_spec__ gives a slot of {kind!r}; slots are ctypes numbers and "
                "c_void_p"
            )
        names.append(name)
    dsl_type = JitArgumentRegistry.get_dsl_type(type(value))
    spec = ProtocolSpec(value.__cache_signature__(), tuple(names), dsl_type, _Exemplar(value))

    def convert(one: Any) -> list[Any]:
        found = []
        for kind, fill in one.__c_abi_spec__():
            slot = kind()
            fill(one, slot)
            found.append(slot.value)
        return found

    return Passed(spec, convert, unpacked=True)


_C_TYPES = {
    ctypes.c_bool: "bool",
    ctypes.c_int8: "int8",
    ctypes.c_int16: "int16",
    ctypes.c_int32: "int32",
    ctypes.c_int64: "int64",
    ctypes.c_uint8: "uint8",
    ctypes.c_uint16: "uint16",
    ctypes.c_uint32: "uint32",
    ctypes.c_uint64: "uint64",
    ctypes.c_float: "float32",
    ctypes.c_double: "float64",
    ctypes.c_void_p: "",
}


def of_struct(value: Any) -> Passed:
    """Return how a struct travels: as the numbers in it."""
    parts = _struct_parts(value, "")
    spec = ValueSpec(
        value.__cache_signature__(),
        tuple(ScalarSpec(scalar_type(type(part)).name) for _, part in parts),
        tuple(name for name, _ in parts),
        _Exemplar(value),
    )
    return Passed(spec, numbers_of, unpacked=True)


def _struct_parts(value: Any, prefix: str) -> list[tuple[str, Numeric]]:
    parts: list[tuple[str, Numeric]] = []
    for name in value._dynamic():
        part = getattr(value, name)
        if isinstance(part, StructBase):
            parts += _struct_parts(part, f"{prefix}{name}.")
        elif isinstance(part, Numeric):
            parts.append((prefix + name, part))
        else:
            raise TypeError(
                f"field '{prefix}{name}' is a {type(part).__name__}; a struct that is a launch argument holds numbers "
                "and structs of them"
            )
    return parts


def numbers_of(value: Any) -> list[Any]:
    """Return the numbers in a struct, in order."""
    return [part.value for _, part in _struct_parts(value, "")]

# SPDX-License-Identifier: Apache-2.0
"""Which kind of argument a value is, and how it travels: the rules that a call goes by."""

from __future__ import annotations

import ctypes
import enum
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from flydsl.expr.numeric import Boolean, Float32, Int32, Numeric, NumericMeta
from flydsl.expr.struct import StructBase
from flydsl.expr.typing import Stream

from ..signature import MAKE_OPTIONAL
from .dtypes import scalar_type
from .pointer import PointerArgument
from .registry import JitArgumentRegistry
from .specs import ArgumentSpec, ProtocolSpec, ScalarSpec, StreamSpec, ValueSpec, _Exemplar
from .tensor import TensorArgument, is_immutable_type, is_tensor_type, plain_spec

__all__ = ["Passed", "classify", "constexpr_key", "refuse_immutable", "refuse_written", "type_key", "unwrapped"]


@dataclass(frozen=True)
class Passed:
    """How a run-time argument is compiled for and passed.

    `convert` makes what the artifact's function takes from the caller's value; `None` passes the value as it is. With
    `spread` it gives a list, one value per entry of the note. Nothing may write to an `immutable` tensor.
    """

    spec: ArgumentSpec
    convert: Callable[[Any], Any] | None = None
    spread: bool = False
    immutable: bool = False


def classify(where: str, value: Any, annotation: Any) -> Passed:
    """Return how a run-time argument is passed.

    Raises:
        TypeError: nothing says how to pass a value of its class.
        RuntimeError: a plain tensor without an axis of stride 1.
    """
    kind = type(value)
    found = _launch_argument(value)
    if found is None:
        found = _from_annotation(where, value, annotation)
    if found is None and is_tensor_type(kind):
        found = Passed(_spec_of(where, value), immutable=is_immutable_type(kind))
    if found is None and isinstance(value, (bool, int, float)):
        found = Passed(ScalarSpec(scalar_type(_python_class(kind)).name))
    if found is None and _is_numpy_scalar(kind):
        found = Passed(ScalarSpec(kind.__name__.rstrip("_")))
    if found is None and isinstance(getattr(value, "cuda_stream", None), int):
        found = Passed(StreamSpec())
    if found is None:
        constructor = JitArgumentRegistry.constructor(kind)
        if constructor is not None:
            inner = classify(where, constructor(value), None)
            convert = inner.convert
            if convert is None:
                return replace(inner, convert=constructor)
            return replace(inner, convert=lambda one: convert(constructor(one)))
        raise TypeError(
            f"{where}: {kind.__module__}.{kind.__qualname__} is neither a JitArgument nor has a registered "
            "constructor. Arguments are tensors, numbers, streams, structs and what from_dlpack or from_c_void_p "
            "return; a Python value for use while tracing needs the annotation fx.Constexpr"
            + (f". {MAKE_OPTIONAL}" if value is None else "")
        )
    _warn_on_mismatch(where, found.spec, annotation)
    return found


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


def _spec_of(where: str, value: Any) -> ArgumentSpec:
    try:
        return plain_spec(value)
    except (TypeError, RuntimeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def _launch_argument(value: Any) -> Passed | None:
    if isinstance(value, TensorArgument):
        return Passed(value.spec, unwrapped, immutable=is_immutable_type(type(value.tensor)))
    if isinstance(value, PointerArgument):
        return Passed(value.spec, unwrapped)
    if isinstance(value, Stream):
        return Passed(StreamSpec(), unwrapped)
    if isinstance(value, Numeric):
        return Passed(ScalarSpec(scalar_type(type(value)).name), unwrapped)
    if hasattr(type(value), "__c_abi_spec__") and hasattr(type(value), "__get_ir_types__"):
        return _of_protocol(value)
    if isinstance(value, StructBase):
        parts = _struct_parts(value, "")
        spec = ValueSpec(
            value.__cache_signature__(),
            tuple(ScalarSpec(scalar_type(type(part)).name) for _, part in parts),
            tuple(name for name, _ in parts),
            _Exemplar(value),
        )
        return Passed(spec, _numbers_of, spread=True)
    return None


def _of_protocol(value: Any) -> Passed:
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

    return Passed(spec, convert, spread=True)


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


def _from_annotation(where: str, value: Any, annotation: Any) -> Passed | None:
    if isinstance(annotation, NumericMeta) and (isinstance(value, (bool, int, float)) or _is_numpy_scalar(type(value))):
        return Passed(ScalarSpec(scalar_type(annotation).name))
    if annotation is Stream:
        try:
            Stream(value).handle()
        except ValueError as error:
            raise TypeError(f"{where}: {error}") from None
        return Passed(StreamSpec())
    if isinstance(annotation, type) and issubclass(annotation, StructBase):
        inner = _launch_argument(annotation.__coerce__(value))
        assert inner is not None
        return Passed(inner.spec, lambda one: _numbers_of(annotation.__coerce__(one)), spread=True)
    return None


def _warn_on_mismatch(where: str, spec: ArgumentSpec, annotation: Any) -> None:
    if isinstance(annotation, NumericMeta) and spec != ScalarSpec(scalar_type(annotation).name):
        warnings.warn(
            f"{where}: declared {annotation.__name__}, but {spec.describe()} came. The annotation is not enforced: the "
            "value's own type is used",
            stacklevel=3,
        )


def _python_class(kind: type) -> Any:
    return Boolean if kind is bool else Int32 if issubclass(kind, int) else Float32


def _is_numpy_scalar(kind: type) -> bool:
    return kind.__module__ == "numpy" and hasattr(kind, "itemsize") and not hasattr(kind, "__dlpack__")


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


def _numbers_of(value: Any) -> list[Any]:
    return [part.value for _, part in _struct_parts(value, "")]


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


def type_key(where: str, value: Any) -> Any:
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

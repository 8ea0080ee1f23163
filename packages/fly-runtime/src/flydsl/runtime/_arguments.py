# SPDX-License-Identifier: Apache-2.0
"""From Python arguments to what tvm-ffi passes on. Values are checked natively; here is only what tvm-ffi can't see.

Which conversion an argument needs follows from its type, so that a call whose types were seen before costs one lookup.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from typing import Any

from . import _library
from .errors import refused

Converter = Callable[[Any], Any]
Plan = tuple[tuple[int, Converter], ...]
"""The arguments, by position, that must be converted; the others are passed as they are."""

_DLPACK_VERSION = (1, 1)
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY

_ARRAY_CONVERTER = "convert_array"

# How tvm_ffi.cpp's messages name what tvm-ffi wraps without knowing it; the type's name goes in its place.
UNKNOWN_KIND = "an object of another kind"


class _VersionedHead(ctypes.Structure):
    """The start of DLPack's DLManagedTensorVersioned, up to its flags."""

    _fields_ = [
        ("version_major", ctypes.c_uint32),
        ("version_minor", ctypes.c_uint32),
        ("manager_context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    ]


def site(name: str, index: int, argument: dict[str, Any]) -> str:
    """`add(): argument 2 ('b')`, as the native messages begin."""
    return f"{name}(): argument {index + 1} ('{argument['name']}')"


def _capsule(tensor: Any) -> tuple[Any, bool]:
    """A DLPack capsule of a tensor, and whether its producer says that it is read-only."""
    try:
        capsule = tensor.__dlpack__(max_version=_DLPACK_VERSION)
    except TypeError:  # a producer of before DLPack 1.0, which cannot say it
        return tensor.__dlpack__(), False
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    if get_name(capsule) != b"dltensor_versioned":
        return capsule, False
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    head = _VersionedHead.from_address(get_pointer(capsule, b"dltensor_versioned"))
    return capsule, bool(head.flags & _READ_ONLY)


def _refuse_read_only(where: str) -> ValueError:
    return refused(ValueError(f"{where}: expected a tensor that may be written, got a read-only one"))


def _dlpack_converter(where: str, writes: bool) -> Converter:
    from_dlpack = importlib.import_module("tvm_ffi").from_dlpack

    def convert(tensor: Any) -> Any:
        try:
            capsule, read_only = _capsule(tensor)
        except (BufferError, TypeError, ValueError, RuntimeError) as error:
            text = f"{where}: {type(tensor).__name__} cannot be passed by DLPack: {error}"
            raise refused(TypeError(text)) from error
        if read_only and writes:
            raise _refuse_read_only(where)
        return from_dlpack(capsule)

    return convert


def _array_converter(where: str, writes: bool) -> Converter:
    """numpy arrays: writable ones cross in tvm-ffi's own code, which refuses read-only ones even for reading."""
    slow = _dlpack_converter(where, writes)

    def convert_array(array: Any) -> Any:
        if array.flags.writeable:
            return array
        if writes:
            raise _refuse_read_only(where)
        return slow(array)

    return convert_array


def is_optional(converter: Converter) -> bool:
    """Whether tvm-ffi takes most values as they are, and refuses the others without harm."""
    return converter.__name__ == _ARRAY_CONVERTER


def is_native(error: Exception) -> bool:
    """Whether an exception was made from an error of native code: tvm-ffi keeps that with it."""
    return hasattr(error, "__tvm_ffi_error__")


def _is_instance(kind: type, module: str, name: str) -> bool:
    """Whether a type derives from `module.name`, without importing a module that nobody has imported."""
    loaded = sys.modules.get(module)
    base = getattr(loaded, name, None)
    return isinstance(base, type) and issubclass(kind, base)


def _numpy_scalar(value: Any) -> Any:
    return value.item()


def _stream(value: Any) -> int:
    return int(value.cuda_stream)


def _converter(kind: type, argument: dict[str, Any], where: str) -> Converter | None:
    """How an argument of some type must be converted for its place; None: not at all."""
    role = argument["kind"]
    if role == "tensor":
        if _is_instance(kind, "torch", "Tensor") or _is_instance(kind, "tvm_ffi", "Tensor"):
            return None
        writes = argument["access"] != "read"
        if _is_instance(kind, "numpy", "ndarray"):
            return _array_converter(where, writes)
        if hasattr(kind, "__dlpack__"):
            return _dlpack_converter(where, writes)
    elif role == "scalar":
        if _is_instance(kind, "numpy", "generic"):
            return _numpy_scalar
    elif role == "stream" and kind not in (int, type(None)) and hasattr(kind, "cuda_stream"):
        return _stream
    return None


def make_plan(name: str, arguments: list[dict[str, Any]], given: tuple[Any, ...]) -> Plan:
    """The conversions that a call of function `name` needs for arguments of these types."""
    converters: list[tuple[int, Converter]] = []
    for index, (argument, value) in enumerate(zip(arguments, given, strict=False)):
        kind = type(value)
        converter = _converter(kind, argument, site(name, index, argument))
        if converter is None and argument["kind"] == "stream" and hasattr(value, "cuda_stream"):
            converter = _stream  # an attribute of the instance only
        if converter is not None:
            converters.append((index, converter))
    return tuple(converters)


def _not_passable(arguments: list[dict[str, Any]], given: tuple[Any, ...]) -> tuple[int, Exception] | None:
    """The first tensor that tvm-ffi cannot pass as it is, with the reason; a call with it never reaches native code."""
    from_dlpack = importlib.import_module("tvm_ffi").from_dlpack
    for index, (argument, value) in enumerate(zip(arguments, given, strict=False)):
        if argument["kind"] != "tensor" or not hasattr(value, "__dlpack__"):
            continue
        try:
            from_dlpack(value)
        except Exception as cause:
            return index, cause
    return None


def is_refusal(plan: Plan, arguments: list[dict[str, Any]], given: tuple[Any, ...], error: Exception) -> bool:
    """Whether a call raised `error` because an argument that `plan` converts was passed as it is: nothing has run then.

    What is not known for certain (a signal handler's exception, say, which may come when everything has run) is none.
    """
    if not plan:
        return False
    if is_native(error):
        return isinstance(error, TypeError)  # FLYDSL_ERROR_TYPE, or tvm-ffi's own
    converted = [index for index, _ in plan]
    return (
        _not_passable([arguments[index] for index in converted], tuple(given[index] for index in converted)) is not None
    )


def explain(name: str, arguments: list[dict[str, Any]], given: tuple[Any, ...], error: Exception) -> Exception:
    """A failed call's exception as errors.py describes them, with the argument named also where tvm-ffi gave up before
    the native checks.
    """
    if not is_native(error):
        found = _not_passable(arguments, given)
        if found is None:
            return error
        index, cause = found
        reason = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
        where = site(name, index, arguments[index])
        return refused(TypeError(f"{where}: {type(given[index]).__name__} cannot be passed by DLPack: {reason}"))
    if isinstance(error, TypeError) and UNKNOWN_KIND in str(error):
        error = TypeError(_with_type(str(error), given))
    error.launched = _library.launched()  # type: ignore[attr-defined]
    return error


def _with_type(text: str, given: tuple[Any, ...]) -> str:
    """The text of a refusal, with the Python type of the argument that tvm-ffi wrapped without knowing it."""
    index = _library.refused_argument()
    if not 0 <= index < len(given):
        return text
    value = given[index]
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return text.replace(UNKNOWN_KIND, f"an object of type {kind}", 1)

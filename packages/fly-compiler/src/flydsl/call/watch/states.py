# SPDX-License-Identifier: Apache-2.0
"""Readers of what is no attribute and no item: arrays, tensors, buffers, contexts, settings of the process.

What a reader returns is equal as long as what it read is the same. Objects are compared by identity and kept alive by
what was read: the address of a dead one may be another's.
"""

from __future__ import annotations

import abc
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context, ContextVar
from types import GeneratorType
from typing import Any
from weakref import ReferenceType

__all__ = [
    "SETTINGS",
    "Same",
    "environment",
    "of_context",
    "of_generator",
    "of_reference",
    "of_registry",
    "of_subclasses",
    "of_thread",
    "of_variable",
    "reader_of",
    "value_of_variable",
]

_MOST_OF_A_TENSOR = 1 << 20
"""Bytes of a tensor that are compared; of a larger one it is seen what torch itself was told to change."""


class Same:
    """Objects that are equal to others when they are the very same."""

    __slots__ = ("objects",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, objects: Iterable[Any]) -> None:
        self.objects = tuple(objects)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same) or len(self.objects) != len(other.objects):
            return False
        return all(map(lambda one, two: one is two, self.objects, other.objects))


def environment(_: Any) -> dict[str, str]:
    """Return the environment variables."""
    return dict(os.environ)


def of_reference(reference: ReferenceType[Any]) -> int:
    """Return what a weak reference refers to, without keeping it alive."""
    return id(ReferenceType.__call__(reference))


def of_thread(values: threading.local) -> Any:
    """Return what the current thread has there."""
    own = vars(values)
    return (*own, Same(own.values()))


def of_variable(variable: ContextVar[Any]) -> Same:
    """Return the value of a context variable in the current context, or its default."""
    return Same(value_of_variable(variable))


def value_of_variable(variable: ContextVar[Any]) -> tuple[Any, ...]:
    """Return a tuple of the value of a context variable; an empty one if it has none."""
    try:
        return (variable.get(),)
    except LookupError:
        return ()


def of_context(context: Context) -> Same:
    """Return variables and values of a context, in their order."""
    return Same([*context.keys(), *context.values()])


def of_generator(generator: GeneratorType[Any, Any, Any]) -> int | None:
    """Return where a generator waits."""
    return None if generator.gi_frame is None else generator.gi_frame.f_lasti


def of_subclasses(cls: type) -> Same:
    """Return the direct subclasses of a class."""
    return Same(type.__subclasses__(cls))


def of_registry(_: Any) -> Any:
    """Return a number that changes when a class is registered with any abstract one."""
    return abc.get_cache_token()


def reader_of(value: Any) -> Callable[[Any], Any] | None:
    """Return what reads the content of an object whose bytes are not Python's; `None` for other objects."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    if isinstance(value, (bytearray, memoryview)) or (root == "array" and hasattr(kind, "tobytes")):
        return bytes
    if isinstance(value, (io.StringIO, io.BytesIO)):
        return _of_stream
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.void)):
        return _of_array
    if hasattr(kind, "_version") and hasattr(kind, "untyped_storage"):  # a tensor of torch
        return _of_tensor
    if "_ctypes" in sys.modules and isinstance(value, _ctypes_objects()):
        return _of_memory
    return None


def _ctypes_objects() -> tuple[type, ...]:
    import ctypes

    return (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes.c_int.__mro__[1])


def _of_memory(value: Any) -> Any:
    return bytes(memoryview(value).cast("B")) if memoryview(value).contiguous else repr(value)


def _of_stream(stream: Any) -> Any:
    return None if stream.closed else (stream.getvalue(), stream.tell())


def _of_array(array: Any) -> Any:
    mask = getattr(array, "_mask", None)  # of a masked one
    return (array.dtype, array.shape, array.data.tobytes() if mask is not None else array.tobytes(), repr(mask))


def _of_tensor(tensor: Any) -> Any:
    facts = (tensor._version, tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
    if tensor.device.type != "cpu" or tensor.nelement() * tensor.element_size() > _MOST_OF_A_TENSOR:
        return facts
    with suppress(RuntimeError, TypeError):  # a sparse or quantised one
        return (*facts, tensor.detach().contiguous().flatten().view(sys.modules["torch"].uint8).numpy().tobytes())
    return facts


# -- settings of the process -------------------------------------------------------------------------------------------


def _of_module(module: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def look(_: Any) -> Any:
        found = sys.modules.get(module)
        return None if found is None else read(found)

    return look


def _working_folder(_: Any) -> Any:
    try:
        return os.getcwd()
    except OSError:
        return None


def _levels(logging: Any) -> Any:
    known = logging.root.manager.loggerDict
    return (logging.root.level, *((name, getattr(one, "level", None)) for name, one in list(known.items())))


SETTINGS: dict[str, Callable[[Any], Any]] = {
    "current_thread": lambda _: threading.get_ident(),
    "cwd": _working_folder,
    "get_ident": lambda _: threading.get_ident(),
    "getLogger": _of_module("logging", _levels),
    "getcontext": _of_module("decimal", lambda one: repr(one.getcontext())),
    "getcwd": _working_folder,
    "getlocale": _of_module("locale", lambda one: one.setlocale(one.LC_ALL)),
    "getpid": lambda _: os.getpid(),
    "getrecursionlimit": lambda _: sys.getrecursionlimit(),
    "getswitchinterval": lambda _: sys.getswitchinterval(),
    "get_default_device": _of_module("torch", lambda one: str(one.get_default_device())),
    "get_default_dtype": _of_module("torch", lambda one: one.get_default_dtype()),
    "get_int_max_str_digits": lambda _: sys.get_int_max_str_digits(),
    "get_num_threads": _of_module("torch", lambda one: one.get_num_threads()),
    "get_printoptions": _of_module("numpy", lambda one: repr(one.get_printoptions())),
    "geterr": _of_module("numpy", lambda one: repr(one.geterr())),
    "is_grad_enabled": _of_module("torch", lambda one: one.is_grad_enabled()),
    "localeconv": _of_module("locale", lambda one: repr(one.localeconv())),
}
"""What reads a setting that no object of Python holds, by the name of the function that programs ask."""

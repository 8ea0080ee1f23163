# SPDX-License-Identifier: Apache-2.0
"""Readers of what is no attribute and no item: arrays, tensors, buffers, contexts, settings of the process.

What a reader returns is equal as long as what it read is the same. Objects are compared by identity and kept alive by
what was read: the address of a dead one may be another's.
"""

from __future__ import annotations

import abc
import codecs
import gc
import io
import itertools
import operator
import os
import pickle
import sys
import threading
from _random import Random
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context, ContextVar
from functools import _lru_cache_wrapper
from types import CodeType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

__all__ = [
    "IMPLIED",
    "SETTINGS",
    "Same",
    "environment",
    "is_dtype",
    "of_cache",
    "of_callers",
    "of_context",
    "of_ctypes",
    "of_datetime",
    "of_error_handler",
    "of_generator",
    "of_names",
    "of_random",
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


def of_error_handler(name: str) -> Same:
    """Return what codecs call for an error, by its name."""
    try:
        return Same([codecs.lookup_error(name)])
    except (LookupError, ValueError):
        return Same([])


def of_context(context: Context) -> Same:
    """Return variables and values of a context, in their order."""
    return Same([*context.keys(), *context.values()])


def of_generator(generator: GeneratorType[Any, Any, Any]) -> tuple[int, Same] | None:
    """Return where a generator waits, and what its variables and its loops hold."""
    frame = generator.gi_frame
    if frame is None:
        return None
    held = gc.get_referents(generator if sys.version_info >= (3, 11) else frame)
    return frame.f_lasti, Same(one for one in held if not isinstance(one, _PARTS_OF_GENERATORS))


_PARTS_OF_GENERATORS = (CodeType, FrameType, FunctionType, ModuleType)


def of_names(attributes: dict[str, Any]) -> frozenset[str]:
    """Return which attributes there are."""
    return frozenset(attributes)


def of_subclasses(cls: type) -> Same:
    """Return the direct subclasses of a class."""
    return Same(type.__subclasses__(cls))


def of_cache(function: _lru_cache_wrapper[Any]) -> tuple[int | None, int]:
    """Return how large the cache of a function is at most, and how full."""
    found = function.cache_info()
    return (found.maxsize, found.currsize)


def of_random(generator: Random) -> Any:
    """Return the state of a generator of random numbers."""
    return (Random.getstate(generator), getattr(generator, "gauss_next", None))


def of_callers(_: object) -> Same:
    """Return what is never the same: who calls, and with which variables, is another one at each call."""
    return Same([object()])


def of_registry(_: Any) -> Any:
    """Return a number that changes when a class is registered with any abstract one."""
    return abc.get_cache_token()


def reader_of(value: Any) -> Callable[[Any], Any] | None:
    """Return what reads the content of an object whose bytes are not Python's; `None` for other objects."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    if isinstance(value, (bytearray, memoryview)) or (root == "array" and _has(kind, "tobytes")):
        return bytes
    if root == "mmap" and _has(kind, "madvise"):
        return _of_mapping
    if root in ("_thread", "threading") and _has(kind, "locked"):
        return _of_lock
    if root == "_thread" and kind.__name__ == "RLock":
        return repr  # with its owner and how often
    if kind.__module__ == "xml.etree.ElementTree" and _has(kind, "itertext"):
        return _of_element
    if _has(kind, "hexdigest") and _has(kind, "copy") and root in _HASHES:
        return _of_hash
    if isinstance(value, (io.StringIO, io.BytesIO)):
        return _of_stream
    if root in ("builtins", "itertools") and _has(kind, "__next__") and not isinstance(value, GeneratorType):
        return _of_iterator
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.void)):
        return _of_array
    if _has(kind, "_version") and _has(kind, "untyped_storage"):  # a tensor of torch
        return _of_tensor
    if isinstance(value, of_ctypes()):
        # What a pointer points to may be gone, so nobody can look whether it is the same.
        return of_callers if _has_pointer(kind) else _of_memory
    if root == "torch" and _has(kind, "data_ptr") and _has(kind, "nbytes"):
        return _of_storage
    if root == "decimal" and _has(kind, "create_decimal"):
        return repr
    if root == "torch" and _has(kind, "initial_seed"):
        return _of_generator
    if root == "numpy" and _has(kind, "random_raw"):
        return _of_bits
    return None


def _has(kind: type, name: str) -> bool:
    """Tell whether a class has an attribute, without asking its metaclass, which may be the user's."""
    return any(name in vars(base) for base in kind.__mro__)


def _of_storage(storage: Any) -> Any:
    storage = getattr(storage, "_untyped_storage", storage)
    facts = (storage.data_ptr(), storage.nbytes())
    if storage.device.type != "cpu" or storage.nbytes() > _MOST_OF_A_TENSOR:
        return facts
    torch = sys.modules["torch"]
    return (*facts, torch.empty(0, dtype=torch.uint8).set_(storage).numpy().tobytes())


def _of_generator(generator: Any) -> Any:
    return (generator.initial_seed(), generator.get_state().numpy().tobytes())


def _of_bits(generator: Any) -> bytes:
    return pickle.dumps(generator.state)


def is_dtype(value: object) -> bool:
    """Tell whether an object is a type of elements of numpy's."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.dtype)


def of_ctypes() -> tuple[type, ...]:
    """Return the classes of the objects of `ctypes`; none where nobody has imported it."""
    if "ctypes" not in sys.modules:
        return ()
    import ctypes

    return (ctypes.c_int.__mro__[2],)  # `_CData`


def of_datetime() -> tuple[Any, ...]:
    """Return the classes of objects that have a time zone; none where nobody has imported them."""
    found = sys.modules.get("datetime")
    return () if found is None else (found.datetime, found.time)


def _has_pointer(kind: Any) -> bool:
    """Tell whether objects of a class of `ctypes` are pointers, or have some in them."""
    if any(one.__module__ == "_ctypes" and one.__name__ == "_Pointer" for one in kind.__mro__):
        return True
    part = getattr(kind, "_type_", None)
    if isinstance(part, str):
        return part in ("z", "Z")  # to bytes, to a text
    fields = [one[1] for base in kind.__mro__ for one in vars(base).get("_fields_", ())]
    return any(map(_has_pointer, fields if part is None else [part]))


def _of_memory(value: Any) -> Any:
    return bytes(memoryview(value).cast("B")) if memoryview(value).contiguous else repr(value)


def _of_stream(stream: Any) -> Any:
    return None if stream.closed else (stream.getvalue(), stream.tell())


_HASHES = frozenset(("_blake2", "_hashlib", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512"))


def _of_hash(found: Any) -> Any:
    return found.hexdigest(16) if found.name.startswith("shake") else found.hexdigest()


def _of_element(element: Any) -> Any:
    return sys.modules["xml.etree.ElementTree"].tostring(element)


def _of_lock(lock: Any) -> Any:
    return lock.locked()


def _of_iterator(value: Any) -> Any:
    """Return what an iterator says of itself; to go on in it is refused."""
    left = operator.length_hint(value) if hasattr(type(value), "__length_hint__") else None
    return (left, repr(value) if type(value) in (itertools.count, itertools.repeat) else None)


def _of_mapping(mapping: Any) -> Any:
    return None if mapping.closed else (mapping[:], mapping.tell())


def _of_array(array: Any) -> Any:
    mask = getattr(array, "_mask", None)  # of a masked one
    content = array.data.tobytes() if mask is not None else array.tobytes()
    facts = (array.flags.num, array.strides) if hasattr(array, "strides") and hasattr(array.flags, "num") else ()
    return (array.dtype, array.shape, content, repr(mask), facts)


def _of_tensor(tensor: Any) -> Any:
    facts: tuple[Any, ...] = (tensor._version, tensor.dtype, tuple(tensor.shape), tensor.layout)
    if str(tensor.layout) != "torch.strided":  # a sparse one has no memory of its own, but tensors
        coordinates = str(tensor.layout) == "torch.sparse_coo"
        parts = ("_indices", "_values") if coordinates else ("crow_indices", "ccol_indices", "values")
        return (*facts, *(_of_tensor(getattr(tensor, one)()) for one in parts if _has_part(tensor, one)))
    facts += (tensor.data_ptr(), tensor.stride())
    facts += (tensor.requires_grad, Same([tensor.grad] if tensor.is_leaf else []))
    if tensor.is_leaf and tensor.grad is not None:
        facts += (_of_tensor(tensor.grad),)
    if tensor.device.type != "cpu" or tensor.nelement() * tensor.element_size() > _MOST_OF_A_TENSOR:
        return facts
    with suppress(RuntimeError, TypeError):  # a sparse or quantised one
        return (*facts, tensor.detach().contiguous().flatten().view(sys.modules["torch"].uint8).numpy().tobytes())
    return facts


def _has_part(tensor: Any, name: str) -> bool:
    """Tell whether a sparse tensor has such a part: rows are compressed, or columns."""
    try:
        getattr(tensor, name)()
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return True


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
    manager = logging.root.manager
    known = [("", logging.root), *manager.loggerDict.items()]
    facts = [(name, *(getattr(one, part, None) for part in ("level", "propagate", "disabled"))) for name, one in known]
    handlers = Same(each for _, one in known for each in getattr(one, "handlers", ()))
    return (manager.disable, (handlers,), *facts)  # which are no part of what a program reads


def _of_torch(torch: Any) -> Any:
    backends = [getattr(torch.backends, name, None) for name in ("cudnn", "cuda", "mkldnn")]
    found = [_answer(getattr(torch, name)) for name in _OF_TORCH]
    for kind in ("cpu", "cuda"):
        found += [_answer(torch.is_autocast_enabled, kind), _answer(getattr(torch, "get_autocast_dtype", str), kind)]
    for one in (*backends, *(getattr(one, "matmul", None) for one in backends)):
        found += [_answer(getattr, one, name, None) for name in ("allow_tf32", "benchmark", "deterministic", "enabled")]
    return found


_OF_TORCH = (
    *("are_deterministic_algorithms_enabled", "get_float32_matmul_precision", "initial_seed"),
    *("is_anomaly_enabled", "is_autocast_cache_enabled", "is_autocast_enabled", "is_inference_mode_enabled"),
)
"""Functions of torch that say how it is set."""


def _answer(ask: Callable[..., Any], *arguments: Any) -> str:
    try:
        return repr(ask(*arguments))
    except (RuntimeError, TypeError) as error:  # it does not say what was set by older and newer names both
        return str(error)


def _options(numpy: Any) -> Any:
    """Return how numpy prints; a dictionary that is another one after each change, where numpy keeps it so."""
    variable = getattr(sys.modules.get("numpy._core.printoptions"), "format_options", None)
    return Same(value_of_variable(variable)) if type(variable) is ContextVar else repr(numpy.get_printoptions())


def _dialects(csv: Any) -> list[tuple[Any, ...]]:
    fields = ("delimiter", "doublequote", "escapechar", "lineterminator", "quotechar", "quoting", "skipinitialspace")
    found = [(name, csv.get_dialect(name)) for name in csv.list_dialects()]
    return [(name, *(getattr(one, field) for field in fields)) for name, one in found]


def _types_of_files(mimetypes: Any) -> str:
    return repr(mimetypes._db and (mimetypes._db.types_map, mimetypes._db.encodings_map, mimetypes._db.suffix_map))


def _handlers(signal: Any) -> Same:
    return Same([signal.getsignal(one) for one in sorted(signal.valid_signals())])


def _limits(resource: Any) -> list[tuple[int, int]]:
    return [resource.getrlimit(getattr(resource, one)) for one in dir(resource) if one.startswith("RLIMIT_")]


def _process(process: Any) -> Any:
    current = process.current_process()
    return (current.name, Same([current]))


def _thread(_: Any) -> Any:
    return (threading.get_ident(), Same([threading.current_thread()]))


def _users(_: Any) -> Any:
    return (os.getresuid(), os.getresgid(), os.getgroups(), os.getpgrp(), os.getsid(0), os.getppid())


def _formats(shutil: Any) -> Same:
    return Same(
        [one for known in (shutil._ARCHIVE_FORMATS, shutil._UNPACK_FORMATS) for one in (*known, *known.values())]
    )


SETTINGS: dict[str, Callable[[Any], Any]] = {
    **{
        name: _of_module("torch", _of_torch)
        for name in (
            *(*_OF_TORCH, "allow_tf32", "cudnn", "get_autocast_cpu_dtype", "get_autocast_dtype"),
            *("get_autocast_gpu_dtype", "is_autocast_cpu_enabled", "mkldnn"),
        )
    },
    **{name: _of_module("logging", _levels) for name in ("getEffectiveLevel", "getLogger", "isEnabledFor")},
    **dict.fromkeys(
        ("getLevelName", "getLevelNamesMapping"), _of_module("logging", lambda one: dict(one._levelToName))
    ),
    **dict.fromkeys(
        (
            *("getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getppid", "getresgid", "getresuid"),
            *("getsid", "getuid"),
        ),
        _users,
    ),
    **dict.fromkeys(("get_archive_formats", "get_unpack_formats"), _of_module("shutil", _formats)),
    **dict.fromkeys(
        ("absolute", "abspath", "cwd", "getcwd", "getcwdb", "realpath", "relpath", "resolve"), _working_folder
    ),
    **dict.fromkeys(
        ("format_string", "getlocale", "getpreferredencoding", "nl_langinfo", "strcoll", "strxfrm"),
        _of_module("locale", lambda one: one.setlocale(one.LC_ALL)),
    ),
    "bindtextdomain": _of_module("gettext", lambda one: (one.textdomain(), repr(one._localedirs))),
    "catch_warnings": _of_module("warnings", lambda one: Same(one.filters)),
    "current_process": _of_module("multiprocessing.process", _process),
    "current_thread": _thread,
    "get_ident": lambda _: threading.get_ident(),
    "getcontext": _of_module("decimal", lambda one: repr(one.getcontext())),
    "getbufsize": _of_module("numpy", lambda one: one.getbufsize()),
    "getdefaulttimeout": _of_module("socket", lambda one: one.getdefaulttimeout()),
    "get_event_loop_policy": _of_module("asyncio.events", lambda one: Same([one.get_event_loop_policy()])),
    "getpid": lambda _: os.getpid(),
    "get_debug": _of_module("gc", lambda one: one.get_debug()),
    "get_asyncgen_hooks": lambda _: Same(sys.get_asyncgen_hooks()),
    "get_coroutine_origin_tracking_depth": lambda _: sys.get_coroutine_origin_tracking_depth(),
    "get_dialect": _of_module("csv", _dialects),
    "get_errno": _of_module("ctypes", lambda one: one.get_errno()),
    "get_start_method": _of_module("multiprocessing", lambda one: one.get_start_method(allow_none=True)),
    "get_threshold": _of_module("gc", lambda one: one.get_threshold()),
    "getdlopenflags": lambda _: sys.getdlopenflags(),
    "geterrcall": _of_module("numpy", lambda one: Same([one.geterrcall()])),
    "getLogRecordFactory": _of_module("logging", lambda one: Same([one.getLogRecordFactory()])),
    "getLoggerClass": _of_module("logging", lambda one: Same([one.getLoggerClass()])),
    "gettrace": lambda _: Same([sys.gettrace(), threading.gettrace()]),
    "firstweekday": _of_module("calendar", lambda one: one.firstweekday()),
    "guess_extension": _of_module("mimetypes", _types_of_files),
    "guess_type": _of_module("mimetypes", _types_of_files),
    "is_enabled": _of_module("faulthandler", lambda one: one.is_enabled()),
    "is_tracing": _of_module("tracemalloc", lambda one: one.is_tracing()),
    **{name: _of_module("linecache", lambda one: dict(one.cache)) for name in ("getline", "getlines")},
    **{name: _of_module("zoneinfo", lambda one: one.TZPATH) for name in ("TZPATH", "ZoneInfo", "available_timezones")},
    "dispatch_table": _of_module("copyreg", lambda one: dict(one.dispatch_table)),
    "format_options": _of_module("numpy", _options),
    "PRINT_OPTS": _of_module("torch._tensor_str", lambda one: dict(vars(one.PRINT_OPTS))),
    "list_dialects": _of_module("csv", _dialects),
    "modules": lambda _: (len(sys.modules), next(reversed(sys.modules))),
    "pthread_sigmask": _of_module("signal", lambda one: one.pthread_sigmask(one.SIG_BLOCK, ())),
    "sched_getaffinity": lambda _: os.sched_getaffinity(0),
    "textdomain": _of_module("gettext", lambda one: one.textdomain()),
    **{
        name: _of_module("time", lambda one: (one.timezone, one.altzone, one.daylight, one.tzname))
        for name in ("astimezone", "ctime", "fromtimestamp", "localtime", "mktime", "strftime", "timezone", "tzname")
    },
    "getpriority": lambda _: os.getpriority(os.PRIO_PROCESS, 0),
    "getprofile": lambda _: Same([sys.getprofile(), threading.getprofile()]),
    "getrecursionlimit": lambda _: sys.getrecursionlimit(),
    "getrlimit": _of_module("resource", _limits),
    "getsignal": _of_module("signal", _handlers),
    "getswitchinterval": lambda _: sys.getswitchinterval(),
    "get_default_device": _of_module("torch", lambda one: str(one.get_default_device())),
    "get_default_dtype": _of_module("torch", lambda one: one.get_default_dtype()),
    "field_size_limit": _of_module("csv", lambda one: one.field_size_limit()),
    "get_int_max_str_digits": lambda _: sys.get_int_max_str_digits(),
    "get_num_threads": _of_module("torch", lambda one: one.get_num_threads()),
    "get_printoptions": _of_module("numpy", lambda one: repr(one.get_printoptions())),
    "geterr": _of_module("numpy", lambda one: repr(one.geterr())),
    "gettempdir": _of_module("tempfile", lambda one: one.tempdir),
    "gettempdirb": _of_module("tempfile", lambda one: one.tempdir),
    "is_grad_enabled": _of_module("torch", lambda one: one.is_grad_enabled()),
    "localeconv": _of_module("locale", lambda one: repr(one.localeconv())),
}
"""What reads a setting that no object of Python holds, by the name of the function that programs ask."""

IMPLIED = {
    "_decimal": ("getcontext",),
    "decimal": ("getcontext",),
    "copy": ("dispatch_table",),
    "csv": ("field_size_limit",),
    "numpy": ("format_options", "geterr"),
    "pickle": ("dispatch_table",),
    "torch": ("PRINT_OPTS", "get_default_device", "get_default_dtype", "is_grad_enabled"),
    "warnings": ("catch_warnings",),
}
"""Settings that functions of a module go by without that a program names them, by the module."""

# SPDX-License-Identifier: Apache-2.0
"""What a traced function asks of the world outside of the program (docs/language/3-control-flow.md).

A trace runs once for each specialisation, and later calls use what it found. The clock, random numbers, iterators that
a caller made and the like answer otherwise each time they are asked, so a trace that asks is refused; files that it
reads (`audit.py`) or asks about are noted, and it is traced anew when one of them changed.
"""

from __future__ import annotations

import functools
import glob
import io
import os
import pathlib
import random
import sys
from collections import deque
from collections.abc import Callable, Iterable
from types import BuiltinMethodType, FrameType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any, TypeVar

from flydsl.trace import context as _trace
from flydsl.trace.diagnostics import compile_error
from flydsl.trace.files import note_file

from .audit import FOREIGN
from .questions import FILES_OF

__all__ = ["asked", "asked_of", "home_of", "is_handled", "iterated", "note_asked"]

_T = TypeVar("_T")

_CLOCK = "the clock"
_RANDOM = "random numbers"
_PROGRAM = "another program"
_NETWORK = "the network"
_PERSON = "somebody at the keyboard"
_CALLER = "who calls"
_SYSTEM = "the operating system"
_MEMORY = "memory by its address"
_INTERPRETER = "the interpreter, which is another one while a trace runs"

_REFUSED: dict[tuple[str, str], str] = {
    **{
        ("time", name): _CLOCK
        for stem in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
        for name in (stem, f"{stem}_ns")
    },
    **{("time", name): _CLOCK for name in ("asctime", "ctime", "gmtime", "localtime", "strftime")},
    **{("datetime", name): _CLOCK for name in ("datetime.now", "datetime.today", "datetime.utcnow", "date.today")},
    **{("uuid", name): _RANDOM for name in ("uuid1", "uuid4", "uuid6", "uuid7")},
    **{("posix", name): _RANDOM for name in ("getrandom", "urandom")},
    **{("secrets", name): _RANDOM for name in ("randbelow", "token_bytes", "token_hex", "token_urlsafe")},
    **{
        ("subprocess", name): _PROGRAM
        for name in ("Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput", "run")
    },
    **{("posix", name): _PROGRAM for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system")},
    **{("posix", name): _PROGRAM for name in ("wait", "wait3", "wait4", "waitid", "waitpid")},
    **{
        ("posix", name): _SYSTEM
        for name in (
            *("eventfd_read", "getloadavg", "getxattr", "listxattr", "pathconf", "sched_getaffinity"),
            *("sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "statvfs", "tcgetpgrp", "times"),
            *("ttyname", "umask"),
        )
    },
    **{("fcntl", name): _SYSTEM for name in ("fcntl", "flock", "ioctl", "lockf")},
    **{("select", name): _SYSTEM for name in ("poll", "select")},
    **{("_signal", name): _SYSTEM for name in ("getitimer", "sigtimedwait", "sigwaitinfo")},
    **{("signal", name): _SYSTEM for name in ("sigpending", "sigwait")},
    **{("termios", name): _SYSTEM for name in ("tcgetattr", "tcgetwinsize")},
    ("resource", "getrusage"): _SYSTEM,
    ("shutil", "disk_usage"): _SYSTEM,
    **{("_socket", name): _NETWORK for name in ("getaddrinfo", "gethostbyaddr", "gethostbyname", "getnameinfo")},
    **{("socket", name): _NETWORK for name in ("create_connection", "getaddrinfo", "getfqdn")},
    **{("ctypes", name): _MEMORY for name in ("string_at", "wstring_at")},
    **{("torch.random", name): _RANDOM for name in ("get_rng_state", "seed")},
    **{("gc", name): _INTERPRETER for name in ("get_count", "get_objects", "get_referrers", "get_stats", "isenabled")},
    **{("sys", name): _INTERPRETER for name in ("_current_frames", "getallocatedblocks", "getrefcount")},
    **{("threading", name): _INTERPRETER for name in ("active_count", "enumerate")},
    ("_thread", "stack_size"): _INTERPRETER,  # to ask is to set it
    ("_tracemalloc", "get_traced_memory"): _INTERPRETER,
    ("tracemalloc", "take_snapshot"): _INTERPRETER,
    ("os", "popen"): _PROGRAM,
    **{("urllib.request", name): _NETWORK for name in ("urlopen", "urlretrieve")},
    **{("inspect", name): _CALLER for name in ("getouterframes", "stack")},
    **{("traceback", name): _CALLER for name in ("extract_stack", "format_stack", "print_stack", "walk_stack")},
    ("builtins", "input"): _PERSON,
    ("getpass", "unix_getpass"): _PERSON,
}
"""By module and qualified name: functions whose answer is another one each time, and what they ask."""

_SEEDED = {
    ("random", "Random"),
    ("numpy.random", "default_rng"),
    ("numpy.random._generator", "default_rng"),
    ("numpy.random.mtrand", "RandomState"),
    *((f"numpy.random.{name}", kind) for name, kind in (("_mt19937", "MT19937"), ("_philox", "Philox"))),
    *((f"numpy.random.{name}", kind) for name, kind in (("_pcg64", "PCG64"), ("_pcg64", "PCG64DXSM"))),
    *((f"numpy.random.{name}", kind) for name, kind in (("_sfc64", "SFC64"), ("bit_generator", "SeedSequence"))),
}
"""What makes a generator of random numbers: of the same ones each time where it is given a seed."""

_OF_TORCH = frozenset(
    (
        *("bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn"),
        *("randn_like", "randperm"),
        *("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"),
    )
)
"""Random numbers of torch; with `generator=` they are that generator's."""

_OF_A_PATH = frozenset(
    (
        *("exists", "group", "is_block_device", "is_char_device", "is_dir", "is_fifo", "is_file", "is_junction"),
        *("is_mount", "is_socket", "is_symlink", "iterdir", "lstat", "open", "owner", "read_bytes", "read_text"),
        *("readlink", "stat"),
    )
)
"""Methods of `pathlib.Path` that read the file, or look at the folder, or ask about it."""

_READERS = frozenset(
    (
        *(("genericpath", name) for name in ("exists", "getatime", "getctime", "getmtime", "getsize")),
        *(("genericpath", name) for name in ("isdir", "isfile", "isjunction", "islink", "lexists")),
        *(("io", name) for name in ("open", "open_code")),
        *(("_io", name) for name in ("open", "open_code")),
        *(("linecache", name) for name in ("checkcache", "getline", "getlines")),
        *(("pathlib", f"Path.{name}") for name in _OF_A_PATH),
        *(("posix", name) for name in ("access", "listdir", "lstat", "open", "readlink", "scandir", "stat")),
        *(("posixpath", name) for name in ("exists", "isdir", "isfile", "isjunction", "islink", "ismount", "lexists")),
        ("", "StorageBase.from_file"),
        ("_sqlite3", "connect"),
        ("sqlite3", "connect"),
        ("torch.serialization", "load"),
    )
)
"""Functions that read the file, or look at the folder, that their first argument names: those that open nothing of
which Python tells (`audit.py`), and the commonest."""

_OPENING = frozenset(
    (
        *(("io", name) for name in ("open", "open_code")),
        *(("_io", name) for name in ("open", "open_code")),
        *(("pathlib", f"Path.{name}") for name in ("iterdir", "open", "read_bytes", "read_text")),
        *(("posix", name) for name in ("listdir", "open", "scandir")),
        ("_sqlite3", "connect"),
        ("sqlite3", "connect"),
        ("torch.serialization", "load"),
        *(("linecache", name) for name in ("getline", "getlines")),
    )
)
"""Those of them that open what they read, which Python tells of."""

_OF_DESCRIPTORS = frozenset(
    (
        ("os", "fdopen"),
        *(("posix", name) for name in ("fpathconf", "fstat", "fstatvfs", "get_blocking", "get_inheritable", "isatty")),
        *(("posix", name) for name in ("lseek", "pread", "preadv", "read", "readv")),
    )
)
"""Functions that ask about an open file, whose content and state are known to the system alone: a trace may open one,
by its path, which is noted, and ask about that."""

_NAMING = {
    ("builtins", "getattr"): 1,
    ("builtins", "hasattr"): 1,
    ("importlib", "import_module"): 0,
    ("inspect", "getattr_static"): 1,
    ("operator", "attrgetter"): 0,
    ("operator", "methodcaller"): 0,
}
"""Functions that get an attribute or a module by a name that need not stand in the code, and which argument it is."""
_COPIES = frozenset((("copy", "copy"), ("copy", "deepcopy")))
_WALKS = frozenset((("os", "fwalk"), ("os", "walk")))
_GLOBS = frozenset((("glob", "glob"), ("glob", "iglob")))
_TAKING: dict[type, tuple[str, ...]] = {deque: ("pop", "popleft"), dict: ("popitem",), list: ("pop",), set: ("pop",)}
_PLAIN = frozenset((bytes, deque, dict, list, set, str, tuple))
_HARMLESS = frozenset(("bit_generator", "getstate", "seed", "setstate"))

_ONCE = (
    "a trace runs once for each specialisation, and every later call would use that answer. Ask before the call, and "
    "pass the answer as an argument (fx.Constexpr, where it has to be known while tracing). What is meant to be asked "
    "once in a process is asked in a function with @functools.cache"
)


def asked(function: Callable[..., Any]) -> Any:
    """Return what to call for a function of Python's or of a package that traced code calls.

    Raises:
        DSLCompileError: it answers otherwise each time.
    """
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        return asked_of(function, owner)
    file = getattr(getattr(function, "__wrapped__", None), "__self__", None)
    if isinstance(file, io.IOBase):  # one of `tempfile` stands before its methods
        return asked_of(function, file)
    name = getattr(function, "__qualname__", "")
    module = getattr(function, "__module__", None) or getattr(owner, "__module__", None) or ""
    key = (module, name)
    what = _REFUSED.get(key)
    if what is not None:
        raise _refused(f"{'os' if module == 'posix' else module.removeprefix('_')}.{name}()", what)
    if key == ("sys", "_getframe"):
        return _own_frame
    if name.rpartition(".")[2] in ("from_address", "in_dll") and type(owner).__module__ == "_ctypes":
        raise _refused(f"ctypes' {name.rpartition('.')[2]}()", _MEMORY)
    if key in _NAMING:
        return _noting_names(function, _NAMING[key])
    if key in _COPIES:
        return _of_inside(function)
    if key in _SEEDED:
        return _needs_a_seed(function)
    if key in _READERS:
        return _noting(function)
    files = FILES_OF.get(key)
    if files is not None:
        return _noting_files(function, files)
    if name.rpartition(".")[2] == "from_file" and _is_of_torch(function, owner):
        return _noting(function)
    if key in _OF_DESCRIPTORS:
        return _of_opened(function)
    if key in _WALKS:
        return _noting_folders(function)
    if key in _GLOBS:
        return _noting_matches(function)
    if name.rpartition(".")[2] in _OF_TORCH and _is_of_torch(function, owner):
        return _needs_a_generator(function)
    note_asked(function)
    return function


def note_asked(function: object) -> None:
    """Note that traced code calls a function of Python's or of a package: not all answer alike each time."""
    trace = _trace.maybe_current()
    if trace is not None and callable(function) and not _is_of_users(function):
        trace.asked.add(home_of(function))


def _is_of_users(function: object) -> bool:
    """Tell whether a callable is a class in Python of the user's, whose code is watched."""
    if not isinstance(function, type):
        return False
    root = str(function.__module__).partition(".")[0]
    in_c = isinstance(vars(function).get("__new__"), BuiltinMethodType) or not function.__flags__ & _HEAP
    return root not in FOREIGN and not in_c


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a `class` statement, or like one
_WITH_A_HOME = (BuiltinMethodType, FunctionType, MethodDescriptorType, type)


def home_of(function: object) -> tuple[str, str]:
    """Return the module and the qualified name of a function, or of the class of what is called like one."""
    kind = type(function)
    if not isinstance(function, _WITH_A_HOME):  # it may say that it is what it stands for, as caches do
        return (kind.__module__, kind.__qualname__)
    if isinstance(function, FunctionType):
        module = function.__globals__.get("__name__")
        wraps = module != function.__module__  # and has the name of what it wraps
        return (str(module), function.__code__.co_name if wraps else function.__qualname__)
    home = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or getattr(home, "__module__", None) or kind.__module__
    name = getattr(function, "__qualname__", None) or kind.__qualname__
    return (module if isinstance(module, str) else kind.__module__, str(name))


def is_handled(module: str, name: str) -> bool:
    """Tell whether traced code itself cannot call a function, or has noted what it asks about: code that Python calls
    (a property, a constructor) has nothing of the kind."""
    key = (module, name)
    if key in _OPENING:
        return False
    tables = (_REFUSED, _SEEDED, _READERS, FILES_OF, _OF_DESCRIPTORS, _WALKS, _GLOBS)
    return any(key in one for one in tables) or (module.startswith("torch") and name.rpartition(".")[2] in _OF_TORCH)


def asked_of(method: Callable[..., Any], owner: object) -> Any:
    """Return what to call for a method of an object whose class is none of the user's.

    Raises:
        DSLCompileError: it takes from something that was made outside of the trace.
    """
    name = getattr(method, "__name__", "")
    kind: type = type(owner)
    if kind in _PLAIN:
        if name in _TAKING.get(kind, ()):
            _check_inside(owner, f"takes something out of a {kind.__name__}")
    elif isinstance(owner, _generators()):
        if name in _HARMLESS:
            return method
        if isinstance(owner, random.SystemRandom) or owner is getattr(random, "_inst", None) or _is_of_numpy(owner):
            raise _refused(f"{kind.__name__}.{name}()", _RANDOM)
        _check_inside(owner, f"draws from a generator of random numbers ({kind.__name__})")
    elif isinstance(owner, pathlib.Path):
        if name in ("glob", "rglob", "walk"):
            return _noting_tree(method, owner)
        files = FILES_OF.get(("pathlib", f"Path.{name}"))
        if files is not None:
            return _noting_files(method, functools.partial(files, owner))
        return _noting(method, owner) if name in _OF_A_PATH else method
    elif isinstance(owner, os.DirEntry):
        return _noting(method, owner.path) if name in ("is_dir", "is_file", "is_symlink", "stat") else method
    elif isinstance(owner, _parsers_of_configurations()):
        return _noting(method) if name == "read" else method
    elif _is_of_database(kind):
        _check_inside(owner, f"asks a database ({kind.__module__}.{kind.__name__})")
    elif isinstance(owner, io.IOBase):
        if name.startswith("read") or (name in ("peek", "tell") and not isinstance(owner, (io.BytesIO, io.StringIO))):
            _check_inside(owner, "reads on in a file that is open")
    elif name in _OF_TORCH and _is_of_torch(method, kind):
        return _needs_a_generator(method)
    return method


def _parsers_of_configurations() -> tuple[type, ...]:
    """The class of Python's parsers of configurations, where something has imported it."""
    module = sys.modules.get("configparser")
    return () if module is None else (module.RawConfigParser,)


def iterated(value: _T) -> _T:
    """Return what a loop, or a function such as `next` or `list`, goes through.

    Raises:
        DSLCompileError: it is an iterator that was made outside of the trace.
    """
    if hasattr(type(value), "__next__"):
        _check_inside(value, f"goes on in an iterator ({type(value).__name__})")
    return value


def _refused(name: str, what: str) -> Exception:
    return compile_error(f"{name.removeprefix('builtins.')} asks {what}: {_ONCE}")


def _check_inside(value: Any, what: str) -> None:
    """Refuse to change something that the next trace, or the next call, would find changed."""
    trace = _trace.maybe_current()
    if trace is None or trace.is_from_outside is None or not trace.is_from_outside(value):
        return
    raise compile_error(
        f"this {what} that was made outside of the traced functions: {_ONCE}. Or make it inside, so that every trace "
        "begins with it anew"
    )


def _own_frame(depth: int = 0) -> FrameType:
    """Stand for `sys._getframe` in traced code, which may look at its own frame."""
    if depth:
        raise _refused(f"sys._getframe({depth})", _CALLER)
    return sys._getframe(1)


def _needs_a_seed(make: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if all(one is None for one in (*arguments, *named.values())):
            raise _refused(f"{make.__name__}() without a seed", _RANDOM)
        return make(*arguments, **named)

    return call


def _needs_a_generator(make: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        generator = named.get("generator")
        if generator is None:
            raise _refused(f"torch.{make.__name__}() without a generator", _RANDOM)
        _check_inside(generator, "draws from a generator of random numbers (torch.Generator)")
        return make(*arguments, **named)

    return call


def _noting(read: Callable[..., Any], path: Any = None) -> Callable[..., Any]:
    """Return a function that reads a file or folder, and notes which: `path`, or the first argument."""
    is_open = read.__name__ == "open"

    def call(*arguments: Any, **named: Any) -> Any:
        if not (is_open and _writes(arguments[path is None :], named)):
            given = path if path is not None else _first(arguments, named)
            for one in given if isinstance(given, (list, tuple)) else (given,):
                if is_open:
                    _check_opened(read, one)
                note_file(one)
        found = read(*arguments, **named)
        trace = _trace.maybe_current()
        if is_open and type(found) is int and trace is not None:
            trace.opened.add(found)
        return found

    return call


def _first(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the path among the arguments of a function whose first one it is."""
    paths = (one for one in named.values() if isinstance(one, (str, bytes, os.PathLike)))
    return arguments[0] if arguments else next(paths, os.curdir)


def _noting_files(ask: Callable[..., Any], files: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Return a function that asks about files, and notes these: what `files` says for the arguments."""

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            found = list(files(*arguments, **named))
        except (OSError, TypeError, ValueError):
            found = []  # arguments that the function refuses, with its own words
        for one in found:
            note_file(one)
        return ask(*arguments, **named)

    return call


def _of_opened(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that asks about an open file, which has to be one that the trace opened."""

    def call(*arguments: Any, **named: Any) -> Any:
        _check_opened(ask, next(iter((*arguments, *named.values())), None))
        return ask(*arguments, **named)

    return call


def _check_opened(ask: Callable[..., Any], descriptor: Any) -> None:
    """Refuse a descriptor of a file that somebody else opened."""
    trace = _trace.maybe_current()
    if isinstance(descriptor, int) and (trace is None or descriptor not in trace.opened):
        name = ask.__name__ if ask.__module__ == "_io" else f"os.{ask.__name__}"
        raise _refused(f"{name}() of a file that is open", _SYSTEM)


def _noting_names(get: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Return a function that gets attributes by their names, and notes these."""

    def call(*arguments: Any, **named: Any) -> Any:
        trace = _trace.maybe_current()
        if trace is not None:
            for one in arguments[place:]:
                if isinstance(one, str):
                    trace.names.update((one, *one.split(".")))
        return get(*arguments, **named)

    return call


def _of_inside(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that copies anything but an iterator from outside, which would go on in it."""

    def call(value: Any, *arguments: Any, **named: Any) -> Any:
        return copy(iterated(value), *arguments, **named)

    return call


def _noting_folders(walk: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that walks through folders, and notes each that it comes to."""

    def call(*arguments: Any, **named: Any) -> Any:
        for found in walk(*arguments, **named):
            note_file(found[0])
            yield found

    return call


def _noting_tree(look: Callable[..., Any], base: Any) -> Callable[..., Any]:
    """Return a function that looks for files in a folder and all below, and notes these folders."""

    def call(*arguments: Any, **named: Any) -> Any:
        _note_tree(base)
        return look(*arguments, **named)

    return call


def _noting_matches(look: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that looks for files by a pattern, and notes the folders where some can come to match it."""

    def call(pathname: Any, *arguments: Any, **named: Any) -> Any:
        text = os.fsdecode(pathname)
        while glob.has_magic(text):
            text = os.path.dirname(text)
        _note_tree(os.path.join(os.fsdecode(named.get("root_dir") or os.curdir), text))
        return look(pathname, *arguments, **named)

    return call


def _note_tree(base: Any) -> None:
    note_file(base)
    for folder, _, _ in os.walk(base):
        note_file(folder)


def _writes(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Tell whether the mode of an `open` makes the file."""
    mode = named.get("mode", arguments[0] if arguments else "r")
    if isinstance(mode, int):
        return bool(mode & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY))
    return isinstance(mode, str) and not {"w", "x", "a"}.isdisjoint(mode)


def _is_of_database(kind: type) -> bool:
    return kind.__module__ in ("sqlite3", "_gdbm", "_dbm", "dbm.dumb") or any(
        (one.__module__, one.__name__) in (("sqlite3", "Connection"), ("sqlite3", "Cursor")) for one in kind.__mro__
    )


def _generators() -> tuple[type, ...]:
    numpy = sys.modules.get("numpy.random")
    if numpy is None:
        return (random.Random,)
    return (random.Random, numpy.Generator, numpy.RandomState, numpy.BitGenerator)


def _is_of_numpy(owner: Any) -> bool:
    """Tell whether a generator is the hidden one of `numpy.random`."""
    numpy = sys.modules.get("numpy.random.mtrand")
    return owner is getattr(numpy, "_rand", numpy)


def _is_of_torch(function: Any, owner: Any) -> bool:
    module = getattr(function, "__module__", None) or getattr(owner, "__module__", None) or ""
    return module.partition(".")[0] == "torch" or getattr(owner, "__name__", "") == "_VariableFunctionsClass"

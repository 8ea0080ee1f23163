# SPDX-License-Identifier: Apache-2.0
"""Compiled artifacts: loading and calling them."""

from __future__ import annotations

import ctypes
import fcntl
import functools
import importlib
import mmap
import os
import re
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from . import _arguments, _elf, _file, _library, hardware
from .autograd import is_seen_to_write, tell_autograd
from .errors import ArtifactError, DeviceError, LaunchError, OutOfMemoryError
from .forks import new_lock, undivided
from .imports import without_collections_of_imports
from .note import file_hash, parse_note

_TABLE = "flydsl_artifact"
_TABLE_BYTES = 64  # of a FlyArtifact
_MOST_PLANS = 256  # argument type combinations that one function remembers


class ArtifactFunction:
    """A compiled function, called with positional arguments in the order of its note's `arguments`.

    Tensors are torch tensors, numpy arrays or other objects with `__dlpack__`, passed without a copy; on the emulator
    they are in host memory, on hardware on a device of the library in use (HIP's or CUDA's). Scalars are Python or
    numpy numbers; pointers are addresses, `ctypes.c_void_p` or None; streams are None, an address, or an object with
    `cuda_stream`.

    A call raises TypeError (number, kind or dtype of an argument), ValueError (rank, extent, stride, divisibility,
    alignment, device or range; grid, block or LDS beyond the device; an assertion of the host function), DeviceError
    (no device; no code for this architecture; the device library failed), LaunchError (the device failed at what it
    was given; an assertion of a kernel) or OutOfMemoryError. Its attribute `launched` says whether anything of the call
    has run; nothing is ever launched a second time. The text names the function, the argument or kernel, what was
    expected and what came. After any of them the next call works.
    """

    __slots__ = ("_address", "_arguments", "_call", "_plans", "_written", "name", "note")

    def __init__(self, note: dict[str, Any], address: int) -> None:
        self.note = note
        self.name: str = note["name"]
        self._arguments: list[dict[str, Any]] = note["arguments"]
        self._address = address
        self._plans: dict[tuple[type, ...], _arguments.Plan] = {}
        entries = enumerate(self._arguments)
        self._written = tuple(index for index, one in entries if is_seen_to_write(one))

    def __call__(self, *args: Any) -> None:
        """Call the function; the class says what it takes and raises."""
        for index in self._written:
            if index < len(args) and getattr(args[index], "requires_grad", False) is True:
                tell_autograd(_arguments.site(self.name, index, self._arguments[index]), args[index])
        # The usual plan is empty: types that were seen before and need no conversion cost one lookup.
        passed = self._convert(args) if self._plans.get(tuple(map(type, args)), True) else args
        try:
            self._call(*passed)
        except Exception as error:
            raise _arguments.explain(self.name, self._arguments, args, error) from None

    def __getattr__(self, name: str) -> Any:
        # Asked for `_call` at its first use alone: importing tvm-ffi takes as long as the driver takes to compile a
        # small kernel, and the compiler has that begin before (`Artifact.load_ahead`).
        if name != "_call":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        # The function needs no keep-alive: ctypes never closes the artifact's library.
        self._call = _tvm_ffi().core.Function.__from_extern_c__(self._address)
        return self._call

    def direct(self, args: tuple[Any, ...]) -> Callable[..., None] | None:
        """The native function, for a caller that counts tenths of a microsecond; None when arguments of these types
        need conversions. What it raises goes to `recover`. It does not see whether a torch tensor requires grad: the
        caller looks, and calls `tell_autograd` for those that are written.
        """
        plan = _arguments.make_plan(self.name, self._arguments, args)
        if len(args) != len(self._arguments) or not all(map(_arguments.is_optional, (one for _, one in plan))):
            return None
        native: Callable[..., None] = self._call
        return native

    def recover(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Deal with what the native function raised for these arguments: convert them and call again when nothing has
        run because one of them was refused as it is, else raise the exception that a call raises.
        """
        if _arguments.is_refusal(self._plan_for(args), self._arguments, args, error):
            self(*args)
        else:
            raise _arguments.explain(self.name, self._arguments, args, error) from None

    def _convert(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        converted = list(args)
        for index, convert in self._plan_for(args):
            converted[index] = convert(converted[index])
        return tuple(converted)

    def _plan_for(self, args: tuple[Any, ...]) -> _arguments.Plan:
        plan = self._plans.get(tuple(map(type, args)))
        if plan is not None:
            return plan
        hardware.devices()  # says in the log, once, which device library is used
        plan = _arguments.make_plan(self.name, self._arguments, args)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[tuple(map(type, args))] = plan
        return plan

    def __repr__(self) -> str:
        names = ", ".join(argument["name"] for argument in self._arguments)
        return f"<ArtifactFunction {self.name}({names}) for {', '.join(self.note['architectures'])}>"


class Artifact:
    """A loaded artifact. It stays loaded until the process ends. Calling it calls its entry point."""

    __slots__ = ("_address", "functions", "note", "path")

    def __init__(
        self, path: Path, note: dict[str, Any], functions: Mapping[str, ArtifactFunction], address: int = 0
    ) -> None:
        self._address = address
        self.path = path
        self.note = note
        """The JSON note (docs/artifact.md)."""
        self.functions = MappingProxyType(dict(functions))
        """The callables by name of their entry points."""

    @property
    def entry(self) -> ArtifactFunction:
        """The function that the artifact was compiled from."""
        return self.functions[self.note["entry"]]

    def load_module(self, device: int = -1) -> int:
        """Load the code object on a device (-1: the current one) ahead of the first launch; returns the device
        library's handle. On CUDA this is when the driver compiles PTX.

        Raises DeviceError when there is no such device, or no code for its architecture.
        """
        module = ctypes.c_void_p()
        _library.check(_library.load().flydsl_load_module(self._address, device, ctypes.byref(module)))
        return module.value or 0

    def load_ahead(self) -> None:
        """Begin to load the code object on the current CUDA device, in a thread of the library's: the driver compiles
        PTX while Python goes on, and the first launch waits for the rest.

        Nothing happens on other devices, and where the thread has no CUDA context. What fails is raised by the launch.
        """
        _library.begin_loading(self._address)

    def max_active_blocks(self, kernel: int, threads: int, shared_bytes: int = 0) -> int:
        """How many workgroups of a kernel (by its number in the note) a compute unit of the current device holds."""
        blocks = ctypes.c_int32()
        runtime = _library.load()
        _library.check(
            runtime.flydsl_max_active_blocks(self._address, kernel, threads, shared_bytes, ctypes.byref(blocks))
        )
        return blocks.value

    def __call__(self, *args: Any) -> None:
        """Call the entry point."""
        self.entry(*args)

    def __repr__(self) -> str:
        return f"<Artifact {self.note['name']} ({', '.join(self.note['architectures'])}) from {self.path}>"


class _Loaded(NamedTuple):
    digest: str
    library: ctypes.CDLL


_loaded: dict[tuple[int, int], _Loaded] = {}
_loading = new_lock()


def _new_name(descriptor: int) -> str:
    """A name of an open file by which the loader has opened no file before.

    The loader takes a name that it knows for the file that it has loaded by it, and descriptors get the numbers of
    closed ones. So a number of ours goes into the name, in its binary digits: `/` is 0, `./` is 1.
    """
    serial = "".join("./" if digit == "1" else "/" for digit in f"{len(_loaded) + 1:b}")
    return f"/proc/self/fd/{serial}{descriptor}"


_HIGHEST = 1 << 12
"""Of descriptors that libraries are loaded by: a higher one would make the process's table of descriptors large."""


@contextmanager
def _high_descriptor(descriptor: int) -> Iterator[int]:
    """A copy of a descriptor whose number nobody gets when it is closed: the system gives the lowest one.

    The loader keeps the name of a library, and who looks for debug information (tvm-ffi, for the backtrace of an error)
    opens it again: under a number of now another file, a shorter one, that would end the process.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = _HIGHEST if allowed == resource.RLIM_INFINITY else min(allowed, _HIGHEST)
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(limit - 64, 0))
    except OSError:  # so many are open
        yield descriptor
        return
    try:
        yield high
    finally:
        os.close(high)


def prepare_loading() -> None:
    """Have the system make room for the descriptors that artifacts are opened by. Later calls cost microseconds.

    Where a process has several threads, Linux waits for all processors when its table of descriptors grows, which takes
    longer than to open an artifact: 17 to 26 ms on the host of an H200. So a thread may do it ahead.
    """
    with suppress(OSError):  # then opening one says what is wrong
        descriptor = os.open("/", os.O_PATH | os.O_CLOEXEC)
        try:
            with _high_descriptor(descriptor):
                pass
        finally:
            os.close(descriptor)


_ROOM = 16 << 20
"""Bytes of address space that a process has which is not out of memory."""


def _why_unmapped(file: _file.OpenFile, text: str) -> str:
    """The reason why a file cannot be mapped, which the loader does not say."""
    if not text.endswith("failed to map segment from shared object"):
        return ""
    if os.fstatvfs(file.descriptor).f_flag & os.ST_NOEXEC:
        return ": it lies on a file system that is mounted noexec. Make a copy elsewhere"
    try:
        mmap.mmap(-1, _ROOM + 2 * len(file.data)).close()
    except OSError:
        return ": out of memory"
    return ""


def _open_library(file: _file.OpenFile, digest: str) -> ctypes.CDLL:
    """Have the system's loader load an open file with a certain hash, unless it has loaded it before.

    The loader is given the open file, not its name, which may be another file's by now.
    """
    with undivided(), _loading:
        known = _loaded.get(file.identity)
        if known is not None:
            if known.digest != digest:
                raise ArtifactError(
                    f"{file.path}: refused: it was written over after this process had loaded it. Replace an artifact "
                    "by renaming another one to its name"
                )
            return known.library
        try:
            with _high_descriptor(file.descriptor) as descriptor:
                library = ctypes.CDLL(_new_name(descriptor), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            text = re.sub(r"^/proc/self/fd/[./]*\d+: ", "", str(error))
            raise ArtifactError(f"{file.path}: cannot be loaded: {text}{_why_unmapped(file, text)}") from error
        _loaded[file.identity] = _Loaded(digest, library)
    if not file.is_unchanged():
        raise ArtifactError(f"{file.path}: refused: it was written to while it was being loaded")
    return library


def prepare_calls() -> None:
    """Import what calls of artifacts need, which takes as long as lowering a small kernel: tvm-ffi."""
    _tvm_ffi()


@functools.cache
def _tvm_ffi() -> Any:
    """The package tvm-ffi, told of the runtime's exceptions (`python_exception` in csrc/tvm_ffi.cpp)."""
    with without_collections_of_imports():
        package = importlib.import_module("tvm_ffi")
    for kind in (DeviceError, LaunchError, OutOfMemoryError):
        package.register_error(f"flydsl.{kind.__name__}", kind)
    return package


def _address(library: ctypes.CDLL, path: Path, name: str) -> int:
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(library, name))
    except ValueError:
        raise ArtifactError(f"{path}: damaged: it exports no {name}") from None


def _refuse_unusable(elf: _elf.ElfFile, note: dict[str, Any]) -> None:
    """Raise ArtifactError for what this process cannot call, before anything of it runs."""
    if elf.machine != _elf.host_machine():
        raise ArtifactError(
            f"{elf.path}: built for a {elf.machine} host ({note.get('host_triple', 'no host triple')}), "
            f"but this process runs on {_elf.host_machine()}"
        )
    for name, size in ((_TABLE, _TABLE_BYTES), (f"__tvm_ffi_{note['entry']}", 0)):
        if elf.exports.get(name, -1) < size:
            raise ArtifactError(f"{elf.path}: damaged: it exports no {name}")


def load_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Load an artifact. No device is needed for that; code is loaded on a device at the first call there.

    The file is opened once. Nothing of it runs before its hash and its symbols are found right, and unless only those
    may write to it who could put code into this process anyway (docs/security.md).

    Raises ArtifactError, which names the file and what is wrong, for a file that `read_note` refuses, one for another
    host architecture, one that others may write to or own, one that the loader refuses, and one of another ABI version.
    """
    with _file.opened(Path(path).absolute()) as file:
        elf = _elf.parse_elf(file.path, file.data)
        note = parse_note(elf)
        _refuse_unusable(elf, note)
        _file.refuse_untrusted(file)
        runtime = _library.load()
        library = _open_library(file, note.get("file_hash") or file_hash(file.data))
    address = _address(library, file.path, _TABLE)
    status = runtime.flydsl_artifact_check(address)
    if status == _library.VALUE:
        raise ArtifactError(f"{file.path}: {_library.last_error()}")
    _library.check(status)
    entry = note["entry"]
    function = ArtifactFunction(note, _address(library, file.path, f"__tvm_ffi_{entry}"))
    return Artifact(file.path, note, {entry: function}, address)

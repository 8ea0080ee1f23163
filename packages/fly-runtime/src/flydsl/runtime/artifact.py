# SPDX-License-Identifier: Apache-2.0
"""Compiled artifacts: loading and calling them."""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import _arguments, _elf, _library, hardware
from .errors import ArtifactError
from .note import parse_note

_MOST_PLANS = 256  # argument type combinations that one function remembers


class ArtifactFunction:
    """A compiled function, called with positional arguments in the order of its note's `arguments`.

    Tensors are torch tensors, numpy arrays or other objects with `__dlpack__`, passed without a copy; on the emulator
    they are in host memory, on hardware on a HIP device. Scalars are Python or numpy numbers; pointers are addresses,
    `ctypes.c_void_p` or None; streams are None, an address, or an object with `cuda_stream`.

    A call raises TypeError (number, kind or dtype of an argument), ValueError (rank, extent, stride, divisibility,
    alignment, device or range; grid, block or LDS beyond the device) or RuntimeError (the device or its driver failed;
    no code for this architecture). The text names the function, the argument or kernel, what was expected and what
    came. After any of them the next call works.
    """

    __slots__ = ("_arguments", "_call", "_plans", "name", "note")

    def __init__(self, note: dict[str, Any], address: int) -> None:
        self.note = note
        self.name: str = note["name"]
        self._arguments: list[dict[str, Any]] = note["arguments"]
        # The function needs no keep-alive: ctypes never closes the artifact's library.
        self._call = importlib.import_module("tvm_ffi").core.Function.__from_extern_c__(address)
        self._plans: dict[tuple[type, ...], _arguments.Plan] = {}

    def __call__(self, *args: Any) -> None:
        """Call the function; the class says what it takes and raises."""
        # The usual plan is empty: types that were seen before and need no conversion cost one lookup.
        passed = self._convert(args) if self._plans.get(tuple(map(type, args)), True) else args
        try:
            self._call(*passed)
        except Exception as error:
            raise _arguments.explain(self.name, self._arguments, args, error) from None

    def direct(self, args: tuple[Any, ...]) -> Callable[..., None] | None:
        """The native function, for a caller that counts tenths of a microsecond; None when arguments of these types
        need conversions. What it raises goes to `recover`.
        """
        plan = _arguments.make_plan(self.name, self._arguments, args)
        if len(args) != len(self._arguments) or not all(map(_arguments.is_optional, (one for _, one in plan))):
            return None
        native: Callable[..., None] = self._call
        return native

    def recover(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Deal with what the native function raised for these arguments: convert them and call again when it was
        refused before anything ran, else raise the exception that a call raises.
        """
        if isinstance(error, TypeError) or not _arguments.is_native(self.name, error):
            self(*args)
        else:
            raise _arguments.explain(self.name, self._arguments, args, error) from None

    def _convert(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        plan = self._plans.get(tuple(map(type, args)))
        if plan is None:
            plan = self._plan(args)
        converted = list(args)
        for index, convert in plan:
            converted[index] = convert(converted[index])
        return tuple(converted)

    def _plan(self, args: tuple[Any, ...]) -> _arguments.Plan:
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
        """Load the code object on a device (-1: the current one) ahead of the first launch; returns HIP's handle.

        Raises DeviceError when there is no such device, or no code for its architecture.
        """
        module = ctypes.c_void_p()
        _library.check(_library.load().flydsl_load_module(self._address, device, ctypes.byref(module)))
        return module.value or 0

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


_opened: dict[tuple[Path, int, int], str] = {}
_opening = threading.Lock()


def _spelling(path: Path) -> str:
    """A name to open a file by that no other file was opened by.

    The loader takes a name that it has seen for the file that it has loaded, even when another file has that name by
    now; a name it hasn't seen it looks up, and then knows files by their identity. So a replaced file gets a name of
    its own: folder/./name, folder/././name, …
    """
    status = path.stat()
    key = (path, status.st_dev, status.st_ino)
    with _opening:
        if key not in _opened:
            before = sum(1 for known, _, _ in _opened if known == path)
            _opened[key] = f"{path.parent}{'/.' * before}/{path.name}"
        return _opened[key]


def _symbol(library: ctypes.CDLL, path: Path, name: str) -> int:
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(library, name))
    except ValueError:
        raise ArtifactError(f"{path}: damaged: it exports no {name}") from None


def load_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Load an artifact. No device is needed for that; code is loaded on a device at the first call there.

    Raises ArtifactError, which names the file and what is wrong, for a file that `read_note` refuses, one for another
    host architecture, one that the loader refuses, and one of another ABI version.
    """
    resolved = Path(path).absolute()
    elf = _elf.read_elf(resolved)
    note = parse_note(elf)
    if elf.machine != _elf.host_machine():
        raise ArtifactError(
            f"{resolved}: built for a {elf.machine} host ({note.get('host_triple', 'no host triple')}), "
            f"but this process runs on {_elf.host_machine()}"
        )
    runtime = _library.load()
    importlib.import_module("tvm_ffi")
    try:
        library = ctypes.CDLL(_spelling(resolved), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise ArtifactError(f"{resolved}: cannot be loaded: {error}") from error
    address = _symbol(library, resolved, "flydsl_artifact")
    if runtime.flydsl_artifact_check(address) != 0:
        raise ArtifactError(f"{resolved}: {_library.last_error()}")
    entry = note["entry"]
    function = ArtifactFunction(note, _symbol(library, resolved, f"__tvm_ffi_{entry}"))
    return Artifact(resolved, note, {entry: function}, address)

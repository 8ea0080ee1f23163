# SPDX-License-Identifier: Apache-2.0
"""Kernels broken on purpose, to see that the sanitizers catch the bug at the right line.

Two ways to break one:

- its Python source, a line at a time (`Break`, `check_break`): an index off by one, a barrier left out, an accumulator
  that nobody fills;
- its machine code (`drop_each`): every s_barrier or s_waitcnt of a saved launch left out in turn, which no source line
  stands for.

A table of breaks of a kernel is a test of it (packages/fly-kernels/tests/broken is one):

    check_break(Break("flydsl.kernels.norm.softmax_kernel", "fx.barrier()", "pass", "race"), launch, tmp_path)
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from flydsl.emulator.device import Emulator
from flydsl.emulator.launch_file import SavedLaunch
from flydsl.emulator.sanitizing import Report, sanitize

_S_NOP = 0xBF800000


@dataclass(frozen=True)
class Break:
    """One line of a module, broken.

    `module` is an importable name, or the path of a script. `old` is exactly one line of its source, or a part of
    exactly one; `new` takes its place (and adds no line). `sanitizer` has to report it. The report has to name, as its
    own line or the other one of a race, the broken line, or one that holds a text of `at` (of the same module, unless
    it is written "other.module: text").
    """

    module: str
    old: str
    new: str
    sanitizer: str
    at: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.module.rpartition('.')[2]}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


def check_break(
    one: Break, launch: Callable[[], Any], folder: Path, *, reload: Sequence[str] = ("flydsl.kernels",)
) -> Report:
    """Break a line, `launch()`, and return the report that names the right line; `AssertionError` lists what came.

    `launch` imports what it launches by itself, so that it gets the broken module: modules whose name begins with one
    of `reload` are imported afresh for it, and are what they were afterwards. `folder` holds the broken source.
    """
    with broken(one, folder, reload) as (path, number):
        failed: Exception | None = None
        # Compilers mark uninitialised registers when the environment asks for the sanitizer.
        with _environment("FLYDSL_EMU_SANITIZE", "all"), sanitize("all", raises=False) as found:
            try:
                launch()
            except Exception as error:  # a launch that cannot go on is how some bugs show
                failed = error
        if not found.reports and failed is not None:
            raise AssertionError(f"{one}: nothing was launched") from failed
        lines = {(path.name, number), *(_place(one, path, text) for text in one.at)}
        for report in found.reports:
            if report.sanitizer == one.sanitizer and {_split(report.source), _split(report.other_source)} & lines:
                return report
        wanted = ", ".join(f"{file}:{line}" for file, line in sorted(lines))
        came = "\n".join(str(report) for report in found.reports) or "no report at all"
        raise AssertionError(f"{one}: expected a {one.sanitizer} report at {wanted}, and there is\n{came}") from failed


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def broken(one: Break, folder: Path, reload: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """The broken module in place of the right one; yields its file and the number of the broken line."""
    source, name = _source_of(one.module)
    text = source.read_text().splitlines(keepends=True)
    hits = [number for number, line in enumerate(text, 1) if line.strip() == one.old.strip()]
    hits = hits or [number for number, line in enumerate(text, 1) if one.old in line]
    if len(hits) != 1 or "\n" in one.old + one.new:
        raise ValueError(f"{one}: {len(hits)} lines of {source} hold {one.old!r}; it has to be one, for one")
    path = folder / source.name
    text[hits[0] - 1] = text[hits[0] - 1].replace(one.old, one.new)
    path.write_text("".join(text))
    kept = {key: value for key, value in sys.modules.items() if _begins(key, (*reload, name))}
    for key in kept:
        del sys.modules[key]
    try:
        _load(name, path)
        yield path, hits[0]
    finally:
        for key in [key for key in sys.modules if _begins(key, (*reload, name))]:
            del sys.modules[key]
        sys.modules.update(kept)


def _begins(name: str, prefixes: Sequence[str]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def _source_of(module: str) -> tuple[Path, str]:
    """The file of a module, and the name it is imported by."""
    if module.endswith(".py"):
        return Path(module), Path(module).stem
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no module {module} with a source file")
    return Path(spec.origin), module


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(importlib.import_module(parent), last, module)
    return module


def _place(one: Break, path: Path, text: str) -> tuple[str, int]:
    """The file and the number of the line that holds a text."""
    module, separator, rest = text.partition(": ")
    file = path
    if separator and re.fullmatch(r"[\w.]+", module):
        file, text = _source_of(module)[0], rest
    hits = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    if len(hits) != 1:
        raise ValueError(f"{one}: {len(hits)} lines of {file} hold {text!r}")
    return file.name, hits[0]


def _split(source: str) -> tuple[str, int]:
    # A compiler's cache may answer with what it made of the same text in another folder: names only.
    file, _, line = source.rpartition(":")
    return Path(file).name, int(line or 0)


@dataclass(frozen=True)
class Dropped:
    """An instruction that was left out, and what the sanitizers say then."""

    address: int
    text: str
    source: str  # "file:line", may be empty
    reports: tuple[Report, ...]


def drop_each(launch: SavedLaunch, mnemonic: str) -> list[Dropped]:
    """Replay a saved launch once for each instruction of this mnemonic in its kernel, with s_nop in its place.

    `mnemonic` is one of 32 bits that has no result: s_barrier, s_waitcnt. Not every wait and barrier is needed: some
    drops are without a finding.
    """
    emulator = Emulator()
    text = emulator.library.flyemu_disassemble(launch.code, len(launch.code), launch.arch.encode())
    found, source = [], ""
    inside = False
    for line in text.decode().splitlines():
        if line.endswith(":") and not line.startswith(" "):
            inside = line[:-1] == launch.kernel
        elif line.startswith("  ; "):
            source = line[4:]
        elif inside and line.split()[1] == mnemonic:
            address, _, rest = line.strip().partition("  ")
            found.append((int(address, 16), rest, source))
    out = []
    for address, instruction, source in found:
        changed = launch.with_code(_with_nop(launch.code, address))
        with sanitize("all", raises=False) as reports, contextlib.suppress(RuntimeError):
            changed.replay()
        out.append(Dropped(address, instruction, source, tuple(reports.reports)))
    return out


def _with_nop(code: bytes, address: int) -> bytes:
    """The code object with s_nop 0 at an address."""
    (offset,) = struct.unpack_from("<Q", code, 32)  # e_phoff, and 56 bytes for each of e_phnum headers
    (count,) = struct.unpack_from("<H", code, 56)
    for index in range(count):
        kind, _, at, begin, _, size = struct.unpack_from("<IIQQQQ", code, offset + 56 * index)
        if kind == 1 and begin <= address < begin + size:
            changed = bytearray(code)
            struct.pack_into("<I", changed, at + address - begin, _S_NOP)
            return bytes(changed)
    raise ValueError(f"no segment of the code object holds address 0x{address:x}")

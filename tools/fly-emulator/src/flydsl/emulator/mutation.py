# SPDX-License-Identifier: Apache-2.0
"""Kernels broken on purpose, to see that the sanitizers catch the bug at the right line.

Two ways to break one:

- its Python source, a line at a time (`Break`, `check_break`): an index off by one, a barrier left out, an accumulator
  that nobody fills;
- its machine code (`drop_each`): every wait, barrier, write-back and invalidation of a saved launch left out in turn,
  which no source line stands for.

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
_S_TRAP = 0xBF920002  # of gfx9
_S_TRAP_RDNA = 0xBF900002


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


SYNCHRONISATION = (
    *("s_waitcnt", "s_barrier", "buffer_wbl2", "buffer_inv"),  # gfx9
    *("s_waitcnt_vscnt", "buffer_gl0_inv", "buffer_gl1_inv"),  # gfx11
    *("s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_loadcnt_dscnt"),  # gfx12
    *("s_wait_storecnt_dscnt", "s_barrier_signal", "global_inv", "global_wb"),
)
"""What machine code orders its accesses with: waits, barriers, and the caches that agents write back or invalidate.

A barrier in two halves (gfx12) is left out as a whole, from its `s_barrier_signal` on.
"""

_FIELDS = {  # of a wait for two counters, which all ones does not wait for
    "gfx9": {"vmcnt(": 0xC00F, "lgkmcnt(": 0x0F00},
    "gfx11": {"vmcnt(": 0xFC00, "lgkmcnt(": 0x03F0},
    "s_wait_loadcnt_dscnt": {"loadcnt": 0x3F00, "dscnt": 0x003F},
    "s_wait_storecnt_dscnt": {"storecnt": 0x3F00, "dscnt": 0x003F},
}


@dataclass(frozen=True)
class Drop:
    """One instruction of a kernel's code that can be left out, or one counter of an s_waitcnt."""

    address: int
    size: int  # bytes
    text: str
    source: str  # "file:line", may be empty
    keeps: int | None = None  # the word of the wait that is left
    also: int | None = None  # the address of the barrier's other half
    trap: int = _S_TRAP

    def __str__(self) -> str:
        left = "" if self.keeps is None else f" (only one counter: leaves 0x{self.keeps:04x})"
        return f"0x{self.address:x} {self.text}{left}"

    def apply(self, code: bytes) -> bytes:
        """The code object without it: s_nop 0 in its place, so that nothing moves."""
        words = [_S_NOP] * (self.size // 4) if self.keeps is None else [self.keeps]
        changed = _with_words(code, self.address, words)
        return changed if self.also is None else _with_words(changed, self.also, [_S_NOP])

    def halt(self, code: bytes) -> bytes:
        """The code object with s_trap in its place: a launch that comes there fails."""
        return _with_words(code, self.address, [self.trap])


@dataclass(frozen=True)
class Dropped:
    """What was left out, and what the sanitizers say then."""

    drop: Drop
    reports: tuple[Report, ...]

    @property
    def text(self) -> str:
        """The instruction that was left out."""
        return self.drop.text


def drops(code: bytes, arch: str, kernel: str, *mnemonics: str) -> list[Drop]:
    """What can be left out of a kernel: each instruction of these mnemonics (`SYNCHRONISATION` unless given).

    They are ones without a result. A wait for two memory counters is there three times: whole, and with only one of
    the two left.
    """
    text = Emulator().library.flyemu_disassemble(code, len(code), arch.encode()).decode()
    out: list[Drop] = []
    source, inside = "", False
    lines = text.splitlines()
    trap = _S_TRAP if arch.startswith("gfx9") else _S_TRAP_RDNA
    addresses = [int(line.split()[0], 16) if re.match(r"  [0-9a-f]{4,}  ", line) else None for line in lines]

    def rest(number: int) -> Iterator[tuple[int, str]]:
        """The instructions behind a line."""
        for address, line in zip(addresses[number + 1 :], lines[number + 1 :], strict=True):
            if address is not None:
                yield address, line

    for number, line in enumerate(lines):
        at = addresses[number]
        if line.endswith(":") and not line.startswith(" "):
            inside = line[:-1] == kernel
        elif line.startswith("  ; "):
            source = line[4:]
        elif inside and at is not None and line.split()[1] in (mnemonics or SYNCHRONISATION):
            behind = next((one for one in addresses[number + 1 :] if one is not None), at + 4)
            instruction = line.strip().partition("  ")[2]
            mnemonic = line.split()[1]
            also = None
            if mnemonic == "s_barrier_signal":
                also = next((one for one, text in rest(number) if text.split()[1] == "s_barrier_wait"), None)
            out.append(Drop(at, behind - at, instruction, source, None, also, trap))
            fields = _FIELDS.get(mnemonic, _FIELDS["gfx11" if arch.startswith("gfx11") else "gfx9"])
            if all(counter in instruction for counter in fields):
                wait = _word_at(code, at)
                out += [Drop(at, 4, instruction, source, wait | field, None, trap) for field in fields.values()]
    return out


def drop_each(launch: SavedLaunch, *mnemonics: str, seed: int = 0) -> list[Dropped]:
    """Replay a saved launch once for each instruction of these mnemonics in its kernel, without it (see `drops`).

    `seed` chooses the order of waves. Not every wait and barrier is needed: some drops are without a finding.
    """
    emulator = Emulator()
    out = []
    emulator.set_seed(seed)
    try:
        for drop in drops(launch.code, launch.arch, launch.kernel, *mnemonics):
            changed = launch.with_code(drop.apply(launch.code))
            with sanitize("all", raises=False) as found, contextlib.suppress(RuntimeError):
                changed.replay()
            out.append(Dropped(drop, tuple(found.reports)))
    finally:
        emulator.set_seed(0)
    return out


def _place_of(code: bytes, address: int) -> int:
    """Where in the file the code object holds an address."""
    (offset,) = struct.unpack_from("<Q", code, 32)  # e_phoff, and 56 bytes for each of e_phnum headers
    (count,) = struct.unpack_from("<H", code, 56)
    for index in range(count):
        kind, _, at, begin, _, size = struct.unpack_from("<IIQQQQ", code, offset + 56 * index)
        if kind == 1 and begin <= address < begin + size:
            return int(at + address - begin)
    raise ValueError(f"no segment of the code object holds address 0x{address:x}")


def _word_at(code: bytes, address: int) -> int:
    (word,) = struct.unpack_from("<I", code, _place_of(code, address))
    return int(word)


def _with_words(code: bytes, address: int, words: Sequence[int]) -> bytes:
    changed = bytearray(code)
    struct.pack_into(f"<{len(words)}I", changed, _place_of(code, address), *words)
    return bytes(changed)

# SPDX-License-Identifier: Apache-2.0
"""Launches saved as files, and run again: for bug reports, and to try a changed code object on the same inputs.

    with save_launches("bug"):                 # or FLYDSL_EMU_SAVE=bug for a whole process
        launch(x, y)
    launch = SavedLaunch.load("bug/0001-kernel.flylaunch")
    result = launch.replay()                   # {"y": bytes after the launch, ...}

Memory goes back to the addresses that it had, so that pointers inside of it stay right; where another mapping is in the
way, it goes elsewhere and the pointers among the arguments are changed.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import json
import mmap
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, Module

_MAGIC = b"FLYLNCH1"
_MAP_FIXED_NOREPLACE = 0x100000
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


@dataclass(frozen=True)
class SavedMemory:
    """One registered or allocated range: its address, name, contents before the launch, and the tensor in it."""

    begin: int
    writable: bool
    name: str
    contents: bytes
    data: int | None = None
    item_bytes: int = 0
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()  # bytes

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.begin + len(self.contents)


@dataclass(frozen=True)
class SavedModule:
    """A module's memory but for its code: its variables as they were before the launch."""

    base: int
    size: int
    text: tuple[int, int]
    before: bytes
    behind: bytes

    def restore(self, module: Module) -> int:
        """Put the variables into a loaded module and return its address.

        Pointers of the module into itself lead to the same places of the new one. Code of another layout keeps the
        variables that it was loaded with.
        """
        base, size, text = module.memory()
        if (size, text) == (self.size, self.text):
            for offset, contents in ((0, self.before), (text[1], self.behind)):
                head = -offset % 8  # pointers are aligned in the module
                tail = head + (len(contents) - head) // 8 * 8
                words = array.array("Q", contents[head:tail])
                for i, word in enumerate(words):
                    if self.base <= word < self.base + self.size:
                        words[i] = word - self.base + base
                whole = contents[:head] + words.tobytes() + contents[tail:]
                ctypes.memmove(base + offset, whole, len(whole))
        return base


@dataclass(frozen=True)
class SavedLaunch:
    """A launch as it was about to run. `arguments` is the packed argument buffer, `code` the code object."""

    kernel: str
    arch: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds: int
    cooperative: bool
    seed: int
    code: bytes
    arguments: bytes
    memory: tuple[SavedMemory, ...]
    module: SavedModule | None = None  # files of older versions have none

    @classmethod
    def load(cls, path: str | Path) -> SavedLaunch:
        """Read a file; `ValueError` says what is wrong with one that is damaged or something else."""
        raw = Path(path).read_bytes()
        try:
            if raw[:8] != _MAGIC:
                raise ValueError("it doesn't begin as one")
            (length,) = struct.unpack_from("<Q", raw, 8)
            text = json.loads(raw[16 : 16 + length])
            if text["version"] != 1:
                raise ValueError(f"version {text['version']} is not known")

            def blob(span: dict[str, int]) -> bytes:
                begin = 16 + length + span["offset"]
                out = zlib.decompress(raw[begin : begin + span["size"]])
                if len(out) != span["bytes"]:
                    raise ValueError("a part has another length than it should")
                return out

            memory = tuple(
                SavedMemory(
                    begin=one["begin"],
                    writable=one["writable"],
                    name=one["name"],
                    contents=blob(one["contents"]),
                    data=one.get("data"),
                    item_bytes=one.get("item_bytes", 0),
                    shape=tuple(one.get("shape", ())),
                    strides=tuple(one.get("strides", ())),
                )
                for one in text["memory"]
            )
            saved = text.get("module")
            module = saved and SavedModule(
                base=saved["base"],
                size=saved["bytes"],
                text=(saved["text"][0], saved["text"][1]),
                before=blob(saved["before"]),
                behind=blob(saved["behind"]),
            )
            return cls(
                kernel=text["kernel"],
                arch=text["arch"],
                grid=tuple(text["grid"]),
                block=tuple(text["block"]),
                lds=text["lds"],
                cooperative=text["cooperative"],
                seed=text["seed"],
                code=blob(text["code"]),
                arguments=blob(text["arguments"]),
                memory=memory,
                module=module,
            )
        except (ValueError, KeyError, TypeError, struct.error, zlib.error) as error:
            raise ValueError(f"{path} is not a whole saved launch: {error}") from error

    def with_code(self, code: bytes) -> SavedLaunch:
        """The same launch of another code object. Saved variables go with it where it has the same layout."""
        return replace(self, code=code)

    def replay(self, *, seed: int | None = None) -> dict[str, bytes]:
        """Run it with what is switched on now (sanitizers, profiling); the writable memory by name afterwards.

        `seed` replaces the saved order of waves. `EmulatorError` if the launch fails, with its report. The emulator has
        to present the architecture (`Emulator.set_devices`), and is asked to if it doesn't.
        """
        emulator = Emulator()
        device = _device_of(emulator, self.arch)
        with contextlib.ExitStack() as stack:
            addresses = _restore(stack, self.memory)
            for one, address in zip(self.memory, addresses, strict=True):
                _register(stack, emulator, one, address)
            before = emulator.seed()
            stack.callback(emulator.set_seed, before)
            emulator.set_seed(self.seed if seed is None else seed)
            module = emulator.load(self.code, device)
            stack.callback(module.unload)
            arguments = _relocate(self.arguments, [*zip(self.memory, addresses, strict=True), *self._variables(module)])
            offsets = self._offsets(emulator) if self.cooperative else None
            module.kernel(self.kernel).launch_packed(
                self.grid, self.block, arguments, lds=self.lds, cooperative_offsets=offsets
            )
            return {
                one.name or f"0x{one.begin:x}": ctypes.string_at(address, len(one.contents))
                for one, address in zip(self.memory, addresses, strict=True)
                if one.writable
            }

    def _variables(self, module: Module) -> list[tuple[SavedMemory, int]]:
        """Put the variables of the module back; the module as memory, and where it is now."""
        if self.module is None:
            return []
        saved = SavedMemory(self.module.base, True, "module", bytes(self.module.size))
        return [(saved, self.module.restore(module))]

    def _offsets(self, emulator: Emulator) -> list[int]:
        kernels = emulator.describe(self.code)["kernels"]
        arguments = next(kernel["arguments"] for kernel in kernels if kernel["name"] == self.kernel)
        return [one["offset"] for one in arguments if not one["kind"].startswith("hidden_")]


@contextlib.contextmanager
def save_launches(folder: str | Path) -> Iterator[Path]:
    """Save every launch of this process on the emulator into a folder (made if need be) while the block runs."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    emulator = Emulator()
    before = emulator.save_folder()
    emulator.set_save_folder(str(path))
    try:
        yield path
    finally:
        emulator.set_save_folder(before)


def _device_of(emulator: Emulator, arch: str) -> int:
    for _ in range(2):
        for ordinal in range(emulator.device_count()):
            if emulator.device_name(ordinal)[1].split(":")[0] == arch:
                return ordinal
        emulator.set_devices(arch)
    raise ValueError(f"the emulator does not present {arch}")


def _restore(stack: contextlib.ExitStack, memory: tuple[SavedMemory, ...]) -> list[int]:
    """Map the pages of all ranges where they were, else anywhere, and fill them; the address of each range."""
    page = mmap.PAGESIZE
    spans: list[list[int]] = []  # neighbours on one page, or on pages that touch, stay neighbours
    for one in sorted(memory, key=lambda one: one.begin):
        first, last = one.begin // page * page, -(-max(one.end, one.begin + 1) // page) * page
        if spans and first <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], last)
        else:
            spans.append([first, last])
    moved = [(first, last, _map(stack, first, last - first) - first) for first, last in spans]
    addresses = []
    for one in memory:
        distance = next(distance for first, last, distance in moved if first <= one.begin < last)
        addresses.append(one.begin + distance)
        ctypes.memmove(addresses[-1], one.contents, len(one.contents))
    return addresses


def _map(stack: contextlib.ExitStack, first: int, size: int) -> int:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    base = _LIBC.mmap(first, size, protection, flags | _MAP_FIXED_NOREPLACE, -1, 0)
    if base != first:
        if base not in (None, _FAILED):
            _LIBC.munmap(base, size)
        base = _LIBC.mmap(None, size, protection, flags, -1, 0)
        if base in (None, _FAILED):
            raise MemoryError(f"no room for {size:,} bytes of saved memory")
    stack.callback(_LIBC.munmap, base, size)
    return int(base)


def _register(stack: contextlib.ExitStack, emulator: Emulator, memory: SavedMemory, address: int) -> None:
    rank = len(memory.shape)
    common = (ctypes.c_void_p(address), ctypes.c_size_t(len(memory.contents)), int(not memory.writable))
    if memory.data is None:
        emulator.call("flyemu_register_memory", *common, memory.name.encode())
    else:
        integers = ctypes.c_longlong * max(1, rank)
        emulator.call(
            "flyemu_register_tensor",
            *common,
            memory.name.encode(),
            ctypes.c_void_p(memory.data - memory.begin + address),
            ctypes.c_uint(memory.item_bytes),
            rank,
            integers(*memory.shape),
            integers(*memory.strides),
        )
    stack.callback(emulator.library.flyemu_unregister_memory, ctypes.c_void_p(address))


def _relocate(arguments: bytes, memory: list[tuple[SavedMemory, int]]) -> bytes:
    """The arguments with pointers into moved ranges changed."""
    out = bytearray(arguments)
    moved = [(one, address) for one, address in memory if address != one.begin]
    for at in range(0, len(out) - 7, 4):
        (value,) = struct.unpack_from("<Q", arguments, at)
        inside = [(one, address) for one, address in moved if one.begin <= value < one.end]
        for one, address in (inside or [(one, address) for one, address in moved if value == one.end])[:1]:
            struct.pack_into("<Q", out, at, value - one.begin + address)
    return bytes(out)


def summary(launch: SavedLaunch) -> dict[str, Any]:
    """What the command line prints of a saved launch."""
    return {
        "kernel": launch.kernel,
        "arch": launch.arch,
        "grid": launch.grid,
        "block": launch.block,
        "lds": launch.lds,
        "seed": launch.seed,
        "memory": [{"name": one.name, "bytes": len(one.contents), "writable": one.writable} for one in launch.memory],
    }

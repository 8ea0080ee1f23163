# SPDX-License-Identifier: Apache-2.0
"""Kernels of a code object, as the emulator's disassembler shows them."""

from __future__ import annotations

import ctypes
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_AMDGPU = 224  # e_machine
_ELF = b"\x7fELF"
_WITH_ACCUMULATORS = ("gfx942", "gfx950")
_WAVE_OF_32 = 1 << 10  # of the code properties in a kernel's descriptor
_KNOWN = (*_WITH_ACCUMULATORS, "gfx1100", "gfx1201", "gfx1250")


@dataclass(frozen=True)
class Instruction:
    """One instruction; `target` is the number of the instruction that it may branch to."""

    mnemonic: str
    operands: str
    address: int
    target: int | None = None


@dataclass(frozen=True)
class KernelCode:
    """A kernel: its resources by the metadata and the descriptor, and its instructions.

    `vgpr` counts vector registers alone, `agpr` accumulation registers, `vgpr_total` both as the wave gets them;
    `vgpr_allocated` is what the descriptor asks for.
    """

    name: str
    arch: str
    vgpr: int
    agpr: int
    vgpr_total: int
    vgpr_allocated: int
    sgpr: int
    vgpr_spill: int
    sgpr_spill: int
    lds_bytes: int
    scratch_bytes: int
    threads: int
    code_bytes: int
    instructions: tuple[Instruction, ...] = field(repr=False)


def images_in(path: Path) -> list[bytes]:
    """The code objects inside a file: an artifact of this project, or a code object itself.

    Raises:
        ValueError: there is none.
    """
    data = path.read_bytes()
    found = []
    at = data.find(_ELF)
    while at >= 0:
        if len(data) >= at + 64 and struct.unpack_from("<H", data, at + 18)[0] == _AMDGPU:
            sections, size, count = (
                struct.unpack_from("<Q", data, at + 40)[0],
                *struct.unpack_from("<HH", data, at + 58),
            )
            found.append(data[at : at + sections + size * count])
        at = data.find(_ELF, at + 4)
    if not found:
        raise ValueError(f"{path}: no AMDGPU code object inside")
    return found


def kernels_of(image: bytes) -> list[KernelCode]:
    """The kernels of a code object.

    Raises:
        ValueError: the image is no code object for a chip of `_KNOWN`, or a kernel for RDNA has waves of 64 lanes.
    """
    from flydsl.emulator.device import Emulator

    library = Emulator().library
    described = library.flyemu_code_object_json(image, ctypes.c_size_t(len(image)))
    if described is None:
        raise ValueError(library.flyemu_last_error().decode())
    info: dict[str, Any] = json.loads(described)
    arch = str(info["arch"]).split(":")[0]
    if arch not in _KNOWN:
        raise ValueError(f"static statistics are for {', '.join(_KNOWN)}, not for {arch}")
    text = library.flyemu_disassemble(image, ctypes.c_size_t(len(image)), arch.encode()).decode()
    symbols = _symbols(image)
    return [_kernel(image, arch, kernel, text, symbols) for kernel in info["kernels"]]


def _kernel(
    image: bytes, arch: str, info: dict[str, Any], text: str, symbols: dict[str, tuple[int, int, int]]
) -> KernelCode:
    name = info["name"]
    _, _, size = symbols[name]
    _, at, _ = symbols[f"{name}.kd"]
    accumulation_offset = 4 * (struct.unpack_from("<I", image, at + 44)[0] % 64 + 1)
    granules = struct.unpack_from("<I", image, at + 48)[0] % 64
    if arch not in _WITH_ACCUMULATORS and not struct.unpack_from("<H", image, at + 56)[0] & _WAVE_OF_32:
        raise ValueError(f"{name}: static statistics of {arch} are for waves of 32 lanes, this kernel has waves of 64")
    total, agpr = info["vgpr"], info["agpr"] if arch in _WITH_ACCUMULATORS else 0
    vgpr = min(total, accumulation_offset) if agpr else total
    total = max(total, -(-vgpr // 4) * 4 + agpr if agpr else vgpr)
    return KernelCode(
        name=name,
        arch=arch,
        vgpr=vgpr,
        agpr=agpr,
        vgpr_total=total,
        vgpr_allocated=-(-max(total, granules * 8 + 1) // 8) * 8,
        sgpr=info["sgpr"],
        vgpr_spill=info["vgpr_spills"],
        sgpr_spill=info["sgpr_spills"],
        lds_bytes=info["lds_bytes"],
        scratch_bytes=info["scratch_bytes"],
        threads=info["max_threads"],
        code_bytes=size,
        instructions=_instructions(text, name),
    )


def _instructions(text: str, name: str) -> tuple[Instruction, ...]:
    parsed: list[tuple[int, str, str]] = []
    inside = False
    for line in text.splitlines():
        if line and not line[0].isspace():
            inside = line == f"{name}:"
        elif inside and line.strip() and not line.lstrip().startswith(";"):
            address, mnemonic, *operands = line.split(maxsplit=2)
            if mnemonic != "s_code_end":
                parsed.append((int(address, 16), mnemonic, operands[0].strip() if operands else ""))
    numbers = {address: number for number, (address, _, _) in enumerate(parsed)}
    return tuple(
        Instruction(mnemonic, operands, address, numbers.get(_branch_target(address, mnemonic, operands)))
        for address, mnemonic, operands in parsed
    )


def _branch_target(address: int, mnemonic: str, operands: str) -> int:
    """The address that a branch goes to, -1 for all else: the operand counts words from the next instruction."""
    if not mnemonic.startswith(("s_branch", "s_cbranch")):
        return -1
    words = int(operands.split()[0], 0)
    return address + 4 + 4 * (words - 0x10000 if words >= 0x8000 else words)


def _symbols(image: bytes) -> dict[str, tuple[int, int, int]]:
    """Symbol -> (address, place in the file, size)."""
    first, entry, count = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, first + entry * number) for number in range(count)]
    found = {}
    for _, kind, _, _, offset, size, link, _, _, each in sections:
        if kind not in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
            continue
        strings = sections[link][4]
        for at in range(offset, offset + size, each):
            name_at, _, _, section, value, length = struct.unpack_from("<IBBHQQ", image, at)
            if 0 < section < len(sections):
                name = image[strings + name_at : image.index(b"\0", strings + name_at)].decode()
                found[name] = (value, value - sections[section][3] + sections[section][4], length)
    return found

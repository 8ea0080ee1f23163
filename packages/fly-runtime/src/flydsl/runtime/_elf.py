# SPDX-License-Identifier: Apache-2.0
"""Reading an ELF file, with every bound checked: enough to know an artifact without loading it."""

from __future__ import annotations

import platform
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from .errors import ArtifactError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_SHARED_OBJECT = 3
_NO_BITS = 8  # a section without bytes in the file
_LOAD = 1
_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 224: "amdgpu", 3: "i386", 40: "arm"}


class Section(NamedTuple):
    """Where a section's bytes are in the file."""

    offset: int
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class ElfFile:
    """A 64-bit little-endian shared object, whose tables are known to lie within the file."""

    path: Path
    data: bytes
    machine: str
    sections: dict[str, Section]

    def content(self, section: Section) -> bytes:
        """A section's bytes."""
        return self.data[section.offset : section.offset + section.size]

    @cached_property
    def exports(self) -> dict[str, int]:
        """The symbols that the file defines for others, with the size of each in bytes."""
        symbols, names = self.sections.get(".dynsym"), self.sections.get(".dynstr")
        if symbols is None or names is None:
            return {}
        table, strings = self.content(symbols), self.content(names)
        whole = len(table) - len(table) % _SYMBOL.size
        found = {}
        for name, info, _, section, _, size in _SYMBOL.iter_unpack(table[:whole]):
            if section != 0 and info >> 4 != 0:  # neither undefined nor local
                found[_name(strings, name)] = size
        return found


def _cut(path: Path, data: bytes, offset: int, size: int, what: str) -> bytes:
    if offset + size > len(data):
        raise ArtifactError(
            f"{path}: truncated: {what} ends at byte {offset + size}, but the file has {len(data)} bytes"
        )
    return data[offset : offset + size]


def _name(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode(errors="replace")


def parse_elf(path: Path, data: bytes) -> ElfFile:
    """Find a shared object's sections.

    Raises ArtifactError for what is no 64-bit little-endian ELF shared object, or is truncated.
    """
    if not data:
        raise ArtifactError(f"{path}: the file is empty")
    if data[:4] != _MAGIC:
        raise ArtifactError(f"{path}: not an artifact: it is not an ELF file")
    if len(data) < _HEADER.size:
        raise ArtifactError(f"{path}: truncated: the ELF header has {_HEADER.size} bytes, the file has {len(data)}")
    if data[4] != _CLASS_64 or data[5] != _LITTLE_ENDIAN:
        raise ArtifactError(f"{path}: not an artifact: not a 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(data)
    kind, machine, segment_offset, section_offset = header[1], header[2], header[5], header[6]
    segment_size, segments, section_size, count, names = header[9:14]
    if kind != _SHARED_OBJECT:
        raise ArtifactError(f"{path}: not an artifact: an ELF file, but not a shared object")
    if (segments and segment_size != _SEGMENT.size) or (count and section_size != _SECTION.size):
        raise ArtifactError(f"{path}: damaged: its ELF tables have entries of an unknown size")
    segment_table = _cut(path, data, segment_offset, segments * _SEGMENT.size, "the segment table")
    for index in range(segments):
        segment_kind, _, offset, _, _, size, _, _ = _SEGMENT.unpack_from(segment_table, index * _SEGMENT.size)
        if segment_kind == _LOAD:
            _cut(path, data, offset, size, f"segment {index}")
    section_table = _cut(path, data, section_offset, count * _SECTION.size, "the section table")
    headers = [_SECTION.unpack_from(section_table, index * _SECTION.size) for index in range(count)]
    if names >= len(headers):
        raise ArtifactError(f"{path}: not an artifact: an ELF file without section names")

    def section(index: int) -> Section:
        kind, offset, size = headers[index][1], headers[index][4], headers[index][5]
        if kind == _NO_BITS:
            return Section(0, 0)
        _cut(path, data, offset, size, f"section {index}")
        return Section(offset, size)

    name_table = section(names)
    texts = data[name_table.offset : name_table.offset + name_table.size]
    sections = {_name(texts, header[0]): section(index) for index, header in enumerate(headers)}
    return ElfFile(path, data, _MACHINES.get(machine, f"machine {machine}"), sections)


def host_machine() -> str:
    """The processor of this process, in the names of `ElfFile.machine`."""
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())

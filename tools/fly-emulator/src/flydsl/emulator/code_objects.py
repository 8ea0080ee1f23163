# SPDX-License-Identifier: Apache-2.0
"""Code objects inside of host files: FlyDSL's artifacts (one shared object for host and device) and their like.

An artifact holds its code objects as they are, one for each architecture, among its read-only data. They are found by
their ELF headers, whatever wrote the file around them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["code_objects_in", "is_host_file"]

_START = b"\x7fELF\x02\x01\x01\x40"  # 64 bits, little-endian, ELFOSABI_AMDGPU_HSA
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_AMDGPU, _SHARED_OBJECT, _NO_BITS = 224, 3, 8


def is_host_file(data: bytes) -> bool:
    """Tell whether a file is an ELF file for a CPU: a program or library, and no code object itself."""
    return data[:4] == b"\x7fELF" and len(data) >= _HEADER.size and _HEADER.unpack_from(data)[2] != _AMDGPU


def code_objects_in(data: bytes) -> Iterator[bytes]:
    """Yield the whole code objects that lie in a file, in their order."""
    start = data.find(_START)
    while start >= 0:
        size = _size_at(data, start)
        if size:
            yield data[start : start + size]
        start = data.find(_START, start + max(size, 1))


def _size_at(data: bytes, start: int) -> int:
    """The bytes of the code object that begins there; 0 when it is none, or its tables lead out of the file."""
    if start + _HEADER.size > len(data):
        return 0
    header = _HEADER.unpack_from(data, start)
    kind, machine, table, entry, count = header[1], header[2], header[6], header[11], header[12]
    if (kind, machine) != (_SHARED_OBJECT, _AMDGPU) or not count or entry != _SECTION.size:
        return 0
    size = table + count * entry
    if start + size > len(data):
        return 0
    for index in range(count):
        section = _SECTION.unpack_from(data, start + table + index * entry)
        if section[1] != _NO_BITS:
            size = max(size, section[4] + section[5])
    return size if start + size <= len(data) else 0

# SPDX-License-Identifier: Apache-2.0
"""Typed buffer accesses: every data and number format of gfx9, through the instruction and through the descriptor."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .case import Case, Context, case
from .exact import F16, F32
from .kinds import Words
from .table_memory import BYTES, PERMUTE, RECORD, WAIT, slots

# Bits of the components by data format, from the lowest bit on.
LAYOUTS: dict[int, tuple[int, ...]] = {
    1: (8,), 2: (16,), 3: (8, 8), 4: (32,), 5: (16, 16), 6: (11, 11, 10), 7: (10, 11, 11), 8: (2, 10, 10, 10),
    9: (10, 10, 10, 2), 10: (8, 8, 8, 8), 11: (32, 32), 12: (16, 16, 16, 16), 13: (32, 32, 32), 14: (32, 32, 32, 32),
}  # fmt: skip
NUMBERS = {0: "unorm", 1: "snorm", 2: "uscaled", 3: "sscaled", 4: "uint", 5: "sint", 7: "float"}
SUFFIXES = ("x", "xy", "xyz", "xyzw")
ONE = 0x3F800000


def exists(data: int, number: str) -> bool:
    """8-bit floats, packed ones of four components and normalised numbers of 32 bits do not."""
    layout = LAYOUTS[data]
    if number == "float":
        return layout[0] in (16, 32) or data in (6, 7)
    return layout[0] != 32 or number in ("uint", "sint")


FORMATS = [(d, n) for d in LAYOUTS for n, name in NUMBERS.items() if exists(d, name)]


def f32_bits(value: Fraction) -> int:
    return int(np.float32(F32.round(value)).view(np.uint32))


def widened(code: int, bits: int) -> int:
    """A float of 10, 11 (unsigned) or 16 bits as the bits of an f32; NaNs become quiet."""
    mantissa_bits = {10: 5, 11: 6, 16: 10}[bits]
    sign = code >> 15 if bits == 16 else 0
    exponent, mantissa = code >> mantissa_bits & 31, code & (1 << mantissa_bits) - 1
    if exponent == 31:
        return sign << 31 | 0x7F800000 | (mantissa << 23 - mantissa_bits | (1 << 22 if mantissa else 0))
    value = Fraction(mantissa, 1 << mantissa_bits) + (1 if exponent else 0)
    value *= Fraction(2) ** (max(exponent, 1) - 15)
    return sign << 31 | f32_bits(value)


@lru_cache(maxsize=1 << 16)
def narrowed(bits: int) -> int:
    """An f32 to a half, to nearest even; NaNs become quiet."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits >> 16 & 0x8000 | 0x7E00 | bits >> 13 & 0x1FF
    value = float(np.uint32(bits).view(np.float32))
    if np.isinf(value):
        return bits >> 16 & 0x8000 | 0x7C00
    half = np.float16(F16.round(Fraction(value)))
    return int(half.view(np.uint16)) & 0x7FFF | bits >> 16 & 0x8000


def signed(code: int, bits: int) -> int:
    return code - (1 << bits) if code >> bits - 1 else code


@lru_cache(maxsize=1 << 16)
def component(code: int, bits: int, number: str) -> int:
    """What a register holds for a component of memory."""
    if number == "unorm":
        return f32_bits(Fraction(code, (1 << bits) - 1))
    if number == "snorm":
        return f32_bits(max(Fraction(signed(code, bits), (1 << bits - 1) - 1), Fraction(-1)))
    if number in ("uscaled", "sscaled"):
        return f32_bits(Fraction(signed(code, bits) if number == "sscaled" else code))
    if number == "float" and bits != 32:
        return widened(code, bits)
    return signed(code, bits) & 0xFFFFFFFF if number == "sint" else code


def element(memory: bytes, data: int, number: str) -> list[int]:
    """Four components; those that the format lacks are (0, 0, 0, 1)."""
    out, at = [], 0
    word = int.from_bytes(memory, "little")
    for bits in LAYOUTS[data]:
        out.append(component(word >> at & (1 << bits) - 1, bits, number))
        at += bits
    one = 1 if number in ("uint", "sint") else ONE
    return out + [0, 0, 0, one][len(out) :]


def size_of(data: int) -> int:
    return sum(LAYOUTS[data]) // 8


def descriptor(data: int, number: int, records: int, select: tuple[int, ...] = (4, 5, 6, 7)) -> str:
    """s[48:51] over the block's memory, with a format and DST_SEL."""
    word3 = data << 15 | number << 12 | sum(code << 3 * i for i, code in enumerate(select))
    return (
        f"s_mov_b32 s48, s16\ns_and_b32 s49, s17, 0xffff\ns_or_b32 s49, s49, {RECORD << 16:#x}\n"
        f"s_movk_i32 s50, {records}\ns_mov_b32 s51, {word3:#x}\n"
    )


RECORDS = 40  # of 64: an index beyond is out of bounds
OPTIONS: dict[str, Any] = {"context": True, "memory": BYTES}


def loaded(data: int, number: str, count: int, half: str, select: tuple[int, ...]) -> Any:
    """`half`: "" for a register each, "pairs" for two 16-bit components in one, "high" for the upper half."""

    def run(c: Context) -> Words:
        rows = -(-count // 2) if half else count
        out = c.old[0].copy() if half else np.zeros((rows, len(c.exec)), np.uint32)
        for lane, slot in enumerate(slots(c)):
            raw = bytes(size_of(data))
            if slot < RECORDS:
                place = int(slot) * RECORD + 8
                raw = c.memory[lane // 64, place : place + len(raw)].tobytes()
            parts = element(raw, data, number)
            one = 1 if number in ("uint", "sint") else ONE
            for i, code in enumerate(select[:count]):
                value = 0 if code == 0 else one if code == 1 else parts[code - 4]
                if not half:
                    out[i, lane] = value
                    continue
                bits = value & 0xFFFF if number in ("uint", "sint") else narrowed(value)
                shift = 16 if half == "high" or i % 2 else 0
                out[i // 2, lane] = int(out[i // 2, lane]) & ~(0xFFFF << shift) & 0xFFFFFFFF | bits << shift
        return out

    return run


def fits_half(data: int, number: str) -> bool:
    """32-bit integers have no 16-bit form."""
    return number not in ("uint", "sint") or LAYOUTS[data][0] != 32


def loads() -> list[Case]:
    out = []
    selects = [(4, 5, 6, 7), (6, 4, 1, 0), (7, 5, 0, 4), (1, 0, 5, 6)]
    for index, (data, number) in enumerate(FORMATS):
        name, count = NUMBERS[number], index % 4 + 1
        suffix, select = SUFFIXES[count - 1], selects[index // 4 % 4]
        label = f"{data} {name}"
        code = PERMUTE + descriptor(data, number, RECORDS, select)
        plain = PERMUTE + descriptor(0, 0, RECORDS, (0, 0, 0, 0))
        tail = f" format:{data | number << 4}"
        kind = f"b{32 * count}"
        out += [
            case(f"tbuffer_load_format_{suffix}", "", kind, loaded(data, name, count, "", (4, 5, 6, 7)),
                 plain + "{op} {d}, v90, s[48:51], 0" + tail + " idxen offset:8" + WAIT, label=label, **OPTIONS),
            case(f"buffer_load_format_{suffix}", "", kind, loaded(data, name, count, "", select),
                 code + "{op} {d}, v90, s[48:51], 0 idxen offset:8" + WAIT, label=label, **OPTIONS),
        ]  # fmt: skip
        if not fits_half(data, name):
            continue
        kind = f"b{32 * -(-count // 2)}"
        out += [
            case(f"tbuffer_load_format_d16_{suffix}", "", kind, loaded(data, name, count, "pairs", (4, 5, 6, 7)),
                 plain + "{op} {d}, v90, s[48:51], 0" + tail + " idxen offset:8" + WAIT, label=label, **OPTIONS),
            case(f"buffer_load_format_d16_{suffix}", "", kind, loaded(data, name, count, "pairs", select),
                 code + "{op} {d}, v90, s[48:51], 0 idxen offset:8" + WAIT, label=label, **OPTIONS),
            case("buffer_load_format_d16_hi_x", "", "b32", loaded(data, name, 1, "high", select),
                 code + "{op} {d}, v90, s[48:51], 0 idxen offset:8" + WAIT, label=label, **OPTIONS),
        ]  # fmt: skip
    return out


@lru_cache(maxsize=1 << 16)
def packed(value: int, bits: int, number: str) -> int:
    """What memory holds for a register's component."""
    if number in ("unorm", "snorm"):
        v = float(np.uint32(value).view(np.float32))
        largest = (1 << bits) - 1 if number == "unorm" else (1 << bits - 1) - 1
        v = 0.0 if np.isnan(v) else min(max(v, 0.0 if number == "unorm" else -1.0), 1.0)
        return round(Fraction(v) * largest) & (1 << bits) - 1  # to nearest even
    if number == "float" and bits == 16:
        return narrowed(value)
    return value & (1 << bits) - 1


def stored(data: int, number: str, half: str) -> Any:
    def run(c: Context, a: Words) -> None:
        rows, records = a.reshape(-1, a.shape[-1]), slots(c)
        for lane in np.flatnonzero(c.exec):
            slot = int(records[lane])
            if slot >= RECORDS:
                continue
            word = at = 0
            for i, bits in enumerate(LAYOUTS[data]):
                if half:
                    shift = 16 if half == "high" or i % 2 else 0
                    value = int(rows[i // 2, lane]) >> shift & 0xFFFF
                    if number not in ("uint", "sint"):
                        value = widened(value, 16)
                    elif number == "sint":
                        value = signed(value, 16) & 0xFFFFFFFF
                else:
                    value = int(rows[i, lane])
                    value = in_range(value, bits, number)
                word |= packed(value, bits, number) << at
                at += bits
            place = slot * RECORD + 8
            c.memory[lane // 64, place : place + size_of(data)] = np.frombuffer(
                word.to_bytes(size_of(data), "little"), np.uint8
            )

    return run


def in_range(value: int, bits: int, number: str) -> int:
    """The test's own preparation: integers that the component can hold."""
    if number == "uint":
        return value & (1 << bits) - 1
    return signed(value & (1 << bits) - 1, bits) & 0xFFFFFFFF if number == "sint" else value


def prepared(data: int, number: str) -> str:
    """The same in assembly, for the registers from v10 on."""
    bits = LAYOUTS[data]
    if number not in ("uint", "sint") or bits[0] == 32:
        return ""
    extract = "v_bfe_u32" if number == "uint" else "v_bfe_i32"
    return "".join(f"{extract} v{10 + i}, v{10 + i}, 0, {b}\n" for i, b in enumerate(bits))


def stores() -> list[Case]:
    out = []
    for data, number in FORMATS:
        name, layout = NUMBERS[number], LAYOUTS[data]
        if name in ("uscaled", "sscaled") or (name == "float" and len(layout) == 3 and layout[0] != 32):
            continue  # not defined
        count = len(layout)
        suffix = SUFFIXES[count - 1]
        tail = f" format:{data | number << 4}"
        setup = prepared(data, name) + PERMUTE
        options: dict[str, Any] = OPTIONS | {"label": f"{data} {name}"}
        out += [
            case(f"tbuffer_store_format_{suffix}", f"b{32 * count}", "", stored(data, name, ""),
                 setup + descriptor(0, 0, RECORDS) + "{op} {a}, v90, s[48:51], 0" + tail + " idxen offset:8",
                 **options),
            case(f"buffer_store_format_{suffix}", f"b{32 * count}", "", stored(data, name, ""),
                 setup + descriptor(data, number, RECORDS) + "{op} {a}, v90, s[48:51], 0 idxen offset:8", **options),
        ]  # fmt: skip
        if name in ("uint", "sint") and layout[0] != 16:
            continue  # 16-bit integers go where 16 bits are
        kind = f"b{32 * -(-count // 2)}"
        out += [
            case(f"tbuffer_store_format_d16_{suffix}", kind, "", stored(data, name, "pairs"),
                 PERMUTE + descriptor(0, 0, RECORDS) + "{op} {a}, v90, s[48:51], 0" + tail + " idxen offset:8",
                 **options),
            case(f"buffer_store_format_d16_{suffix}", kind, "", stored(data, name, "pairs"),
                 PERMUTE + descriptor(data, number, RECORDS) + "{op} {a}, v90, s[48:51], 0 idxen offset:8",
                 **options),
        ]  # fmt: skip
        if count == 1:
            out.append(
                case("buffer_store_format_d16_hi_x", "b32", "", stored(data, name, "high"),
                     PERMUTE + descriptor(data, number, RECORDS) + "{op} {a}, v90, s[48:51], 0 idxen offset:8",
                     **options)
            )  # fmt: skip
    return out


def cases() -> list[Case]:
    return [*loads(), *stores()]

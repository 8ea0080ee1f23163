# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and atomics: global, flat, scratch, buffers (raw, structured, swizzled, typed), and to LDS.

A block's memory holds 64 records of 64 bytes; lane i's addresses begin at a record of its own, by a permutation, so
that lanes do not meet (atomics apart, which meet on purpose).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .atomics import MEMORY_ATOMICS, Atomic, apply_lanes
from .case import LANES, Case, Context, case
from .kinds import Array, Words

BYTES = 64 * LANES
RECORD = 64
# name: bytes in memory, sign, which half of the register is written (or stored)
LOADS: dict[str, tuple[int, bool, str]] = {
    "ubyte": (1, False, ""), "sbyte": (1, True, ""), "ushort": (2, False, ""), "sshort": (2, True, ""),
    "dword": (4, False, ""), "dwordx2": (8, False, ""), "dwordx3": (12, False, ""), "dwordx4": (16, False, ""),
    "ubyte_d16": (1, False, "low"), "ubyte_d16_hi": (1, False, "high"), "sbyte_d16": (1, True, "low"),
    "sbyte_d16_hi": (1, True, "high"), "short_d16": (2, False, "low"), "short_d16_hi": (2, False, "high"),
}  # fmt: skip
STORES: dict[str, tuple[int, str]] = {
    "byte": (1, ""), "short": (2, ""), "dword": (4, ""), "dwordx2": (8, ""), "dwordx3": (12, ""), "dwordx4": (16, ""),
    "byte_d16_hi": (1, "high"), "short_d16_hi": (2, "high"),
}  # fmt: skip


def rows_of(bytes_: int) -> int:
    return -(-bytes_ // 4)


def extend(data: bytes, signed: bool, half: str, old: Array) -> list[int]:
    """What a load makes of its bytes: words for the register rows."""
    if len(data) >= 4:
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    value = int.from_bytes(data, "little", signed=signed)
    if half == "low":
        return [int(old[0]) & 0xFFFF0000 | value & 0xFFFF]
    if half == "high":
        return [int(old[0]) & 0xFFFF | (value & 0xFFFF) << 16]
    return [value & 0xFFFFFFFF]


def places(context: Context, slot: Array, offset: int) -> list[int]:
    """Byte addresses within the block's memory, one a lane of all blocks."""
    return [int(s) * RECORD + offset for s in slot]


def load_from(
    context: Context, where: list[int | None], bytes_: int, signed: bool, half: str, limit: int = BYTES
) -> Words:
    """Register rows after a load; dwords beyond `limit` (and lanes without a place) read zero."""
    old = context.old[0]
    out = np.zeros((rows_of(bytes_), len(where)), np.uint32)
    for lane, place in enumerate(where):
        data = bytearray(bytes_)
        if place is not None:
            memory = context.memory[lane // LANES]
            step = min(bytes_, 4)
            for i in range(0, bytes_, step):
                if place + i + step <= limit:
                    data[i : i + step] = memory[place + i : place + i + step].tobytes()
        out[:, lane] = extend(bytes(data), signed, half, old[:, lane])
    return out


def store_to(
    context: Context, where: list[int | None], rows: Words, bytes_: int, half: str, limit: int = BYTES
) -> None:
    """Memory after a store by the active lanes."""
    for lane in np.flatnonzero(context.exec):
        place = where[lane]
        if place is None:
            continue
        words = rows[:, lane].copy()
        if half == "high":
            words[0] >>= np.uint32(16)
        data = words.tobytes()[:bytes_]
        step = min(bytes_, 4)
        for i in range(0, bytes_, step):
            if place + i + step <= limit:
                context.memory[lane // LANES, place + i : place + i + step] = np.frombuffer(
                    data[i : i + step], np.uint8
                )


# The slot of each lane: a permutation in registers. v_mul by an odd number modulo 64 keeps lanes apart.
PERMUTE = "v_lshrrev_b32 v90, 2, v0\nv_mul_u32_u24 v90, 37, v90\nv_and_b32 v90, 63, v90\n"
SCALED = PERMUTE + f"v_mul_u32_u24 v92, {RECORD}, v90\n"
ADDRESS = SCALED + "v_mov_b32 v93, 0\nv_lshl_add_u64 v[92:93], v[92:93], 0, s[16:17]\n"


def slots(context: Context) -> Array:
    return context.lane * 37 % 64


WAIT = "\ns_waitcnt vmcnt(0) lgkmcnt(0)"


def _b(bytes_: int) -> str:
    return f"b{32 * rows_of(bytes_)}"


def plain() -> list[Case]:
    """global_, flat_ and scratch_ loads and stores."""
    out = []
    for name, (size, signed, half) in LOADS.items():
        odd = 1 if size == 1 else 2 if size == 2 else 4
        for offset in (0, 12 + odd):

            def load(c: Context, size: int = size, signed: bool = signed, half: str = half, o: int = offset) -> Words:
                return load_from(c, list(places(c, slots(c), o)), size, signed, half)

            def own(c: Context, size: int = size, signed: bool = signed, half: str = half, o: int = offset) -> Words:
                return load_from(c, list(places(c, c.lane, o)), size, signed, half)

            tail, label = (f" offset:{offset}", f"offset {offset}") if offset else ("", "")
            options: dict[str, Any] = {"context": True, "memory": BYTES}
            out += [
                case(f"global_load_{name}", "", _b(size), load, ADDRESS + f"{{op}} {{d}}, v[92:93], off{tail}" + WAIT,
                     label=label, **options),
                case(f"global_load_{name}", "", _b(size), load, SCALED + f"{{op}} {{d}}, v92, s[16:17]{tail}" + WAIT,
                     label=f"saddr {label}", **options),
                case(f"flat_load_{name}", "", _b(size), load, ADDRESS + f"{{op}} {{d}}, v[92:93]{tail}" + WAIT,
                     label=label, **options),
                case(f"scratch_load_{name}", "", _b(size), own, f"{{op}} {{d}}, off, off{tail}" + WAIT, label=label,
                     space="scratch", **options),
                case(f"scratch_load_{name}", "", _b(size), own,
                     f"v_mov_b32 v92, {offset}\n{{op}} {{d}}, v92, off" + WAIT, label=f"vaddr {label}",
                     space="scratch", **options),
                case(f"scratch_load_{name}", "", _b(size), own,
                     f"s_mov_b32 s50, {offset}\n{{op}} {{d}}, off, s50" + WAIT, label=f"saddr {label}",
                     space="scratch", **options),
            ]  # fmt: skip
    for name, (size, half) in STORES.items():
        offset = 12

        def store(c: Context, a: Words, size: int = size, half: str = half) -> None:
            store_to(c, list(places(c, slots(c), 12)), a.reshape(-1, a.shape[-1]), size, half)

        def keep(c: Context, a: Words, size: int = size, half: str = half) -> None:
            store_to(c, list(places(c, c.lane, 12)), a.reshape(-1, a.shape[-1]), size, half)

        options = {"context": True, "memory": BYTES}
        tail = f" offset:{offset}"
        out += [
            case(f"global_store_{name}", _b(size), "", store, ADDRESS + f"{{op}} v[92:93], {{a}}, off{tail}",
                 **options),
            case(f"global_store_{name}", _b(size), "", store, SCALED + f"{{op}} v92, {{a}}, s[16:17]{tail}",
                 label="saddr", **options),
            case(f"flat_store_{name}", _b(size), "", store, ADDRESS + f"{{op}} v[92:93], {{a}}{tail}", **options),
            case(f"scratch_store_{name}", _b(size), "", keep, f"{{op}} off, {{a}}, off{tail}", space="scratch",
                 **options),
        ]  # fmt: skip
    return out


# Flat addresses of LDS and scratch: the aperture's upper half, and the offset.
def apertures() -> list[Case]:
    def load(c: Context) -> Words:
        return load_from(c, list(places(c, slots(c), 8)), 8, False, "")

    def own(c: Context) -> Words:
        return load_from(c, list(places(c, c.lane, 8)), 8, False, "")

    def store(c: Context, a: Words) -> None:
        store_to(c, list(places(c, slots(c), 8)), a, 8, "")

    shared = SCALED + "s_mov_b64 s[50:51], src_shared_base\nv_mov_b32 v93, s51\n"
    private = "v_mov_b32 v92, 0\ns_mov_b64 s[50:51], src_private_base\nv_mov_b32 v93, s51\n"
    return [
        case("flat_load_dwordx2", "", "b64", load, shared + "{op} {d}, v[92:93] offset:8" + WAIT, context=True,
             memory=BYTES, space="lds", label="of LDS"),
        case("flat_store_dwordx2", "b64", "", store, shared + "{op} v[92:93], {a} offset:8" + WAIT, context=True,
             memory=BYTES, space="lds", label="of LDS"),
        case("flat_load_dwordx2", "", "b64", own, private + "{op} {d}, v[92:93] offset:8" + WAIT, context=True,
             memory=BYTES, space="scratch", label="of scratch"),
    ]  # fmt: skip


RAW, STRUCTURED = 0, 1


def descriptor(stride: int, records: int, swizzle: bool = False, element: int = 0, index: int = 0, tid: bool = False,
               format_: int = 0x27000) -> str:  # fmt: skip
    """s[48:51]: a V# over the block's memory."""
    word1 = stride << 16 | (1 << 31 if swizzle else 0)
    word3 = format_ | element << 19 | index << 21 | (1 << 23 if tid else 0)
    return (
        f"s_mov_b32 s48, s16\ns_and_b32 s49, s17, 0xffff\ns_or_b32 s49, s49, {word1:#x}\n"
        f"s_movk_i32 s50, {records}\ns_mov_b32 s51, {word3:#x}\n"
    )


def buffers() -> list[Case]:
    """Raw, with an offset; structured, with an index; swizzled; bounds."""
    out = []
    limit = 2000  # of 4096 bytes: half of the lanes are out of bounds, some in part
    for name, (size, signed, half) in LOADS.items():

        def raw(c: Context, size: int = size, signed: bool = signed, half: str = half) -> Words:
            return load_from(c, list(places(c, slots(c), 28)), size, signed, half, limit)

        def structured(c: Context, size: int = size, signed: bool = signed, half: str = half) -> Words:
            # 40 records of 64 bytes; an index beyond them is out of bounds.
            where = [int(s) * RECORD + 8 if s < 40 else None for s in slots(c)]
            return load_from(c, where, size, signed, half)

        options: dict[str, Any] = {"context": True, "memory": BYTES}
        out += [
            case(f"buffer_load_{name}", "", _b(size), raw,
                 SCALED + descriptor(0, limit) + "s_mov_b32 s52, 20\n{op} {d}, v92, s[48:51], s52 offen offset:8"
                 + WAIT, label="raw", **options),
            case(f"buffer_load_{name}", "", _b(size), structured,
                 PERMUTE + descriptor(RECORD, 40) + "{op} {d}, v90, s[48:51], 0 idxen offset:8" + WAIT,
                 label="structured", **options),
        ]  # fmt: skip
    negative = "v_subrev_u32 v92, 4080, v92\n"

    def wrapped(c: Context) -> Words:
        return load_from(c, list(places(c, slots(c), 28)), 4, False, "", limit)

    out.append(
        case("buffer_load_dword", "", "b32", wrapped,
             SCALED + negative + descriptor(0, limit)
             + "s_mov_b32 s52, 20\n{op} {d}, v92, s[48:51], s52 offen offset:4088" + WAIT,
             label="negative offset", context=True, memory=BYTES)
    )  # fmt: skip
    for name, (size, half) in STORES.items():

        def store(c: Context, a: Words, size: int = size, half: str = half) -> None:
            store_to(c, list(places(c, slots(c), 28)), a.reshape(-1, a.shape[-1]), size, half, limit)

        def indexed(c: Context, a: Words, size: int = size, half: str = half) -> None:
            where = [int(s) * RECORD + 16 if s < 40 else None for s in slots(c)]
            store_to(c, where, a.reshape(-1, a.shape[-1]), size, half)

        options = {"context": True, "memory": BYTES}
        out += [
            case(f"buffer_store_{name}", _b(size), "", store,
                 SCALED + descriptor(0, limit) + "s_mov_b32 s52, 20\n{op} {a}, v92, s[48:51], s52 offen offset:8",
                 label="raw", **options),
            case(f"buffer_store_{name}", _b(size), "", indexed,
                 "v_mov_b32 v93, 12\n" + PERMUTE + "v_mov_b32 v92, v90\n" + descriptor(RECORD, 40)
                 + "{op} {a}, v[92:93], s[48:51], 0 idxen offen offset:4", label="index and offset", **options),
        ]  # fmt: skip
    out += _swizzled()
    return out


def _swizzled() -> list[Case]:
    """Records interleaved: `index_stride` lanes side by side, elements of `element` bytes."""
    out = []
    for element_code, index_code in ((1, 0), (2, 1), (1, 3)):
        element, index_stride, stride = 2 << element_code, 8 << index_code, 32

        def place(index: int, offset: int, e: int = element, n: int = index_stride, stride: int = stride) -> int:
            high, low = divmod(index, n)
            return (high * stride + offset // e * e) * n + low * e + offset % e

        def load(c: Context, at: Callable[..., int] = place) -> Words:
            return load_from(c, [at(int(s), 16) for s in slots(c)], 4, False, "")

        out.append(
            case("buffer_load_dword", "", "b32", load,
                 PERMUTE + descriptor(stride, 64, True, element_code, index_code)
                 + "{op} {d}, v90, s[48:51], 0 idxen offset:16" + WAIT, context=True, memory=BYTES,
                 label=f"swizzled {element} {index_stride}")
        )  # fmt: skip
    tid = lambda c: load_from(c, [int(x) * 16 + 4 for x in c.lane], 4, False, "")  # noqa: E731
    out.append(
        case("buffer_load_dword", "", "b32", tid,
             descriptor(16, 64, tid=True, format_=0) + "{op} {d}, off, s[48:51], 0 offset:4" + WAIT, context=True,
             memory=BYTES, label="add_tid")
    )  # fmt: skip
    return out


LDS_LOADS = {"ubyte": (1, False), "sbyte": (1, True), "ushort": (2, False), "sshort": (2, True), "dword": (4, False)}
LDS_LOADS_950 = {"dwordx3": (12, False), "dwordx4": (16, False)}


def to_lds() -> list[Case]:
    """Memory straight to LDS: lane i's dwords go to M0 + offset + i * size; read back into registers."""
    out = []
    for name, (size, signed) in (LDS_LOADS | LDS_LOADS_950).items():
        archs = ("gfx950",) if name in LDS_LOADS_950 else ("gfx942", "gfx950")
        rows = rows_of(size)

        def load(c: Context, size: int = size, signed: bool = signed) -> Words:
            return load_from(c, list(places(c, slots(c), 16)), size, signed, "")

        read = f"\ns_waitcnt vmcnt(0)\nv_mul_u32_u24 v94, {rows}, v0\n"
        read += f"ds_read_b{32 * rows} {{d}}, v94 offset:1040" + WAIT
        options: dict[str, Any] = {"context": True, "memory": BYTES, "archs": archs}
        out += [
            case(f"global_load_lds_{name}", "", _b(size), load,
                 "s_movk_i32 m0, 0x400\n" + ADDRESS + "{op} v[92:93], off offset:16" + read, **options),
            case(f"buffer_load_{name}", "", _b(size), load,
                 "s_movk_i32 m0, 0x400\n" + SCALED + descriptor(0, BYTES)
                 + "{op} v92, s[48:51], 0 offen offset:16 lds" + read, label="to LDS", **options),
        ]  # fmt: skip
        if name not in LDS_LOADS_950:

            def own(c: Context, size: int = size, signed: bool = signed) -> Words:
                return load_from(c, list(places(c, c.lane, 16)), size, signed, "")

            out.append(
                case(f"scratch_load_lds_{name}", "", _b(size), own,
                     "s_movk_i32 m0, 0x400\n{op} off, off offset:16" + read, space="scratch", **options)
            )  # fmt: skip
    return out


def atomics() -> list[Case]:
    """With and without the old value; several lanes on one cell, in the order of lanes."""
    out = []
    for name, atomic in MEMORY_ATOMICS.items():
        kind = f"b{8 * atomic.bytes * (2 if atomic.compare else 1)}"
        old = f"b{8 * atomic.bytes}"

        def update(c: Context, a: Words, atomic: Atomic = atomic) -> None:
            apply_lanes(c, cells(c, atomic), a, atomic)

        def returning(c: Context, a: Words, atomic: Atomic = atomic) -> Words:
            return apply_lanes(c, cells(c, atomic), a, atomic)

        options: dict[str, Any] = {"context": True, "memory": BYTES, "archs": atomic.archs}
        setup = _CELLS + "v_mov_b32 v93, 0\nv_lshl_add_u64 v[92:93], v[92:93], 0, s[16:17]\n"
        buffer = _CELLS + descriptor(0, BYTES)
        out += [
            case(f"global_atomic_{name}", kind, "", update, setup + "{op} v[92:93], {a}, off offset:16", **options),
            case(f"global_atomic_{name}", kind, old, returning, setup + "{op} {d}, v[92:93], {a}, off offset:16 sc0"
                 + WAIT, label="returning", **options),
            case(f"flat_atomic_{name}", kind, old, returning, setup + "{op} {d}, v[92:93], {a} offset:16 sc0" + WAIT,
                 label="returning", **options),
            case(f"buffer_atomic_{name}", kind, "", update, buffer + "{op} {a}, v92, s[48:51], 0 offen offset:16",
                 **(options | {"archs": atomic.buffer_archs})),
        ]  # fmt: skip
        if not atomic.compare:

            def in_place(c: Context, a: Words, atomic: Atomic = atomic) -> Words:
                # The result replaces the operand, in the same registers.
                return apply_lanes(c, cells(c, atomic), a, atomic)

            moves = "".join(f"v_mov_b32 v{96 + i}, {{a{i}}}\n" for i in range(0))
            span = "v96" if atomic.bytes == 4 else "v[96:97]"
            copy = "v_mov_b32 v96, {a}\n" if atomic.bytes == 4 else "v_mov_b64 v[96:97], {a}\n"
            back = copy.replace("v96, {a}", "{d}, v96").replace("v[96:97], {a}", "{d}, v[96:97]")
            out.append(
                case(f"buffer_atomic_{name}", kind, old, in_place,
                     moves + copy + buffer + f"{{op}} {span}, v92, s[48:51], 0 offen offset:16 sc0{WAIT}\n{back}",
                     label="returning", **(options | {"archs": atomic.buffer_archs}))
            )  # fmt: skip
    return out


# Lanes i and i + 32 meet in one cell.
_CELLS = f"v_lshrrev_b32 v92, 2, v0\nv_and_b32 v92, 31, v92\nv_mul_u32_u24 v92, {RECORD}, v92\n"


def cells(context: Context, atomic: Atomic) -> list[int]:
    return [int(lane) % 32 * RECORD + 16 for lane in context.lane]


def cases() -> list[Case]:
    return [*plain(), *apertures(), *buffers(), *to_lds(), *atomics()]

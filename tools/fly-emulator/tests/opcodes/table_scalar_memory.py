# SPDX-License-Identifier: Apache-2.0
"""Scalar memory: loads, stores and atomics, plain, of scratch, and through a buffer descriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .atomics import MEMORY_ATOMICS, Atomic
from .case import LANES, Case, Context, case
from .kinds import Array, Words


def memory_words(context: Context, offset: Array, dwords: int, size: int) -> Array:
    """Dwords of each block's memory at a byte offset; those past `size` read zero."""
    out = np.zeros((dwords, context.blocks * LANES), np.uint32)
    for block in range(context.blocks):
        start = int(offset[block * LANES]) & ~3
        data = context.memory[block].tobytes()[:size]
        for i in range(dwords):
            part = data[start + 4 * i : start + 4 * i + 4]
            if len(part) == 4:
                out[i, block * LANES : block * LANES + LANES] = int.from_bytes(part, "little")
    return out


LOADS = {"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}
_DESCRIPTOR = "s_mov_b32 s20, s16\ns_and_b32 s21, s17, 0xffff\n"


def loads() -> list[Case]:
    out = []
    for suffix, dwords in LOADS.items():
        kind = f"s:b{32 * dwords}"
        out.append(
            case(f"s_load_{suffix}", "s:u32<60", kind,
                 lambda c, a, n=dwords: memory_words(c, 4 * a + 8, n, 512),
                 "s_lshl_b32 {a}, {a}, 2\n{op} {d}, s[16:17], {a} offset:8\ns_waitcnt lgkmcnt(0)", context=True,
                 memory=512, label="register and constant offset")
        )  # fmt: skip
        out.append(
            case(f"s_load_{suffix}", "s:u32", kind, lambda c, a, n=dwords: memory_words(c, 0 * a + 64, n, 512),
                 "{op} {d}, s[16:17], 0x40\ns_waitcnt lgkmcnt(0)", context=True, memory=512)
        )  # fmt: skip
        # 100 dwords of records; offsets reach beyond.
        out.append(
            case(f"s_buffer_load_{suffix}", "s:b128 s:u32<120", kind,
                 lambda c, a, b, n=dwords: memory_words(c, 4 * b, n, 400),
                 _DESCRIPTOR + "s_movk_i32 s22, 400\ns_mov_b32 s23, 0x27000\ns_lshl_b32 {b}, {b}, 2\n"
                 "{op} {d}, s[20:23], {b}\ns_waitcnt lgkmcnt(0)", context=True, memory=512)
        )  # fmt: skip
    return out


STORES = {"dword": 1, "dwordx2": 2, "dwordx4": 4}
WAIT = "\ns_waitcnt lgkmcnt(0)\n"
SIZE = 512
# 100 dwords of records: some offsets below lie beyond.
LIMITED = "s_mov_b32 s48, s16\ns_and_b32 s49, s17, 0xffff\ns_movk_i32 s50, 400\ns_mov_b32 s51, 0x27000\n"
_DWORD = "s_lshl_b32 {b}, {b}, 2\n"


def store_words(context: Context, offset: Array, rows: Words, size: int) -> None:
    """Update each block's memory, dword by dword; those past `size` are dropped."""
    for block in range(context.blocks):
        start = int(offset[block * LANES]) & ~3
        for i, word in enumerate(rows[:, block * LANES]):
            if start + 4 * i + 4 <= size:
                context.memory[block, start + 4 * i : start + 4 * i + 4] = np.frombuffer(word.tobytes(), np.uint8)


def stores() -> list[Case]:
    """Read back by the host; low bits of the offset are without effect."""
    out = []
    options: dict[str, Any] = {"context": True, "memory": SIZE}
    for suffix, dwords in STORES.items():
        kind = f"s:b{32 * dwords}"

        def at(place: Callable[[Array], Array], size: int = SIZE) -> Callable[..., None]:
            return lambda c, a, b: store_words(c, place(b), a, size)

        out += [
            case(f"s_store_{suffix}", f"{kind} s:u32<120", "", at(lambda b: 4 * b + 8),
                 _DWORD + "{op} {a}, s[16:17], {b} offset:8" + WAIT, label="register and constant offset", **options),
            case(f"s_store_{suffix}", f"{kind} s:u32", "", at(lambda b: 0 * b + 64),
                 "{op} {a}, s[16:17], 0x43 glc" + WAIT, **options),
            case(f"s_buffer_store_{suffix}", f"{kind} s:u32<120", "", at(lambda b: 4 * b, 400),
                 LIMITED + _DWORD + "{op} {a}, s[48:51], {b}" + WAIT, **options),
            case(f"s_scratch_store_{suffix}", f"{kind} s:u32<7", "", at(lambda b: 64 * b + 16),
                 "{op} {a}, s[16:17], {b} offset:16" + WAIT, **options),
            case(f"s_scratch_load_{suffix}", "s:u32<7", kind,
                 lambda c, a, n=dwords: memory_words(c, 64 * a + 16, n, SIZE),
                 "{op} {d}, s[16:17], {a} offset:16" + WAIT, **options),
        ]  # fmt: skip
    return out


def atomics() -> list[Case]:
    """With the old value and without, plain and through a descriptor."""
    out = []
    names = [name for name in MEMORY_ATOMICS if "_f" not in name and "_bf" not in name]
    for name in names:
        atomic = MEMORY_ATOMICS[name]
        # The old value comes back in the operand's own register.
        data = f"s:b{8 * atomic.bytes * (2 if atomic.compare else 1)}"
        count = atomic.bytes // 4
        first = f"s{20}" if count == 1 else "s[20:21]"
        copy = f"s_mov_b{8 * atomic.bytes} {{d}}, {first}"

        def update(place: Callable[[Array], Array], atomic: Atomic = atomic, size: int = SIZE) -> Callable[..., Words]:
            return lambda c, a, b: apply(c, place(b), a, atomic, size)

        def silent(place: Callable[[Array], Array], atomic: Atomic = atomic) -> Callable[..., None]:
            def run(c: Context, a: Words, b: Array) -> None:
                apply(c, place(b), a, atomic, SIZE)

            return run

        options: dict[str, Any] = {"context": True, "memory": SIZE}
        old = f"s:b{8 * atomic.bytes}"
        shift = f"s_lshl_b32 {{b}}, {{b}}, {count + 1}\n"
        scaled = lambda b, n=4 * count: n * b  # noqa: E731
        out += [
            case(f"s_atomic_{name}", f"{data} s:u32<50", old, update(scaled),
                 shift + "{op} {a}, s[16:17], {b} glc" + WAIT + copy, label="returning", **options),
            case(f"s_atomic_{name}", f"{data} s:u32", "", silent(lambda b: 0 * b + 32),
                 "{op} {a}, s[16:17], 0x20" + WAIT, **options),
            case(f"s_buffer_atomic_{name}", f"{data} s:u32<60", old, update(scaled, size=400),
                 LIMITED + shift + "{op} {a}, s[48:51], {b} glc" + WAIT + copy, **options),
        ]  # fmt: skip
    return out


def apply(context: Context, offset: Array, rows: Words, atomic: Atomic, size: int) -> Words:
    """One update a block; the old values as register rows, zero where the cell is out of bounds."""
    count = atomic.bytes // 4
    out = np.zeros((count, context.blocks * LANES), np.uint32)
    for block in range(context.blocks):
        place, lane = int(offset[block * LANES]), block * LANES
        if place + atomic.bytes > size:
            continue
        cell = context.memory[block, place : place + atomic.bytes]
        old = cell.tobytes()
        data, other = (int.from_bytes(rows[i : i + count, lane].tobytes(), "little") for i in (0, count))
        value = atomic.operation(int.from_bytes(old, "little"), data, other) & ((1 << 8 * atomic.bytes) - 1)
        cell[:] = np.frombuffer(value.to_bytes(atomic.bytes, "little"), np.uint8)
        out[:, lane : lane + LANES] = np.frombuffer(old, np.uint32)[:, None]
    return out


def hints() -> list[Case]:
    """Prefetches, and a discarded line of the cache: memory and registers stay."""
    operands = {
        "s_atc_probe": "1, s[16:17], 0x10", "s_atc_probe_buffer": "1, s[48:51], 0x10",
        "s_dcache_discard": "s[16:17], 0x10", "s_dcache_discard_x2": "s[16:17], 0x10",
    }  # fmt: skip
    return [
        case(name, "s:u32", "s:u32", lambda c, a: a, LIMITED + f"{{op}} {text}" + WAIT + "s_mov_b32 {d}, {a}",
             context=True, memory=SIZE)
        for name, text in operands.items()
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*loads(), *stores(), *atomics(), *hints()]

# SPDX-License-Identifier: Apache-2.0
"""LDS: reads, writes, pairs, transposing reads, atomics, append and consume."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .atomics import Atomic, add, apply_lanes, compare_floats, floats, integer, number_maximum, number_minimum
from .case import LANES, Case, Context, case
from .kinds import Words
from .table_memory import _CELLS, BYTES, RECORD, SCALED, WAIT, cells, load_from, places, rows_of, slots, store_to

READS: dict[str, tuple[int, bool, str]] = {
    "u8": (1, False, ""), "i8": (1, True, ""), "u16": (2, False, ""), "i16": (2, True, ""),
    "u8_d16": (1, False, "low"), "u8_d16_hi": (1, False, "high"), "i8_d16": (1, True, "low"),
    "i8_d16_hi": (1, True, "high"), "u16_d16": (2, False, "low"), "u16_d16_hi": (2, False, "high"),
    "b32": (4, False, ""), "b64": (8, False, ""), "b96": (12, False, ""), "b128": (16, False, ""),
}  # fmt: skip
WRITES: dict[str, tuple[int, str]] = {
    "b8": (1, ""), "b16": (2, ""), "b8_d16_hi": (1, "high"), "b16_d16_hi": (2, "high"), "b32": (4, ""), "b64": (8, ""),
    "b96": (12, ""), "b128": (16, ""),
}  # fmt: skip
OPTIONS: dict[str, Any] = {"context": True, "memory": BYTES, "space": "lds"}


def _b(size: int) -> str:
    return f"b{32 * rows_of(size)}"


def single() -> list[Case]:
    out = []
    for name, (size, signed, half) in READS.items():

        def read(c: Context, size: int = size, signed: bool = signed, half: str = half) -> Words:
            return load_from(c, list(places(c, slots(c), 32)), size, signed, half)

        out.append(case(f"ds_read_{name}", "", _b(size), read, SCALED + "{op} {d}, v92 offset:32" + WAIT, **OPTIONS))
    negative = SCALED + "v_subrev_u32 v92, 64, v92\n"  # the sum with the offset wraps
    out.append(
        case("ds_read_b64", "", "b64", lambda c: load_from(c, list(places(c, slots(c), 32)), 8, False, ""),
             negative + "{op} {d}, v92 offset:96" + WAIT, label="of a negative address", **OPTIONS)
    )  # fmt: skip
    for name, (size, half) in WRITES.items():

        def write(c: Context, a: Words, size: int = size, half: str = half) -> None:
            store_to(c, list(places(c, slots(c), 32)), a.reshape(-1, a.shape[-1]), size, half)

        out.append(case(f"ds_write_{name}", _b(size), "", write, SCALED + "{op} v92, {a} offset:32" + WAIT, **OPTIONS))
    by_lane = lambda c: load_from(c, [4 * int(x) + 256 for x in c.lane], 4, False, "")  # noqa: E731

    def write_by_lane(c: Context, a: Words) -> None:
        store_to(c, [4 * int(x) + 256 for x in c.lane], a.reshape(1, -1), 4, "")

    out += [
        case("ds_read_addtid_b32", "", "b32", by_lane, "s_movk_i32 m0, 0xc0\n{op} {d} offset:64" + WAIT, **OPTIONS),
        case("ds_write_addtid_b32", "b32", "", write_by_lane, "s_movk_i32 m0, 0xc0\n{op} {a} offset:64" + WAIT,
             **OPTIONS),
        case("ds_nop", "", "", lambda c: None, "{op}", **OPTIONS),
    ]  # fmt: skip
    return out


def pairs() -> list[Case]:
    """Two elements at two offsets, in units of an element or of 64 elements."""
    out = []
    for size in (4, 8):
        for suffix, unit in (("", size), ("st64", 64 * size)):
            first, second = ((3, 1), (2, 5))[size == 8] if not suffix else (1, 0)
            lane = "v_lshrrev_b32 v92, 2, v0\n" + f"v_lshlrev_b32 v92, {3 if suffix else 6}, v92\n"

            def at(c: Context, n: int, unit: int = unit, step: int = 8 if suffix else 64) -> list[int]:
                return [int(x) * step + n * unit for x in c.lane]

            def read(c: Context, at: Any = at, f: int = first, s: int = second, size: int = size) -> Words:
                parts = [load_from(c, at(c, n), size, False, "") for n in (f, s)]
                return np.concatenate(parts)

            def same(c: Context, at: Any = at, f: int = first, size: int = size) -> Words:
                return np.concatenate([load_from(c, at(c, f), size, False, "")] * 2)

            def write(c: Context, a: Words, b: Words, at: Any = at, f: int = first, s: int = second,
                      size: int = size) -> None:  # fmt: skip
                store_to(c, at(c, f), a.reshape(-1, a.shape[-1]), size, "")
                store_to(c, at(c, s), b.reshape(-1, b.shape[-1]), size, "")

            def exchange(c: Context, a: Words, b: Words, at: Any = at, f: int = first, s: int = second,
                         size: int = size) -> Words:  # fmt: skip
                swap = Atomic(size, lambda o, d, _: d)
                return np.concatenate([apply_lanes(c, at(c, f), a, swap), apply_lanes(c, at(c, s), b, swap)])

            offsets = f" offset0:{first} offset1:{second}" + WAIT
            both = f"b{16 * size}"
            name = f"{suffix}_b{8 * size}"
            out += [
                case(f"ds_read2{name}", "", both, read, lane + "{op} {d}, v92" + offsets, **OPTIONS),
                case(f"ds_read2{name}", "", both, same,
                     lane + f"{{op}} {{d}}, v92 offset0:{first} offset1:{first}" + WAIT, label="equal offsets",
                     **OPTIONS),
                case(f"ds_write2{name}", f"b{8 * size} b{8 * size}", "", write, lane + "{op} v92, {a}, {b}" + offsets,
                     **OPTIONS),
                case(f"ds_wrxchg2{suffix}_rtn_b{8 * size}", f"b{8 * size} b{8 * size}", both, exchange,
                     lane + "{op} {d}, v92, {a}, {b}" + offsets, **OPTIONS),
            ]  # fmt: skip
            # 128 bits are two 64-bit elements.
    return out


def _atomic_table() -> dict[str, Atomic]:
    """By the name between "ds_" and the type, and the type."""
    table: dict[str, Atomic] = {}
    signs = {"smin": ("min", "i"), "smax": ("max", "i"), "umin": ("min", "u"), "umax": ("max", "u")}
    for bits in (32, 64):
        for name, operation in integer(bits).items():
            stem, sign = signs.get(name, (name, "b" if name in ("and", "or", "xor") else "u"))
            if name != "swap":
                table[f"{stem} {sign}{bits}"] = Atomic(bits // 8, operation)
        table[f"mskor b{bits}"] = Atomic(bits // 8, lambda o, mask, value: o & ~mask | value, True)
        table[f"cmpst b{bits}"] = Atomic(bits // 8, lambda o, old, new: new if o == old else o, True)
        dtype = np.float32 if bits == 32 else np.float64
        table[f"cmpst f{bits}"] = Atomic(bits // 8, compare_floats(dtype), True)
        table[f"add f{bits}"] = Atomic(bits // 8, floats(add, dtype))
        table[f"min f{bits}"] = Atomic(bits // 8, floats(number_minimum, dtype))
        table[f"max f{bits}"] = Atomic(bits // 8, floats(number_maximum, dtype))
    table["pk_add f16"] = Atomic(4, floats(add, np.float16, 2))
    table["pk_add bf16"] = Atomic(4, floats(add, ml_dtypes.bfloat16, 2))
    return table


def _both(a: Words, b: tuple[Words, ...]) -> Words:
    return np.concatenate([v.reshape(-1, v.shape[-1]) for v in (a, *b)])


def atomics() -> list[Case]:
    out = []
    for key, atomic in _atomic_table().items():
        stem, kind = key.split()
        cell = f"b{8 * atomic.bytes}"
        operands, names = (f"{cell} {cell}", "{a}, {b}") if atomic.compare else (cell, "{a}")

        def update(c: Context, a: Words, *b: Words, atomic: Atomic = atomic) -> None:
            apply_lanes(c, cells(c, atomic), _both(a, b), atomic)

        def returning(c: Context, a: Words, *b: Words, atomic: Atomic = atomic) -> Words:
            return apply_lanes(c, cells(c, atomic), _both(a, b), atomic)

        out += [
            case(f"ds_{stem}_{kind}", operands, "", update, _CELLS + f"{{op}} v92, {names} offset:16" + WAIT,
                 **OPTIONS),
            case(f"ds_{stem}_rtn_{kind}", operands, cell, returning,
                 _CELLS + f"{{op}} {{d}}, v92, {names} offset:16" + WAIT, **OPTIONS),
        ]  # fmt: skip
    swap = {bits: Atomic(bits // 8, lambda o, d, _: d) for bits in (32, 64)}
    wrap = Atomic(4, lambda o, d, e: o - d if o >= d else o + e, True)
    for bits, atomic in swap.items():
        out.append(
            case(f"ds_wrxchg_rtn_b{bits}", f"b{bits}", f"b{bits}",
                 lambda c, a, atomic=atomic: apply_lanes(c, cells(c, atomic), a, atomic),
                 _CELLS + "{op} {d}, v92, {a} offset:16" + WAIT, **OPTIONS)
        )  # fmt: skip
    out.append(
        case("ds_wrap_rtn_b32", "b32 b32", "b32",
             lambda c, a, b: apply_lanes(c, cells(c, wrap), _both(a, (b,)), wrap),
             _CELLS + "{op} {d}, v92, {a}, {b} offset:16" + WAIT, **OPTIONS)
    )  # fmt: skip
    masked = Atomic(8, _conditional_exchange)
    out.append(
        case("ds_condxchg32_rtn_b64", "b64", "b64", lambda c, a: apply_lanes(c, cells(c, masked), a, masked),
             _CELLS + "{op} {d}, v92, {a} offset:16" + WAIT, **OPTIONS)
    )  # fmt: skip
    return out


def _conditional_exchange(old: int, data: int, _: int) -> int:
    """Each dword whose operand has its top bit set is exchanged for the operand's lower 31 bits."""
    out = 0
    for shift in (0, 32):
        cell, value = old >> shift & 0xFFFFFFFF, data >> shift & 0xFFFFFFFF
        out |= (value & 0x7FFFFFFF if value >> 31 else cell) << shift
    return out


def counting() -> list[Case]:
    """Append and consume: the number of active lanes, at M0[31:16] + offset; all lanes get the old value."""
    out = []
    for name, sign in (("append", 1), ("consume", -1)):

        def count(c: Context, sign: int = sign) -> Words:
            values = []
            for block in range(c.blocks):
                lanes = int(c.exec[block * LANES : block * LANES + LANES].sum())
                old = int.from_bytes(c.memory[block, 136:140].tobytes(), "little")
                new = (old + sign * lanes & 0xFFFFFFFF).to_bytes(4, "little")
                c.memory[block, 136:140] = np.frombuffer(new, np.uint8)
                values.append(old)
            return np.repeat(np.array(values, np.uint32), LANES)[None]

        out.append(case(f"ds_{name}", "", "b32", count, "s_mov_b32 m0, 0x800000\n{op} {d} offset:8" + WAIT, **OPTIONS))
    return out


def transposed(bits: int) -> Any:
    """Within 16 lanes: rows of memory, one after the other, are a matrix of 16 columns; lane i gets column i."""
    size = 12 if bits == 6 else 8
    each = size * 8 // bits

    def run(c: Context) -> Words:
        rows = load_from(c, [int(x) * RECORD for x in slots(c)], size, False, "")
        values = np.array([int.from_bytes(rows[:, n].tobytes(), "little") for n in range(rows.shape[1])], object)
        out = []
        for n in range(rows.shape[1]):
            group, column = n // 16 * 16, n % 16
            flat = [values[group + (j * 16 + column) // each] >> bits * ((j * 16 + column) % each) for j in range(each)]
            word = sum((int(v) & (1 << bits) - 1) << bits * j for j, v in enumerate(flat))
            out.append(np.frombuffer(word.to_bytes(size, "little"), np.uint32))
        return np.stack(out, axis=1)

    return run


def transposing() -> list[Case]:
    return [
        case(f"ds_read_b{64 if bits != 6 else 96}_tr_b{bits}", "", "b64" if bits != 6 else "b96", transposed(bits),
             SCALED + "{op} {d}, v92" + WAIT, archs=("gfx950",), every_lane=True, **OPTIONS)
        for bits in (16, 8, 6, 4)
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*single(), *pairs(), *atomics(), *counting(), *transposing()]

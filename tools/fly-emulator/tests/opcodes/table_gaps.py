# SPDX-License-Identifier: Apache-2.0
"""Corners that emulators are known to get wrong, where no other table has them (docs/emulator/fidelity.md)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import LANES, Case, Context, case
from .kinds import KINDS, Array, Kind, Words
from .table_matrix_published import Published, define, small_integers
from .table_memory import BYTES, SCALED, WAIT, descriptor, load_from, places, slots, store_to
from .table_scalar import lanes
from .table_scalar_memory import memory_words

OPTIONS: dict[str, Any] = {"context": True, "memory": BYTES}


def scalars() -> list[Case]:
    equal = "s_mov_b32 {d}, {a}\n{op} {d}, {a}, {a}\ns_cselect_b32 {e}, 1, 0"
    return [
        *(case(f"s_max_{kind}", "s:u32", "s:u32 s:u32", lanes(lambda a: (a, 1)), equal, label="equal")
          for kind in ("i32", "u32")),
        *(case(f"s_min_{kind}", "s:u32", "s:u32 s:u32", lanes(lambda a: (a, 0)), equal, label="equal")
          for kind in ("i32", "u32")),
        case("s_load_dwordx2", "", "s:b64", lambda c: memory_words(c, np.full(c.blocks * LANES, 64), 2, 512),
             "{op} vcc, s[16:17], 0x40\ns_waitcnt lgkmcnt(0)\ns_mov_b64 {d}, vcc", context=True, memory=512,
             label="into VCC"),
        case("s_load_dword", "s:u32", "s:b64",
             lambda c, a: np.stack([a, memory_words(c, np.full(c.blocks * LANES, 8), 1, 512)[0]]),
             "s_mov_b32 vcc_lo, {a}\n{op} vcc_hi, s[16:17], 0x8\ns_waitcnt lgkmcnt(0)\ns_mov_b64 {d}, vcc",
             context=True, memory=512, label="into VCC_HI"),
    ]  # fmt: skip


def buffers() -> list[Case]:
    """Scalar offsets of every kind, and a descriptor of zeros."""

    def load(offset: int) -> Any:
        return lambda c: load_from(c, list(places(c, slots(c), offset)), 4, False, "", BYTES)

    def nothing(c: Context) -> Words:
        return np.zeros((1, len(c.lane)), np.uint32)

    zero = "s_mov_b64 s[48:49], 0\ns_mov_b64 s[50:51], 0\n"
    buffer = SCALED + descriptor(0, BYTES)
    return [
        case("buffer_load_dword", "", "b32", load(16), buffer + "{op} {d}, v92, s[48:51], 16 offen" + WAIT,
             label="inline constant as scalar offset", **OPTIONS),
        case("buffer_load_dword", "", "b32", load(20),
             buffer + "s_mov_b32 m0, 16\n{op} {d}, v92, s[48:51], m0 offen offset:4" + WAIT,
             label="M0 as scalar offset", **OPTIONS),
        case("buffer_load_dword", "", "b32", nothing, SCALED + zero + "{op} {d}, v92, s[48:51], 0 offen" + WAIT,
             label="descriptor of zeros", **OPTIONS),
        case("buffer_store_dword", "b32", "", lambda c, a: None, SCALED + zero + "{op} {a}, v92, s[48:51], 0 offen",
             label="descriptor of zeros", **OPTIONS),
    ]  # fmt: skip


def lds() -> list[Case]:
    """M0 limits nothing on gfx9, and M0[31:18] is no part of the address that loads to LDS write to."""

    def read(c: Context) -> Words:
        return load_from(c, list(places(c, slots(c), 16)), 4, False, "")

    def write(c: Context, a: Words) -> None:
        store_to(c, list(places(c, slots(c), 16)), a, 4, "")

    options = OPTIONS | {"space": "lds"}
    return [
        case("ds_read_b32", "", "b32", read, SCALED + "s_mov_b32 m0, 0\n{op} {d}, v92 offset:16" + WAIT,
             label="M0 of zero", **options),
        case("ds_write_b32", "b32", "", write, SCALED + "s_mov_b32 m0, 0\n{op} v92, {a} offset:16" + WAIT,
             label="M0 of zero", **options),
        case("buffer_load_dword", "", "b32", read,
             "s_mov_b32 m0, 0xfffc0400\n" + SCALED + descriptor(0, BYTES)
             + "{op} v92, s[48:51], 0 offen offset:16 lds\ns_waitcnt vmcnt(0)\nds_read_b32 {d}, v0 offset:1040" + WAIT,
             label="to LDS, M0[31:18] set", **OPTIONS),
    ]  # fmt: skip


def conversions() -> list[Case]:
    """Source modifiers on conversions encoded in 64 bits, and the result's half that a conversion leaves."""

    def whole(a: Array) -> Array:
        value = np.nan_to_num(np.trunc(a.astype(np.float64)), nan=0.0)
        limited: Array = np.clip(value, -(2**31), 2**31 - 1).astype(np.int64).astype(np.int32)
        return limited

    return [
        case("v_cvt_f32_f16", "f16", "f32", lambda a: -np.abs(a.astype(np.float32)), "{op} {d}, -|{a}|", label="-|a|"),
        case("v_cvt_f64_f32", "f32", "f64", lambda a: np.abs(a).astype(np.float64), "{op} {d}, |{a}|", label="|a|"),
        case("v_cvt_f32_f64", "f64", "f32", lambda a: (-a).astype(np.float32), "{op} {d}, -{a}", label="-a"),
        case("v_cvt_f16_f32", "f32", "f16", lambda a: (-a).astype(np.float16), "{op} {d}, -{a}", label="-a"),
        case("v_cvt_i32_f32", "f32", "i32", lambda a: whole(-np.abs(a)), "{op} {d}, -|{a}|", label="-|a|"),
        case("v_cvt_i32_f64", "f64", "i32", lambda a: whole(-a), "{op} {d}, -{a}", label="-a"),
    ]  # fmt: skip


TINY = {"FP16": (np.float16, 2.0**-24), "BF16": (ml_dtypes.bfloat16, 2.0**-133), "FP32": (np.float32, 2.0**-149),
        "FP64": (np.float64, 2.0**-1074)}  # fmt: skip


def matrix_denormals() -> list[Case]:
    """Denormal numbers are numbers in matrix instructions: A holds multiples of the smallest, B and D integers."""
    out = []
    for name in ("v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x4_f32",
                 "v_mfma_f64_16x16x4_f64"):  # fmt: skip
        one = Published(name)
        dtype, unit = TINY[one.a]
        word: Any = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
        per = 4 // np.dtype(dtype).itemsize or 1

        def values(rng: np.random.Generator, n: int, share: float, one: Published = one, dtype: Any = dtype,
                   word: Any = word, unit: float = unit, per: int = per) -> Words:  # fmt: skip
            count = one.rows["A"] * 4 // np.dtype(dtype).itemsize
            codes = (rng.integers(-4, 5, (count, n)) * unit).astype(dtype).view(word)
            if per == 2:
                low, high = codes[0::2].astype(np.uint32), codes[1::2].astype(np.uint32)
                return np.asarray(low | high << np.uint32(16))
            if word is np.uint64:
                return np.concatenate([codes & 0xFFFFFFFF, codes >> np.uint64(32)]).astype(np.uint32)
            return np.asarray(codes)

        kind = f"tiny_{one.a}"
        KINDS.setdefault(kind, Kind(kind, one.rows["A"], lambda w: w, lambda v: v, values))
        integers, result = small_integers(one.rows["B"], one.b), small_integers(one.rows["D"], one.out)
        plain = define(one)

        def from_zero(c: Context, a: Words, b: Words, plain: Any = plain) -> Words:
            c.old[0][:] = 0
            return np.asarray(plain(c, a, b))

        out.append(
            case(name, f"{kind} {integers}", result, from_zero, "{op} {d}, {a}, {b}, 0", context=True, whole=True,
                 label="denormals")
        )  # fmt: skip
    return out


def cases() -> list[Case]:
    return [*scalars(), *buffers(), *lds(), *conversions(), *matrix_denormals()]

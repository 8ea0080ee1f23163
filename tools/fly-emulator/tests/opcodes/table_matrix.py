# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions of gfx950, whose layouts AMD's published table does not have.

Operands are small integers, so that every sum is exact and the test is about where elements live. (Those that
gfx942 has, too, are in table_matrix_published.py.)
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import LANES, Case, Context, case
from .kinds import KINDS, Array, Kind, Words

GFX950 = ("gfx950",)
SMALL = {
    0: (8, ml_dtypes.float8_e4m3fn), 1: (8, ml_dtypes.float8_e5m2), 2: (6, ml_dtypes.float6_e2m3fn),
    3: (6, ml_dtypes.float6_e3m2fn), 4: (4, ml_dtypes.float4_e2m1fn),
}  # fmt: skip


def fields(rows: Words, bits: int, count: int) -> Array:
    """Elements packed in the register rows of each lane: (count, n)."""
    lanes = [int.from_bytes(rows[:, n].tobytes(), "little") for n in range(rows.shape[1])]
    return np.array([[v >> bits * e & (1 << bits) - 1 for v in lanes] for e in range(count)], np.uint32)


def dense(values: Array, m: int, k: int, run: int | None = None) -> Array:
    """(blocks, k, m) from (elements, lanes): lane l has row l % m; lane groups take turns with runs of k."""
    per = m * k // LANES
    run = run or per
    out = np.zeros((values.shape[1] // LANES, k, m), values.dtype)
    for lane in range(LANES):
        for e in range(per):
            at = (e // run * (LANES // m) + lane // m) * run + e % run
            out[:, at, lane % m] = values[e, lane::LANES]
    return out


def accumulator(rows: Words, m: int, dtype: Any) -> Array:
    """(blocks, m, m) from register rows: four rows of the matrix a lane group, then the next groups."""
    values = rows.view(dtype)
    out = np.zeros((rows.shape[1] // LANES, m, m), np.float64)
    for register in range(len(rows)):
        for lane in range(LANES):
            row = register // 4 * 4 * (LANES // m) + 4 * (lane // m) + register % 4
            out[:, row, lane % m] = values[register, lane::LANES]
    return out


def registers(matrix: Array, count: int, m: int, dtype: Any) -> Words:
    """The inverse of `accumulator`."""
    out = np.zeros((count, len(matrix) * LANES), dtype)
    for register in range(count):
        for lane in range(LANES):
            row = register // 4 * 4 * (LANES // m) + 4 * (lane // m) + register % 4
            out[register, lane::LANES] = matrix[:, row, lane % m]
    return out.view(np.uint32)


def _product(a: Array, b: Array, c: Array) -> Array:
    value: Array = np.einsum("bki,bkj->bij", a, b) + c
    return value


def _prepared(setup: str, operation: str) -> str:
    """Operands are made small in all lanes; matrix instructions then run under any EXEC."""
    return "s_mov_b64 exec, -1\n" + setup + "s_mov_b64 exec, s[8:9]\n" + operation


def dense_16(name: str, m: int, k: int, dtype: Any, keep: int, add: int) -> Case:
    """f16 and bf16 of few bits and two exponents."""

    def define(context: Context, a: Words, b: Words) -> Words:
        cut = [v & np.uint32(keep) | np.uint32(add) for v in (a, b)]
        x, y = (fields(v, 16, 8).astype(np.uint16).view(dtype).astype(np.float64) for v in cut)
        return registers(np.einsum("bki,bkj->bij", dense(x, m, k), dense(y, m, k)), m * m // LANES, m, np.float32)

    setup = "".join(f"v_and_b32 v{r}, {keep:#x}, v{r}\nv_or_b32 v{r}, {add:#x}, v{r}\n" for r in range(10, 18))
    return case(name, "b128 b128", f"b{32 * m * m // LANES}", define, _prepared(setup, "{op} {d}, {a}, {b}, 0"),
                context=True, archs=GFX950, whole=True)  # fmt: skip


def dense_i8(name: str, m: int, k: int) -> Case:
    def define(context: Context, a: Words, b: Words) -> Words:
        x, y = (fields(v, 8, 16).astype(np.uint8).view(np.int8).astype(np.float64) for v in (a, b))
        old = accumulator(context.old[0], m, np.int32)
        total = _product(dense(x, m, k), dense(y, m, k), old)
        wrapped = (total.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
        return registers(wrapped, m * m // LANES, m, np.int32)

    return case(name, "b128 b128", f"b{32 * m * m // LANES}", define, "{op} {d}, {a}, {b}, {d}", context=True,
                archs=GFX950, whole=True)  # fmt: skip


def small_formats(m: int, k: int, scaled: bool) -> list[Case]:
    """f8f6f4 in all formats of A and B; the scaled forms with a scale for each row and 32 consecutive k."""
    out = []
    pairs = [(f, f) for f in SMALL] + [(0, 4), (4, 1), (2, 0), (3, 4), (1, 2)]
    for fa, fb in pairs:
        (bits_a, type_a), (bits_b, type_b) = SMALL[fa], SMALL[fb]
        masks = [_MASKS[code] for code in (fa, fb)]

        def operand(words: Words, code: int, mask: list[int]) -> Array:
            bits, dtype = SMALL[code]
            cut = words & np.array([mask[i % len(mask)] for i in range(len(words))], np.uint32)[:, None]
            value: Array = fields(cut, bits, 32).astype(np.uint8).view(dtype).astype(np.float64)
            return value

        def define(context: Context, a: Words, b: Words, *scales: Array, fa: int = fa, fb: int = fb,
                   masks: Any = tuple(masks)) -> Words:  # fmt: skip
            x, y = dense_small(operand(a, fa, masks[0]), fa, m, k), dense_small(operand(b, fb, masks[1]), fb, m, k)
            if scales:
                x, y = (scale(v, s, byte, m, k) for v, s, byte in ((x, scales[0], 1), (y, scales[1], 2)))
            total = np.einsum("bki,bkj->bij", x, y)
            return registers(total, m * m // LANES, m, np.float32)

        rows = [bits * 32 // 32 for bits in (bits_a, bits_b)]
        kinds = " ".join(f"b{32 * r}" for r in rows)
        name = f"v_mfma_{'scale_' if scaled else ''}f32_{m}x{m}x{k}_f8f6f4"
        setup = ""
        first = 10
        for count, mask in zip(rows, masks, strict=True):
            first += first % 2
            setup += "".join(f"v_and_b32 v{first + i}, {mask[i % len(mask)]:#x}, v{first + i}\n" for i in range(count))
            first += count
        tail = f" cbsz:{fa} blgp:{fb}"
        if scaled:
            # Exponents near the bias, so that products stay exact.
            kinds += " u32 u32"
            for name_ in ("{c}", "{g}"):
                setup += f"v_and_b32 {name_}, 0x01010101, {name_}\nv_add_u32 {name_}, 0x7e7e7e7e, {name_}\n"
            operation = "{op} {d}, {a}, {b}, 0, {c}, {g} op_sel:[1,0,0] op_sel_hi:[0,1,0]" + tail
        else:
            operation = "{op} {d}, {a}, {b}, 0" + tail
        out.append(
            case(name, kinds, f"b{32 * m * m // LANES}", define, _prepared(setup, operation), context=True,
                 archs=GFX950, whole=True,
                 label=f"{type_a.__name__} {type_b.__name__}")
        )  # fmt: skip
    return out


# Bits that are kept so that exponents are few and sums exact.
_MASKS = {0: [0x9F9F9F9F], 1: [0x8F8F8F8F], 2: [0xFFFFFFFF], 3: [0xFFFFFFFF], 4: [0xFFFFFFFF]}


def dense_small(values: Array, code: int, m: int, k: int) -> Array:
    """32 elements a lane: one run of k, but two of 16 in the 8-bit formats."""
    return dense(values, m, k, 16 if SMALL[code][0] == 8 else 32)


def scale(values: Array, scales: Array, byte: int, m: int, k: int) -> Array:
    """Times 2^(code - 127): lane l's byte belongs to row l % m and the (l / m)th run of 32 k."""
    codes = ((scales >> np.uint32(8 * byte)) & np.uint32(255)).astype(np.int64)
    # The test's own preparation: (v & 1) + 126 in each byte.
    codes = (codes & 1) + 126
    out = values.copy()
    for lane in range(LANES):
        run = slice(lane // m * 32, lane // m * 32 + 32)
        out[:, run, lane % m] *= np.exp2(codes[lane::LANES] - 127.0)[:, None]
    return out


# Two different positions of a group of four, the lower one first, as the index register has them.
_PAIRS = np.array([first | second << 2 for second in range(4) for first in range(second)], np.uint64)


def _indices(rng: np.random.Generator, n: int, share: float) -> Words:
    pairs = rng.choice(_PAIRS, (8, n))
    return np.asarray(sum(pairs[i] << np.uint64(4 * i) for i in range(8)).astype(np.uint32)[None])


SPARSE_INDEX = "sparse_index"
KINDS[SPARSE_INDEX] = Kind(SPARSE_INDEX, 1, lambda w: w[0], lambda v: v[None], _indices)


def sparse(name: str, m: int, k: int, bits: int, types: tuple[Any, Any], prepare: tuple[tuple[int, int], ...],
           out: Any) -> list[Case]:  # fmt: skip
    """SMFMAC: two of each four elements of A, where the index register says; added to the destination."""
    per = m * k // LANES  # of dense A, and of B
    sets = max(1, 32 // per)
    rows = per * bits // 64, per * bits // 32

    def define(abid: int) -> Any:
        def run(context: Context, a: Words, b: Words, index: Array) -> Words:
            cut = [v & np.uint32(keep) | np.uint32(add) for v, (keep, add) in zip((a, b), prepare, strict=True)]
            stored = _typed(fields(cut[0], bits, per // 2), bits, types[0])
            values = np.zeros((per, stored.shape[1]))
            lanes = np.arange(stored.shape[1])
            for e in range(per // 2):
                at = index >> np.uint32(abid * per + 2 * e) & np.uint32(3)
                values[e // 2 * 4 + at.astype(int), lanes] = stored[e]
            right = _typed(fields(cut[1], bits, per), bits, types[1])
            total = _product(dense(values, m, k), dense(right, m, k), accumulator(context.old[0], m, out))
            if out is np.int32:
                total = (total.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
            return registers(total, m * m // LANES, m, out)

        return run

    result = []
    for abid in range(sets):
        setup, first = "", 10
        for count, (keep, add) in zip(rows, prepare, strict=True):
            for r in range(first, first + count):
                setup += f"v_and_b32 v{r}, {keep:#x}, v{r}\n" + (f"v_or_b32 v{r}, {add:#x}, v{r}\n" if add else "")
            first += count
        accumulators = m * m // LANES
        one = case(
            name, f"b{32 * rows[0]} b{32 * rows[1]} sparse_index", f"b{32 * accumulators}", define(abid),
            _prepared(setup, f"{{op}} {{d}}, {{a}}, {{b}}, {{c}} abid:{abid}"), context=True, archs=GFX950, whole=True,
            label=f"abid {abid}",
        )  # fmt: skip
        if out is np.float32:  # from zero: any other float would make sums inexact
            first_d = first + 1 + (first + 1) % 2
            zeros = "".join(f"v_mov_b32 v{first_d + i}, 0\n" for i in range(accumulators))
            one = one.but(
                code=one.code.replace("s_mov_b64 exec, -1\n", "s_mov_b64 exec, -1\n" + zeros, 1),
                define=_from_zero(one.define),
            )
        result.append(one)
    return result


def _from_zero(define: Any) -> Any:
    def run(context: Context, *values: Any) -> Any:
        context.old[0][:] = 0
        return define(context, *values)

    return run


def _typed(codes: Array, bits: int, dtype: Any) -> Array:
    word: Any = {8: np.uint8, 16: np.uint16}[bits]
    value: Array = codes.astype(word).view(dtype).astype(np.float64)
    return value


def sparse_cases() -> list[Case]:
    f16, bf16, i8 = np.float16, ml_dtypes.bfloat16, np.int8
    small = {"fp8": (ml_dtypes.float8_e4m3fn, 0x9F9F9F9F), "bf8": (ml_dtypes.float8_e5m2, 0x8F8F8F8F)}
    out: list[Case] = []
    for m, k in ((16, 64), (32, 32)):
        shape = f"{m}x{m}x{k}"
        half, brain = (0x87C087C0, 0x38003800), (0x80F880F8, 0x3F003F00)
        out += sparse(f"v_smfmac_f32_{shape}_f16", m, k, 16, (f16, f16), (half, half), np.float32)
        out += sparse(f"v_smfmac_f32_{shape}_bf16", m, k, 16, (bf16, bf16), (brain, brain), np.float32)
        wide = f"{m}x{m}x{2 * k}"
        whole = (0xFFFFFFFF, 0)
        out += sparse(f"v_smfmac_i32_{wide}_i8", m, 2 * k, 8, (i8, i8), (whole, whole), np.int32)
        for first, (type_a, mask_a) in small.items():
            for second, (type_b, mask_b) in small.items():
                out += sparse(f"v_smfmac_f32_{wide}_{first}_{second}", m, 2 * k, 8, (type_a, type_b),
                              ((mask_a, 0), (mask_b, 0)), np.float32)  # fmt: skip
    return out


def cases() -> list[Case]:
    f16, bf16 = np.float16, ml_dtypes.bfloat16
    return [
        dense_16("v_mfma_f32_16x16x32_f16", 16, 32, f16, 0x87C087C0, 0x38003800),
        dense_16("v_mfma_f32_32x32x16_f16", 32, 16, f16, 0x87C087C0, 0x38003800),
        dense_16("v_mfma_f32_16x16x32_bf16", 16, 32, bf16, 0x80F880F8, 0x3F003F00),
        dense_16("v_mfma_f32_32x32x16_bf16", 32, 16, bf16, 0x80F880F8, 0x3F003F00),
        dense_i8("v_mfma_i32_16x16x64_i8", 16, 64),
        dense_i8("v_mfma_i32_32x32x32_i8", 32, 32),
        *small_formats(16, 128, False), *small_formats(32, 64, False),
        *small_formats(16, 128, True), *small_formats(32, 64, True), *sparse_cases(),
    ]  # fmt: skip

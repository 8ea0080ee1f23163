# SPDX-License-Identifier: Apache-2.0
"""WMMA and SWMMAC of gfx1250, with the places of elements in our layout tables, against products in float64."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(1250)
ARCH = "gfx1250"
TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
    "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn, "fp4": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
BITS = {"f32": 32, "f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4, "iu8": 8}
FIRST_D = 48
D_OFFSET = FIRST_D - 40


def codes(kind: str, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Random elements: their bits, and their values; small whole numbers, so that sums are exact in f16."""
    if kind == "iu8":
        bits = RNG.integers(0, 256, shape)
        return bits, (bits ^ 128) - 128
    values = RNG.integers(-2, 3, shape).astype(np.float32).astype(TYPES[kind])
    bits = values.view(f"u{values.itemsize}").astype(np.int64) & ((1 << BITS[kind]) - 1)
    return bits, values.astype(np.float64)


def k_of(kind: str, lane: int, e: int, small: bool = False) -> int:
    """Runs of eight elements alternate between the halves of the wave; in f8f6f4 forms of 16 or 32."""
    if kind == "f32":
        return 2 * (lane // 16) + e
    run = 8 if not small else 16 if BITS[kind] == 8 else 32
    return e // run * 2 * run + lane // 16 * run + e % run


def packed(matrix: np.ndarray, kind: str, small: bool = False) -> np.ndarray:
    """Registers of A or B from bits of shape (rows or columns, k); `small`: for an f8f6f4 form."""
    rows, k = matrix.shape
    per = k * rows // 32
    out = [[0] * 32 for _ in range(max(1, per * BITS[kind] // 32))]
    for lane in range(32):
        string = 0
        for e in range(per):
            at = e if rows == 32 else k_of(kind, lane, e, small)
            string |= int(matrix[lane % rows, at]) << (e * BITS[kind])
        for reg, row in enumerate(out):
            row[lane] = string >> (32 * reg) & 0xFFFFFFFF
    return np.array(out, np.uint32)


def span(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def unpack(out: np.ndarray, kind: str, rows: int = 16) -> np.ndarray:
    result = np.zeros((rows, 16))
    half = rows // 2
    for i, j in product(range(rows), range(16)):
        reg, lane = i % half, i // half * 16 + j
        if kind in ("f32", "i32"):
            result[i, j] = out[reg, lane : lane + 1].view(np.float32 if kind == "f32" else np.int32)[0]
        else:
            result[i, j] = np.uint16(int(out[reg // 2, lane]) >> (16 * (reg % 2)) & 0xFFFF).view(TYPES[kind])
    return result


def multiply(
    run: Runner,
    name: str,
    inputs: list[np.ndarray],
    out_kind: str,
    modifiers: str = "",
    rows: int = 16,
    sparse: bool = False,
) -> np.ndarray:
    """D of an instruction whose operands are rows of registers, C = 0 (in D's registers, or the constant)."""
    registers, first = [], 10
    for one in inputs:
        registers.append(span(first, len(one)))
        first += len(one)
        first += first % 2  # 64-bit operands begin at even ones
    results = rows // 2 if out_kind in ("f32", "i32") else rows // 4
    d = span(FIRST_D, results)
    padded = []
    for one in inputs:
        padded += list(one)
        if len(padded) % 2:
            padded.append(np.zeros(32, np.uint32))
    setup = "\n".join(f"v_mov_b32 v{FIRST_D + i}, 0" for i in range(results))
    setup += "\n" + "\n".join(f"v_mov_b32 v{i}, 0" for i in range(40, FIRST_D) if i >= 10 + len(padded))
    operands = [*registers[:2], *([] if sparse else [d]), *registers[2:]]
    code = f"{setup}\n{name} {d}, {', '.join(operands)}{modifiers}"
    out = run(code, ARCH, 32, np.array(padded, np.uint32), D_OFFSET + results)[D_OFFSET:]
    return unpack(out, out_kind, rows)


DENSE = [
    "f32_16x16x4_f32", "f32_16x16x32_f16", "f32_16x16x32_bf16", "f16_16x16x32_f16", "bf16_16x16x32_bf16",
    "i32_16x16x64_iu8", *(f"{d}_16x16x{k}_{a}_{b}" for d in ("f32", "f16") for k in (64, 128) for a in ("fp8", "bf8")
                          for b in ("fp8", "bf8")),
]  # fmt: skip


@pytest.mark.parametrize("name", DENSE)
def test_wmma(run: Runner, name: str) -> None:
    out_kind, size, a_kind, *rest = name.split("_")
    b_kind = rest[0] if rest else a_kind
    k = int(size.split("x")[2])
    (a_bits, a), (b_bits, b) = codes(a_kind, (16, k)), codes(b_kind, (16, k))
    flags = " neg_lo:[1,1,0]" if out_kind == "i32" else ""
    got = multiply(run, f"v_wmma_{name}", [packed(a_bits, a_kind), packed(b_bits, b_kind)], out_kind, flags)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    if out_kind == "bf16":
        want = want.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(got, want)


def scales(rows: int, blocks: int, half: int) -> tuple[np.ndarray, np.ndarray]:
    """E8M0 codes and their values, of shape (rows, blocks), and the registers that hold them."""
    exponents = RNG.integers(124, 131, (rows, blocks))
    registers = RNG.integers(0, 2**32, (blocks // 4, 32), dtype=np.uint32)  # what is not selected does not matter
    for row, block in product(range(rows), range(blocks)):
        lane = row if rows == 32 else row + 16 * half
        shift = 8 * (block % 4)
        word = int(registers[block // 4, lane]) & ~(0xFF << shift)
        registers[block // 4, lane] = word | int(exponents[row, block]) << shift
    return registers, np.ldexp(1.0, exponents - 127)


FORMATS = ["fp8", "bf8", "fp6", "bf6", "fp4"]


@pytest.mark.parametrize(
    ("a_kind", "b_kind", "block", "halves"),
    [("fp8", "fp8", 32, (0, 0)), ("fp4", "bf8", 32, (1, 0)), ("fp6", "bf6", 32, (0, 1)), ("bf8", "fp4", 16, (1, 1)),
     ("fp4", "fp4", 16, (0, 0)), ("fp8", "fp6", 0, (0, 0))],
)  # fmt: skip
def test_scaled(run: Runner, a_kind: str, b_kind: str, block: int, halves: tuple[int, int]) -> None:
    k = 128
    (a_bits, a), (b_bits, b) = codes(a_kind, (16, k)), codes(b_kind, (16, k))
    inputs = [packed(a_bits, a_kind, True), packed(b_bits, b_kind, True)]
    modifiers = "".join(
        f" matrix_{which}_fmt:MATRIX_FMT_{kind.upper()}"
        for which, kind in (("a", a_kind), ("b", b_kind))
        if kind != "fp8"
    )
    if block:
        (a_rows, a_scale), (b_rows, b_scale) = (scales(16, k // block, half) for half in halves)
        inputs += [a_rows, b_rows]
        a, b = a * np.repeat(a_scale, block, 1), b * np.repeat(b_scale, block, 1)
        modifiers += "".join(
            f" matrix_{which}_scale:MATRIX_SCALE_ROW1" for which, half in zip("ab", halves, strict=True) if half
        )
    prefix = {0: "", 32: "scale_", 16: "scale16_"}[block]
    got = multiply(run, f"v_wmma_{prefix}f32_16x16x128_f8f6f4", inputs, "f32", modifiers)
    np.testing.assert_array_equal(got, a @ b.T)


@pytest.mark.parametrize("block", [0, 32, 16])
def test_32_rows(run: Runner, block: int) -> None:
    k = 128
    (a_bits, a), (b_bits, b) = codes("fp4", (32, k)), codes("fp4", (16, k))
    inputs = [packed(a_bits, "fp4", True), packed(b_bits, "fp4", True)]
    if block:
        (a_rows, a_scale), (b_rows, b_scale) = scales(32, k // block, 0), scales(16, k // block, 0)
        inputs += [a_rows, b_rows]
        a, b = a * np.repeat(a_scale, block, 1), b * np.repeat(b_scale, block, 1)
    prefix = {0: "", 32: "scale_", 16: "scale16_"}[block]
    got = multiply(run, f"v_wmma_{prefix}f32_32x16x128_f4", inputs, "f32", rows=32)
    np.testing.assert_array_equal(got, a @ b.T)


def test_scales_as_later_compilers_encode_them(run: Runner) -> None:
    """What names the scales has a third source that it does not use: VGPR 0 for LLVM 22, then the constant 0."""
    k = 128
    (a_bits, a), (b_bits, b) = codes("fp8", (16, k)), codes("fp8", (16, k))
    (a_rows, a_scale), (b_rows, b_scale) = scales(16, 4, 0), scales(16, 4, 0)
    clear = "\n".join(f"v_mov_b32 v{60 + i}, 0" for i in range(8))
    words = (0xCC350000, 42 + 256 | 43 + 256 << 9 | 128 << 18, 0xCC33003C, 10 + 256 | 26 + 256 << 9 | 316 << 18)
    code = f"{clear}\n.long {', '.join(hex(word) for word in words)}\n"
    code += "\n".join(f"v_mov_b32 v{40 + i}, v{60 + i}" for i in range(8))
    inputs = [*packed(a_bits, "fp8", True), *packed(b_bits, "fp8", True), *a_rows, *b_rows]
    got = unpack(run(code, ARCH, 32, np.array(inputs, np.uint32), 8), "f32")
    np.testing.assert_array_equal(got, (a * np.repeat(a_scale, 32, 1)) @ (b * np.repeat(b_scale, 32, 1)).T)


def test_other_scales_are_refused(run: Runner) -> None:
    inputs = [np.zeros((16, 32), np.uint32), np.zeros((16, 32), np.uint32), *[np.zeros((1, 32), np.uint32)] * 2]
    with pytest.raises(EmulatorError, match="other than E8M0"):
        multiply(run, "v_wmma_scale_f32_16x16x128_f8f6f4", inputs, "f32", " matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3")


SPARSE = ["f32_16x16x64_f16", "f32_16x16x64_bf16", "f16_16x16x64_f16", "bf16_16x16x64_bf16", "i32_16x16x128_iu8",
          "f32_16x16x128_fp8_bf8", "f16_16x16x128_bf8_fp8"]  # fmt: skip


@pytest.mark.parametrize("name", SPARSE)
def test_swmmac(run: Runner, name: str) -> None:
    out_kind, size, a_kind, *rest = name.split("_")
    b_kind = rest[0] if rest else a_kind
    k = int(size.split("x")[2])
    stored_bits, stored = codes(a_kind, (16, k // 2))
    b_bits, b = codes(b_kind, (16, k))
    choice = np.array([sorted(RNG.permutation(4)[:2]) for _ in range(16 * k // 4)]).reshape(16, k // 4, 2)
    dense = np.zeros((16, k))
    for i, group, e in product(range(16), range(k // 4), range(2)):
        dense[i, 4 * group + choice[i, group, e]] = stored[i, 2 * group + e]
    per = k // 4
    a_rows = np.zeros((per * BITS[a_kind] // 32, 32), np.uint64)
    index = np.zeros((per // 16, 32), np.uint64)
    for lane, e in product(range(32), range(per)):
        group = k_of(a_kind, lane, e // 2 * 4) // 4
        bit = e * BITS[a_kind]
        a_rows[bit // 32, lane] |= np.uint64(int(stored_bits[lane % 16, 2 * group + e % 2]) << (bit % 32))
        index[e // 16, lane] |= np.uint64(int(choice[lane % 16, group, e % 2]) << (2 * (e % 16)))
    inputs = [a_rows.astype(np.uint32), packed(b_bits, b_kind), index.astype(np.uint32)]
    flags = " neg_lo:[1,1,0]" if out_kind == "i32" else ""
    got = multiply(run, f"v_swmmac_{name}", inputs, out_kind, flags, sparse=True)
    want = dense @ b.astype(np.float64).T
    if out_kind == "bf16":
        want = want.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(got, want)

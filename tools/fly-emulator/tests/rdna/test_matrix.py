# SPDX-License-Identifier: Apache-2.0
"""WMMA and SWMMAC, with the places of elements that AMD publishes, against products in float64."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from flydsl.emulator.device import EmulatorError
from rdna.harness import WAVES, Runner

RNG = np.random.default_rng(11)
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}
BITS = {"f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "iu8": 8, "iu4": 4}


def codes(kind: str, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Random elements: their bits, and their values (signed where there is a choice)."""
    if kind.startswith("iu"):
        bits = RNG.integers(0, 1 << BITS[kind], shape)
        sign = 1 << (BITS[kind] - 1)
        return bits, (bits ^ sign) - sign
    values = RNG.integers(-8, 9, shape).astype(TYPES[kind])
    return values.view(f"u{values.itemsize}").astype(np.int64), values.astype(np.float64)


def held(arch: str, lanes: int, lane: int, e: int, per: int, bits: int, sparse: bool) -> int:
    """The k of element e of a lane."""
    group = lane // 16
    if arch == "gfx1100":
        return e
    if sparse or bits < 16:
        return per * group + e if lanes == 32 else 2 * per * (group % 2) + per * (group // 2) + e
    return e // 4 * (4 * lanes // 16) + 4 * group + e % 4


def result_place(arch: str, lanes: int, i: int, j: int) -> tuple[int, int]:
    if arch == "gfx1100":
        return i // (lanes // 16), i % (lanes // 16) * 16 + j
    if lanes == 32:
        return i % 8, i // 8 * 16 + j
    return i % 4, 32 * (i // 4 % 2) + i // 8 * 16 + j


def packed(matrix: np.ndarray, arch: str, lanes: int, bits: int, sparse: bool = False) -> np.ndarray:
    """Registers of A or B from bits of shape (rows or columns, k)."""
    k = matrix.shape[1]
    per = k if arch == "gfx1100" else k // (lanes // 16)
    out = np.zeros((max(1, per * bits // 32), lanes), np.uint64)
    for lane, e in product(range(lanes), range(per)):
        value = int(matrix[lane % 16, held(arch, lanes, lane, e, per, bits, sparse)])
        out[e * bits // 32, lane] |= np.uint64(value << (e * bits % 32))
    return out.astype(np.uint32)


def span(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def unpack(out: np.ndarray, arch: str, lanes: int, kind: str) -> np.ndarray:
    result = np.zeros((16, 16))
    for i, j in product(range(16), range(16)):
        reg, lane = result_place(arch, lanes, i, j)
        if kind in ("f32", "i32"):
            result[i, j] = out[reg, lane : lane + 1].view(np.float32 if kind == "f32" else np.int32)[0]
            continue
        word = int(out[reg, lane]) if arch == "gfx1100" else int(out[reg // 2, lane]) >> (16 * (reg % 2))
        result[i, j] = np.uint16(word & 0xFFFF).view(TYPES[kind])
    return result


def shapes() -> list[tuple[str, int, str]]:
    both = ["f32_16x16x16_f16", "f32_16x16x16_bf16", "f16_16x16x16_f16", "bf16_16x16x16_bf16",
            "i32_16x16x16_iu8", "i32_16x16x16_iu4"]  # fmt: skip
    new = ["i32_16x16x32_iu4", *(f"f32_16x16x16_{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8"))]
    listed = [(arch, lanes, name) for arch, lanes in WAVES for name in both + (new if arch == "gfx1201" else [])]
    return [one for one in listed if one != ("gfx1201", 64, "i32_16x16x16_iu4")]


@pytest.mark.parametrize(("arch", "lanes", "name"), shapes())
def test_wmma(run: Runner, arch: str, lanes: int, name: str) -> None:
    out_kind, size, a_kind, *rest = name.split("_")
    b_kind = rest[0] if rest else a_kind
    k = int(size.split("x")[2])
    a_bits, a = codes(a_kind, (16, k))
    b_bits, b = codes(b_kind, (16, k))
    a_rows, b_rows = (packed(m, arch, lanes, BITS[a_kind]) for m in (a_bits, b_bits))
    inputs = np.concatenate([a_rows, b_rows])
    wide = out_kind in ("f32", "i32") or arch == "gfx1100"
    results = (8 if wide else 4) // (lanes // 32)
    d = span(40, results)
    flags = " neg_lo:[1,1,0]" if out_kind == "i32" else ""
    setup = "\n".join(f"v_mov_b32 v{40 + i}, 0" for i in range(results))
    code = f"{setup}\nv_wmma_{name} {d}, {span(10, len(a_rows))}, {span(10 + len(a_rows), len(b_rows))}, {d}{flags}"
    got = unpack(run(code, arch, lanes, inputs, results), arch, lanes, out_kind)
    want = a.astype(np.float64) @ b.astype(np.float64).T  # small whole numbers: exact in f16 and f32
    if out_kind == "bf16":
        want = want.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(got, want)


SPARSE = ["f32_16x16x32_f16", "f32_16x16x32_bf16", "f16_16x16x32_f16", "i32_16x16x32_iu8", "i32_16x16x64_iu4",
          "f32_16x16x32_fp8_bf8"]  # fmt: skip


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("name", SPARSE)
def test_swmmac(run: Runner, lanes: int, name: str) -> None:
    out_kind, size, a_kind, *rest = name.split("_")
    b_kind = rest[0] if rest else a_kind
    k = int(size.split("x")[2])
    bits = BITS[a_kind]
    stored_bits, stored = codes(a_kind, (16, k // 2))
    b_bits, b = codes(b_kind, (16, k))
    choice = np.array([sorted(RNG.permutation(4)[:2]) for _ in range(16 * k // 4)]).reshape(16, k // 4, 2)
    dense = np.zeros((16, k))
    for i, group, e in product(range(16), range(k // 4), range(2)):
        dense[i, 4 * group + choice[i, group, e]] = stored[i, 2 * group + e]
    groups, per = lanes // 16, k // (lanes // 16)
    a_rows = np.zeros((per // 2 * bits // 32, lanes), np.uint64)
    index = np.zeros((1, lanes), np.uint64)
    for lane, e in product(range(lanes), range(per // 2)):
        group = held("gfx1201", lanes, lane, e // 2 * 4, per, bits, True) // 4
        a_rows[e * bits // 32, lane] |= np.uint64(int(stored_bits[lane % 16, 2 * group + e % 2]) << (e * bits % 32))
        index[0, lane] |= np.uint64(int(choice[lane % 16, group, e % 2]) << (2 * e))
    b_rows = packed(b_bits, "gfx1201", lanes, bits, sparse=True)
    inputs = np.concatenate([a_rows.astype(np.uint32), b_rows, index.astype(np.uint32)])
    results = (8 if out_kind in ("f32", "i32") else 4) // (groups // 2)
    setup = "\n".join(f"v_mov_b32 v{40 + i}, 0" for i in range(results))
    flags = " neg_lo:[1,1,0]" if out_kind == "i32" else ""
    first_b = 10 + len(a_rows)
    code = (
        f"{setup}\nv_swmmac_{name} {span(40, results)}, {span(10, len(a_rows))}, {span(first_b, len(b_rows))}, "
        f"v{first_b + len(b_rows)}{flags}"
    )
    got = unpack(run(code, "gfx1201", lanes, inputs, results), "gfx1201", lanes, out_kind)
    np.testing.assert_array_equal(got, dense @ b.astype(np.float64).T)


def test_operands_that_are_not_doubled_across_half_waves_are_an_error(run: Runner) -> None:
    inputs = RNG.integers(0, 2**15, (16, 32), dtype=np.uint32)
    inputs[:, 16:] = inputs[:, :16]
    setup = "\n".join(f"v_mov_b32 v{40 + i}, 0" for i in range(8))
    code = f"{setup}\nv_wmma_f32_16x16x16_f16 v[40:47], v[10:17], v[18:25], v[40:47]"
    run(code, "gfx1100", 32, inputs, 8)
    inputs[9, 20] ^= 1
    with pytest.raises(EmulatorError, match=r"operand B .* between lane 4 and lane 20"):
        run(code, "gfx1100", 32, inputs, 8)

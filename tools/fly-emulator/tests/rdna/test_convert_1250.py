# SPDX-License-Identifier: Apache-2.0
"""gfx1250's scaled conversions of 8 or 16 numbers a lane, against ml_dtypes."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from opcodes.exact import Format
from opcodes.table_convert import _stochastic

from flydsl.emulator import sanitize
from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(816)
ARCH = "gfx1250"
SMALL: dict[str, Any] = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn,
                         "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}  # fmt: skip
FORMATS = {"fp8": Format(4, -6, 8, None), "bf8": Format(3, -14, 15, None), "fp4": Format(2, 0, 2, None),
           "fp6": Format(4, 0, 2, None), "bf6": Format(3, -2, 4, None)}  # fmt: skip
LARGEST = {"fp8": 448.0, "bf8": 57344.0, "fp4": 6.0, "fp6": 7.5, "bf6": 28.0}
WIDE: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
BITS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}
PAIRS = list(product(SMALL, WIDE))


def count(small: str) -> int:
    return 16 if BITS[small] == 6 else 8


def packed(fields: np.ndarray, bits: int) -> np.ndarray:
    """Rows of words of 32 lanes, from fields of shape (lanes, count)."""
    out = []
    for lane in fields:
        string = sum(int(value) << (bits * i) for i, value in enumerate(lane))
        out.append([string >> (32 * i) & 0xFFFFFFFF for i in range(len(lane) * bits // 32)])
    return np.array(out, np.uint32).T


def fields(rows: np.ndarray, bits: int) -> np.ndarray:
    out = []
    for lane in range(rows.shape[1]):
        string = int.from_bytes(np.ascontiguousarray(rows[:, lane]).tobytes(), "little")
        out.append([string >> (bits * i) & (1 << bits) - 1 for i in range(32 * len(rows) // bits)])
    return np.array(out, np.uint64)


def bits_of(values: np.ndarray) -> np.ndarray:
    return values.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[values.itemsize]).astype(np.uint64)


def span(first: int, rows: int) -> str:
    return f"v{first}" if rows == 1 else f"v[{first}:{first + rows - 1}]"


def numbers(shape: tuple[int, ...], wide: str, limit: float) -> np.ndarray:
    """Of all sizes that the formats have, and some beyond."""
    values = RNG.normal(size=shape) * np.exp2(RNG.integers(-18, 3, shape)) * limit
    values[0] = 0
    most = 65504.0 if wide == "f16" else np.inf
    return np.clip(values, -most, most).astype(np.float32).astype(WIDE[wide])


def narrowed(small: str, quotient: np.ndarray) -> np.ndarray:
    """Codes, rounded once; beyond the largest NaN or infinity where the format has them."""
    limit = LARGEST[small]
    if BITS[small] < 8:
        quotient = np.clip(quotient, -limit, limit)
    return bits_of(quotient.astype(np.float32).astype(SMALL[small]))


@pytest.mark.parametrize(("small", "wide"), PAIRS)
def test_to_small_formats(run: Runner, small: str, wide: str) -> None:
    n = count(small)
    values = numbers((32, n), wide, LARGEST[small])
    exponents = RNG.integers(120, 135, 32)
    # Sign and mantissa of the scale do not matter.
    scale = (exponents << 23 | RNG.integers(0, 2**23, 32) | RNG.integers(0, 2, 32) << 31).astype(np.uint32)
    rows, width = packed(bits_of(values), 8 * values.itemsize), n * BITS[small] // 32
    code = f"v_cvt_scalef32_pk{n}_{small}_{wide} {span(60, width)}, {span(10, len(rows))}, v{10 + len(rows)}\n"
    code += "\n".join(f"v_mov_b32 v{40 + i}, v{60 + i}" for i in range(width))
    got = fields(run(code, ARCH, 32, np.vstack([rows, scale]), width), BITS[small])
    quotient = values.astype(np.float64) / np.exp2(exponents - 127.0)[:, None]
    np.testing.assert_array_equal(got, narrowed(small, quotient))


@pytest.mark.parametrize(("small", "wide"), PAIRS)
def test_by_random_bits(run: Runner, small: str, wide: str) -> None:
    """One random number rounds all of a lane."""
    n = count(small)
    values = numbers((32, n), wide, LARGEST[small] / 16)
    random = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    rows, width = packed(bits_of(values), 8 * values.itemsize), n * BITS[small] // 32
    last = 10 + len(rows)
    code = f"v_cvt_scalef32_sr_pk{n}_{small}_{wide} {span(60, width)}, {span(10, len(rows))}, v{last}, 0.5\n"
    code += "\n".join(f"v_mov_b32 v{40 + i}, v{60 + i}" for i in range(width))
    got = fields(run(code, ARCH, 32, np.vstack([rows, random]), width), BITS[small])
    scaled = values.astype(np.float64) * 2
    want = scaled.copy()  # zeros keep their sign
    for lane, i in product(range(32), range(n)):
        if scaled[lane, i] != 0:
            want[lane, i] = _stochastic(float(scaled[lane, i]), int(random[lane]), FORMATS[small], 32)
    np.testing.assert_array_equal(got, narrowed(small, want))


#: of scale_sel: the half of the wave that has the scales, and the bytes for each half of the wave
SELECTED = {
    8: {0: (0, 0, 0), 2: (0, 1, 1), 4: (0, 2, 2), 6: (0, 3, 3), 10: (1, 1, 1), 14: (1, 3, 3)},
    6: {0: (0, 0, 1), 1: (0, 0, 2), 2: (0, 2, 3), 3: (0, 1, 3), 4: (1, 0, 1), 7: (1, 1, 3)},
}


@pytest.mark.parametrize(("small", "wide"), PAIRS)
def test_to_wide_formats(run: Runner, small: str, wide: str) -> None:
    n = count(small)
    codes = RNG.integers(0, 2 ** BITS[small], (32, n))
    scales = RNG.integers(112, 140, (32, 4)).astype(np.uint8)
    words = scales.view(np.uint32)[:, 0]
    values = codes.astype(np.uint8).view(SMALL[small]).astype(np.float64)
    rows = packed(codes, BITS[small])
    width = n // (1 if wide == "f32" else 2)
    for select, (half, *bytes_) in SELECTED[8 if BITS[small] == 8 else 6].items():
        chosen = np.array([scales[lane % 16 + 16 * half, bytes_[lane // 16]] for lane in range(32)], np.float64)
        modifier = f" scale_sel:{select}" if select else ""
        code = f"v_cvt_scale_pk{n}_{wide}_{small} {span(60, width)}, {span(10, len(rows))}, v{10 + len(rows)}{modifier}"
        code += "\n" + "\n".join(f"v_mov_b32 v{40 + i}, v{60 + i}" for i in range(width))
        out = run(code, ARCH, 32, np.vstack([rows, words]), width)
        got = fields(out, 32 if wide == "f32" else 16)
        with np.errstate(over="ignore", invalid="ignore"):
            exact = (values * np.exp2(chosen - 127)[:, None]).astype(np.float32).astype(WIDE[wide])
        numbers_ = got.astype({2: np.uint16, 4: np.uint32}[exact.itemsize]).view(WIDE[wide])
        np.testing.assert_array_equal(numbers_.astype(np.float64), exact.astype(np.float64))


def test_scales_of_nan(run: Runner) -> None:
    out = run("v_cvt_scale_pk8_f32_fp4 v[40:47], v10, 0xffff", ARCH, 32, np.full((1, 32), 0x12345670, np.uint32), 8)
    assert np.isnan(out.view(np.float32)).all()


def test_blocks_of_16_bytes_are_refused(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="blocks of 16 numbers of 8 bits is not modelled"):
        run("v_cvt_scale_pk8_f32_fp8 v[40:47], v[10:11], v12 scale_sel:1", ARCH, 32, np.zeros((3, 32), np.uint32), 8)


def test_nan_into_fp4_is_refused(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="a NaN into a 4-bit format"):
        run("v_cvt_scalef32_pk8_fp4_f32 v40, v[10:17], 1.0", ARCH, 32, np.full((8, 32), 0x7FC00000, np.uint32))


def test_numbers_that_nobody_wrote_leave_the_others_defined(run: Runner) -> None:
    """Triton fills a pack of eight only as far as a lane has elements: v27 is never written."""
    code = """
      v_mov_b32 v26, v10
      v_cvt_scale_pk8_f32_bf8 v[60:67], v[26:27], 0x7f
      v_mov_b32 v40, v61
      global_store_b32 v1, v61, s[6:7]
    """
    with sanitize("init"):
        run(code, ARCH, 32, np.zeros((1, 32), np.uint32))
    with sanitize("init", raises=False) as found:
        run(code.replace("v61", "v64"), ARCH, 32, np.zeros((1, 32), np.uint32))
    assert found.reports

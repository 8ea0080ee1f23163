# SPDX-License-Identifier: Apache-2.0
"""Floats of 8 bits and packed halves of gfx12 and gfx1250, and doubles with a literal."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rdna.harness import Runner

RNG = np.random.default_rng(8)
FP8, BF8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
OF_NAME: dict[str, Any] = {"fp8": FP8, "bf8": BF8}
Halves = np.ndarray


def codes(kind: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Of finite numbers."""
    values = RNG.integers(0, 256, (*shape, 8)).astype(np.uint8)
    finite = np.isfinite(values.view(kind).astype(np.float32))
    return np.take_along_axis(values, finite.argmax(-1)[..., None], -1)[..., 0]


@pytest.mark.parametrize("a", OF_NAME)
@pytest.mark.parametrize("b", OF_NAME)
def test_dot_products_of_four_bytes(run: Runner, a: str, b: str) -> None:
    """v_dot4_f32_fp8_fp8 and its kin: the exact sum, rounded once (assumed)."""
    x, y = codes(OF_NAME[a], (32, 4)), codes(OF_NAME[b], (32, 4))
    addend = RNG.normal(size=32).astype(np.float32)
    given = np.stack([x.view(np.uint32)[:, 0], y.view(np.uint32)[:, 0], addend.view(np.uint32)])
    out = run(f"v_dot4_f32_{a}_{b} v40, v10, v11, v12", "gfx1201", 32, given)[0].view(np.float32)
    for lane in range(32):
        terms = zip(x[lane].view(OF_NAME[a]), y[lane].view(OF_NAME[b]), strict=True)
        exact = Fraction(float(addend[lane])) + sum(Fraction(float(p)) * Fraction(float(q)) for p, q in terms)
        near = np.float32(float(exact))  # the sum has fewer bits than a double
        assert Fraction(float(exact)) == exact
        assert out[lane] == near


@pytest.mark.parametrize("byte", range(4))
def test_a_byte_to_a_half(run: Runner, byte: int) -> None:
    """v_cvt_f16_bf8 of the byte that byte_sel names."""
    x = codes(BF8, (32, 4))
    select = f" byte_sel:{byte}" if byte else ""
    code = f"v_mov_b32 v40, 0x12345678\nv_cvt_f16_bf8 v40.l, v10{select}"
    out = run(code, "gfx1250", 32, x.view(np.uint32).T)[0]
    want = np.ascontiguousarray(x[:, byte]).view(BF8).astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(out, want | np.uint32(0x12340000))


def test_two_bytes_to_halves_and_back(run: Runner) -> None:
    """v_cvt_pk_f16_fp8 is exact, v_cvt_pk_bf8_f16 rounds to the nearest."""
    x = codes(FP8, (32, 4))
    halves = (RNG.normal(size=(32, 2)) * np.exp2(RNG.integers(-16, 14, (32, 2)))).astype(np.float16)
    halves[:3] = [[0.0, -0.0], [57344, -57344], [2**-16, -(2**-17)]]
    given = np.stack([x.view(np.uint32)[:, 0], halves.view(np.uint32)[:, 0]])
    code = "v_mov_b32 v41, 0x12345678\nv_cvt_pk_f16_fp8 v40, v10.l\nv_cvt_pk_bf8_f16 v41.l, v11"
    out = run(code, "gfx1250", 32, given, 2)
    wide = np.ascontiguousarray(x[:, :2]).view(FP8).astype(np.float16)
    np.testing.assert_array_equal(out[0], wide.view(np.uint32)[:, 0])
    narrow = halves.astype(np.float32).astype(BF8).view(np.uint8).astype(np.uint32)
    np.testing.assert_array_equal(out[1], narrow[:, 0] | narrow[:, 1] << 8 | np.uint32(0x12340000))


def stochastic(value: float, random: int, kind: Any, dropped: int) -> Any:
    """The upper random bits below the last place are added, and what does not fit is cut off."""
    bits = int(np.float32(value).view(np.uint32))
    added = bits + (random >> (32 - dropped))
    return np.uint32(added >> dropped << dropped).view(np.float32).astype(kind)


@pytest.mark.parametrize(("name", "kind", "dropped"), [("bf16", ml_dtypes.bfloat16, 16), ("f16", np.float16, 13)])
def test_stochastic_rounding_of_pairs(run: Runner, name: str, kind: Any, dropped: int) -> None:
    """v_cvt_sr_pk_bf16_f32 and v_cvt_sr_pk_f16_f32: both numbers by the same random word (assumed)."""
    x = RNG.normal(size=(2, 32)).astype(np.float32) + np.float32(2)
    random = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    given = np.vstack([x.view(np.uint32), random])
    instruction = {"bf16": "v_cvt_sr_pk_bf16_f32", "f16": "v_cvt_sr_pk_f16_f32"}[name]
    out = run(f"{instruction} v40, v10, v11, v12", "gfx1250", 32, given)[0]
    want = [[stochastic(v, int(r), kind, dropped) for v, r in zip(row, random, strict=True)] for row in x]
    low, high = (np.array(row, kind).view(np.uint16).astype(np.uint32) for row in want)
    np.testing.assert_array_equal(out, low | high << 16)
    nearest = x.astype(kind).view(np.uint16).astype(np.uint32)
    assert (out != nearest[0] | nearest[1] << 16).any()


PACKED: dict[str, Callable[[Halves, Halves, Halves], Halves]] = {
    "v_pk_max3_num_f16": lambda a, b, c: np.fmax(np.fmax(a, b), c),
    "v_pk_min3_num_f16": lambda a, b, c: np.fmin(np.fmin(a, b), c),
}


@pytest.mark.parametrize("name", PACKED)
def test_extremes_of_three_pairs(run: Runner, name: str) -> None:
    x = RNG.normal(size=(3, 32, 2)).astype(np.float16)
    x[0, :4, 0] = [np.nan, np.inf, -np.inf, 0.5]
    x[1, :4, 1] = [np.nan, np.inf, -np.inf, 0.5]
    out = run(f"{name} v40, v10, v11, v12", "gfx1250", 32, x.view(np.uint32)[..., 0])[0]
    want = np.ascontiguousarray(PACKED[name](*x).astype(np.float16)).view(np.uint32)[:, 0]
    np.testing.assert_array_equal(out, want)


def test_doubles_with_a_literal(run: Runner) -> None:
    """v_fmaak_f64 and v_fmamk_f64 have all 64 bits of it."""
    x = RNG.normal(size=(2, 32))
    given = np.stack([row for value in x for row in value.view(np.uint32).reshape(32, 2).T])
    code = "v_fmaak_f64 v[40:41], v[10:11], v[12:13], 0x3ff123456789abcd\n"
    code += "v_fmamk_f64 v[42:43], v[10:11], 0x3ff123456789abcd, v[12:13]"
    out = run(code, "gfx1250", 32, given, 4)
    literal = np.uint64(0x3FF123456789ABCD).view(np.float64)
    for lane in range(32):
        a, b, k = (Fraction(float(v)) for v in (x[0, lane], x[1, lane], literal))
        got = np.ascontiguousarray(out[:, lane]).view(np.float64)
        assert list(got) == [float(a * b + k), float(a * k + b)]

# SPDX-License-Identifier: Apache-2.0
"""Scalar floating point of gfx12, each instruction against its definition on pairs of ordinary and special numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opcodes import exact

from rdna.harness import Runner

RNG = np.random.default_rng(121)
ARCH = "gfx1201"
F32 = [0.0, -0.0, 1.5, -2.5, 3.5, 1e-30, np.inf, -np.inf, np.nan, 7.25, -0.3, 1e30, 65504.0, -70000.0, 0.5, 2.0**-25]
F16 = [0.0, -0.0, 1.5, -2.5, 3.5, 6e-8, np.inf, -np.inf, np.nan, 7.25, -0.3, 1e3, 65504.0, -60000.0, 0.5, 2.0**-20]
KINDS: dict[str, Any] = {"f32": np.float32, "f16": np.float16}
PAIRS = [(i, (5 * i + 3 * j) % 16) for i in range(16) for j in range(2)]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "lg": lambda a, b: (a < b) | (a > b), "neq": lambda a, b: a != b,
    "nlt": lambda a, b: ~(a < b), "nle": lambda a, b: ~(a <= b), "ngt": lambda a, b: ~(a > b),
    "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "u": lambda a, b: np.isnan(a) | np.isnan(b),
}  # fmt: skip
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "s_add": lambda a, b: a + b, "s_sub": lambda a, b: a - b, "s_mul": lambda a, b: a * b,
    "s_min_num": lambda a, b: exact.minimum(a, b, False), "s_max_num": lambda a, b: exact.maximum(a, b, False),
    "s_minimum": exact.minimum_2019, "s_maximum": exact.maximum_2019,
}  # fmt: skip
ONE: dict[str, Callable[[Any], Any]] = {
    "s_ceil": np.ceil, "s_floor": np.floor, "s_trunc": np.trunc, "s_rndne": np.rint,
}  # fmt: skip


def numbers(kind: str) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(F32 if kind == "f32" else F16, KINDS[kind])
    return values[[i for i, _ in PAIRS]], values[[j for _, j in PAIRS]]


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint32 if values.itemsize == 4 else np.uint16).astype(np.uint32)


def scalar(run: Runner, lines: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """s22 after `lines`, for each pair of words in s20 and s21."""
    code = []
    for i in range(32):
        code += [
            f"v_readlane_b32 s20, v10, {i}",
            f"v_readlane_b32 s21, v11, {i}",
            lines,
            f"v_writelane_b32 v40, s22, {i}",
        ]
    return run("v_mov_b32 v40, 0\n" + "\n".join(code), ARCH, 32, np.stack([a, b]))[0]


def same(got: np.ndarray, want: np.ndarray) -> None:
    """The same numbers, signs of zeros included, or NaN in both; what has 16 bits has zeros above."""
    values = got.astype(np.uint16).view(np.float16) if want.dtype == np.float16 else got.view(np.float32)
    if want.dtype == np.float16:
        assert (got >> 16 == 0).all()
    np.testing.assert_array_equal(np.isnan(values), np.isnan(want))
    real = ~np.isnan(want)
    np.testing.assert_array_equal(bits(values)[real], bits(want)[real])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMPARE)
def test_comparisons(run: Runner, name: str, kind: str) -> None:
    a, b = numbers(kind)
    got = scalar(run, f"s_cmp_{name}_{kind} s20, s21\ns_cselect_b32 s22, 1, 2", bits(a), bits(b))
    np.testing.assert_array_equal(got == 1, COMPARE[name](a, b))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TWO)
def test_two_operands(run: Runner, name: str, kind: str) -> None:
    a, b = numbers(kind)
    with np.errstate(all="ignore"):
        want = TWO[name](a, b).astype(KINDS[kind])
    same(scalar(run, f"{name}_{kind} s22, s20, s21", bits(a), bits(b)), want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ONE)
def test_rounding_to_whole_numbers(run: Runner, name: str, kind: str) -> None:
    a, b = numbers(kind)
    same(scalar(run, f"{name}_{kind} s22, s20", bits(a), bits(b)), ONE[name](a))


def test_fused_products(run: Runner) -> None:
    a, b = (RNG.normal(size=32).astype(np.float32) for _ in range(2))
    for lines, want in (
        ("s_mov_b32 s22, 0.5\ns_fmac_f32 s22, s20, s21", exact.fma(exact.F32)(a, b, np.full_like(a, 0.5))),
        ("s_fmaak_f32 s22, s20, s21, 0x40490fdb", exact.fma(exact.F32)(a, b, np.full_like(a, np.pi))),
        ("s_fmamk_f32 s22, s20, 0x40490fdb, s21", exact.fma(exact.F32)(a, np.full_like(a, np.pi), b)),
    ):
        same(scalar(run, lines, bits(a), bits(b)), want)
    a, b = a.astype(np.float16), b.astype(np.float16)
    want = exact.fma(exact.F16)(a, b, np.full_like(a, 0.5))
    same(scalar(run, "s_mov_b32 s22, 0x3800\ns_fmac_f16 s22, s20, s21", bits(a), bits(b)), want)


def test_conversions(run: Runner) -> None:
    a, b = numbers("f32")
    half, _ = numbers("f16")
    words = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    with np.errstate(all="ignore"):
        same(scalar(run, "s_cvt_f16_f32 s22, s20", bits(a), bits(b)), a.astype(np.float16))
    same(scalar(run, "s_cvt_f32_f16 s22, s20", bits(half), words), half.astype(np.float32))
    same(scalar(run, "s_cvt_hi_f32_f16 s22, s20", bits(half) << 16, words), half.astype(np.float32))
    same(scalar(run, "s_cvt_f32_i32 s22, s20", words, words), words.view(np.int32).astype(np.float32))
    same(scalar(run, "s_cvt_f32_u32 s22, s20", words, words), words.astype(np.float32))
    clean = np.nan_to_num(a.astype(np.float64))
    signed = np.trunc(np.clip(clean, -(2.0**31), 2.0**31 - 1)).astype(np.int64).astype(np.uint32)
    unsigned = np.trunc(np.clip(clean, 0, 2.0**32 - 1)).astype(np.uint64).astype(np.uint32)
    np.testing.assert_array_equal(scalar(run, "s_cvt_i32_f32 s22, s20", bits(a), bits(b)), signed)
    np.testing.assert_array_equal(scalar(run, "s_cvt_u32_f32 s22, s20", bits(a), bits(b)), unsigned)


def test_pairs_towards_zero(run: Runner) -> None:
    a, b = (RNG.normal(size=32).astype(np.float32) * 100 for _ in range(2))

    def cut(values: np.ndarray) -> np.ndarray:
        near = values.astype(np.float16)
        away = np.abs(near.astype(np.float64)) > np.abs(values.astype(np.float64))
        return bits(near) - away

    got = scalar(run, "s_cvt_pk_rtz_f16_f32 s22, s20, s21", bits(a), bits(b))
    np.testing.assert_array_equal(got, cut(a) | cut(b) << 16)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "v_s_exp": np.exp2, "v_s_log": np.log2, "v_s_rcp": lambda x: 1 / x, "v_s_rsq": lambda x: 1 / np.sqrt(x),
    "v_s_sqrt": np.sqrt,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(run: Runner, name: str, kind: str) -> None:
    """To two units in the last place, as the vector ones."""
    a = np.exp2(RNG.uniform(-3, 3, 32)).astype(KINDS[kind])
    got = scalar(run, f"{name}_{kind} s22, s20\ns_wait_alu depctr_va_sdst(0)", bits(a), bits(a))
    values = got.view(np.float32) if kind == "f32" else got.astype(np.uint16).view(np.float16)
    want = FUNCTIONS[name](a.astype(np.float64))
    np.testing.assert_allclose(values.astype(np.float64), want, rtol=2 * np.finfo(KINDS[kind]).eps, atol=2e-7)

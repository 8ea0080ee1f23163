# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of 16-bit floats in host functions: by the rules of numpy, to the bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

SPECIAL = [0.0, -0.0, 1.0, -1.5, 6e-8, 3e-8, 6.1e-5, 6.09e-5, 65504.0, 65519.9, 65520.0, -7e4, 1e-40, 3.3e38]
SPECIAL += [float("inf"), float("-inf"), float("nan"), 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8]
VALUES = [*SPECIAL, *np.random.default_rng(5).normal(scale=100.0, size=40).astype(np.float32).tolist()]
NUMPY = {fx.Float16: np.float16, fx.BFloat16: ml_dtypes.bfloat16}
short_floats = pytest.mark.parametrize("short", NUMPY, ids=lambda one: one.__name__)


@flyc.kernel
def keep(out: fx.Tensor, value: fx.Float32):
    out[0] = value


def same(found, expected):
    expected = np.float32(expected)
    assert np.array_equal(np.float32(found), expected, equal_nan=True), (found, expected)
    assert np.isnan(expected) or np.signbit(found) == np.signbit(expected)


@short_floats
def test_conversion_from_f32_and_back(short):
    @flyc.jit
    def launch(out: fx.Tensor, x: fx.Float32):
        keep(out, x.to(short).to(fx.Float32)).launch(block=(1,))

    out = np.zeros(1, np.float32)
    with np.errstate(over="ignore"):
        for x in VALUES:
            launch(out, x)
            same(out[0], np.float32(x).astype(NUMPY[short]))


@short_floats
def test_conversion_from_f64_rounds_once(short):
    @flyc.jit
    def launch(out: fx.Tensor, x: fx.Float64):
        keep(out, x.to(short).to(fx.Float32)).launch(block=(1,))

    out = np.zeros(1, np.float32)
    digits = 11 if short is fx.Float16 else 8
    tie = 1 + 2.0**-digits
    for x, expected in ((tie, 1.0), (tie * (1 + 2.0**-45), 1 + 2.0 ** (1 - digits)), (tie * (1 - 2.0**-45), 1.0)):
        launch(out, fx.Float64(x))
        same(out[0], expected)


@short_floats
def test_arithmetic_comparisons_and_branches(short):
    @flyc.jit
    def launch(out: fx.Tensor, a: short, b: short, n: fx.Int32):
        x = a * b + a
        if x > b:
            x = x - short(1.0)
        for _ in range(n):
            x = x + a
        keep(out, x.to(fx.Float32) + b.to(fx.Int32).to(fx.Float32)).launch(block=(1,))

    out, kind = np.zeros(1, np.float32), NUMPY[short]
    for a, b in ((1.5, 3.0), (0.1, 7.3), (-2.25, 0.5), (300.0, 1.0)):
        launch(out, short(a), short(b), 3)
        p, q = kind(a), kind(b)
        x = kind(kind(p * q) + p)
        if x > q:
            x = kind(x - kind(1.0))
        for _ in range(3):
            x = kind(x + p)
        same(out[0], np.float32(x) + np.float32(int(q)))


@short_floats
def test_passing_what_was_computed(short):
    @flyc.kernel
    def widen(out: fx.Tensor, value: short):
        out[0] = value.to(fx.Float32)

    @flyc.jit
    def launch(out: fx.Tensor, a: short, flag: fx.Int32):
        b = a * a
        if flag > 0:
            b = b + a
        widen(out, b).launch(block=(1,))

    out = np.zeros(1, np.float32)
    for flag, expected in ((0, 9.0), (1, 12.0)):
        launch(out, short(3.0), flag)
        same(out[0], expected)

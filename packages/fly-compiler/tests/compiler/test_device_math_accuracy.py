# SPDX-License-Identifier: Apache-2.0
"""How far math functions of f32 are from the truth, in units of the last place (ulp), over all arguments."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from accuracy import assert_within

import flydsl.compiler as flyc
import flydsl.expr as fx

# The largest error allowed, in ulp: what docs/language/4-types.md promises.
BOUNDS = {
    "acos": 2,
    "acosh": 4,
    "asin": 3,
    "asinh": 4,
    "atan": 2,
    "atanh": 4,
    "cbrt": 1,
    "cos": 3,
    "cosh": 3,
    "erf": 5,
    "erfc": 4,
    "exp": 1,
    "exp2": 1,
    "expm1": 4,
    "log": 2,
    "log10": 2,
    "log1p": 3,
    "log2": 1,
    "rsqrt": 2,
    "sin": 3,
    "sinh": 3,
    "sqrt": 0.5,
    "tan": 4,
    "tanh": 2,
}
BINARY_BOUNDS = {"atan2": 2, "powf": 1}
REFERENCES = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "erf": lambda x: torch.erf(torch.from_numpy(x)).numpy(),
    "erfc": lambda x: torch.erfc(torch.from_numpy(x)).numpy(),
    "powf": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
LARGEST, SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_subnormal)
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, np.inf, LARGEST, SMALLEST, 2.0**-126, 2.0**-120, 65536.0, 16777215.0]
# Where exp overflows, where sinh and cosh do, and the f32 that is closest to a multiple of pi/2.
EDGES = [88.72283, 88.72284, 89.41598, 89.41599, 103.98, 16367173 * 2.0**72]
GROUP = 256


def arguments(count=1024):
    """Numbers of every exponent, of moderate size, next to 1, next to multiples of pi/2, and special ones."""
    random = np.random.default_rng(7)
    parts = [
        [np.nan, *SPECIAL, *EDGES],
        random.integers(0, 2**31 - 2**23, count, dtype=np.uint32).view(np.float32),
        np.exp2(random.uniform(-14, 7, count)),
        1 + random.choice([-1, 1], count) * np.exp2(random.uniform(-23, -1, count)),
        random.integers(1, 30000, count) * (np.pi / 2),
    ]
    positive = np.concatenate(parts).astype(np.float32)
    return np.resize(np.concatenate([positive, -positive]), -(-2 * positive.size // GROUP) * GROUP)


def pairs(count=4096):
    """All pairs of special values, random ones, and powers that are neither zero nor infinite."""
    random = np.random.default_rng(8)
    some = np.array([np.nan, *SPECIAL, *(-np.array(SPECIAL))], np.float32)
    x, y = (one.ravel() for one in np.meshgrid(some, some))
    wide = arguments()
    base = np.exp2(random.uniform(-126, 127, count)).astype(np.float32)
    exponent = random.uniform(-150, 128, count) / np.log2(base.astype(np.float64))
    whole = random.integers(-40, 40, count)
    x = np.concatenate([x, wide, base, random.uniform(-20, 20, count)]).astype(np.float32)
    y = np.concatenate([y, random.permutation(wide), exponent, whole]).astype(np.float32)
    size = -(-x.size // GROUP) * GROUP
    return np.resize(x, size), np.resize(y, size)


def device(function, lanes, *operands):
    """Apply a function to every element on the device, `lanes` elements per thread at a time."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        i = (fx.block_idx.x * 64 + fx.thread_idx.x) * lanes
        if fx.const_expr(lanes == 1):
            z[i] = function(x[i], y[i])
        else:
            a = fx.Vector.from_elements([x[i + j] for j in range(lanes)], fx.Float32)
            b = fx.Vector.from_elements([y[i + j] for j in range(lanes)], fx.Float32)
            result = function(a, b)
            for j in fx.range_constexpr(lanes):
                z[i + j] = result[j]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor, blocks: fx.Int32):
        kernel(x, y, z).launch(grid=(blocks,), block=(64,))

    x, y = torch.from_numpy(operands[0]), torch.from_numpy(operands[-1])
    z = torch.full_like(x, 77.0)
    blocks = x.numel() // (64 * lanes)
    launch(x, y, z, blocks)
    kernels = launch.report(x, y, z, blocks).kernels
    assert [(one["scratch_bytes"], one["spills"]) for one in kernels] == [(0, 0)]
    return z.numpy()


def check(name, bound, lanes, *operands, function=None):
    function = function or getattr(fx, name)
    got = device(function if len(operands) == 2 else lambda a, _: function(a), lanes, *operands)
    with np.errstate(all="ignore"):
        truth = REFERENCES.get(name, getattr(np, name, None))(*(one.astype(np.float64) for one in operands))
    assert_within(bound, got, truth, operands)


@pytest.mark.parametrize("name", BOUNDS)
def test_functions_of_one_operand(name):
    check(name, BOUNDS[name], 1, arguments())


@pytest.mark.parametrize("name", BINARY_BOUNDS)
def test_functions_of_two_operands(name):
    check(name, BINARY_BOUNDS[name], 1, *pairs())


@pytest.mark.parametrize("name", ["sin", "tan", "atan", "tanh", "acosh", "cbrt"])
def test_vectors(name):
    check(name, BOUNDS[name], 4, arguments())


def test_powers_of_vectors():
    check("powf", BINARY_BOUNDS["powf"], 4, *pairs(1024))


@pytest.mark.parametrize("which", [0, 1])
def test_sine_and_cosine_together(which):
    name = ("sin", "cos")[which]
    check(name, BOUNDS[name], 1, arguments(), function=lambda x: fx.sincos(x)[which])


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0])
def test_powers_with_known_exponents(exponent):
    x = np.abs(arguments())
    check("powf", 2, 1, x, np.full_like(x, exponent), function=lambda a, _: fx.powf(a, exponent))


@pytest.mark.slow
def test_another_architecture():
    """A process has one device, so the tests of this file run for gfx950 in another one."""
    environment = {**os.environ, "ARCH": "gfx950", "FLYDSL_GPU_ARCH": "gfx950"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not architecture", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

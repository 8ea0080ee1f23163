# SPDX-License-Identifier: Apache-2.0
"""How far math functions of f64 are from the truth, in units of the last place (ulp), over all arguments."""

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
from flydsl.compiler.diagnostics import DSLCompileError

# The largest error allowed, in ulp: what docs/language/4-types.md promises.
BOUNDS = {
    "acos": 2,
    "acosh": 3,
    "asin": 3,
    "asinh": 3,
    "atan": 3,
    "atanh": 3,
    "cbrt": 1,
    "cos": 1,
    "cosh": 3,
    "exp": 1,
    "exp2": 1,
    "expm1": 2,
    "log": 1,
    "log10": 1,
    "log1p": 1,
    "log2": 1,
    "rsqrt": 2,
    "sin": 1,
    "sinh": 3,
    "sqrt": 0.5,
    "tan": 3,
    "tanh": 3,
}
BINARY_BOUNDS = {"atan2": 3, "powf": 2}
REFERENCES = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "powf": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
LARGEST, SMALLEST = np.finfo(np.float64).max, np.finfo(np.float64).smallest_subnormal
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, np.inf, LARGEST, SMALLEST, 2.0**-1022, 2.0**-1000, 2.0**53 - 1, 2.0**53]
# Where exp, exp2, cosh and their inverses overflow, become subnormal, and vanish.
EDGES = [709.782712893384, 709.7827128933841, 710.4758600739439, 710.475860073944, 708.3964185322641, 745.1332191019411]
EDGES += [745.1332191019412, 1024.0, np.nextafter(1024.0, 0), 1022.0, 1074.0, 1075.0, 1e308]
# The f64 that is closest to a multiple of pi/2, and the ends of the reductions.
EDGES += [6381956970095103.0 * 2.0**797, np.pi / 2, np.pi, 2.0**22, np.nextafter(2.0**22, 0), 2.0**1023]
GROUP = 64

pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs a long double of more than 53 bits")


def arguments(count=1024):
    """Numbers of every exponent, of moderate size, next to 1, next to multiples of pi/2, and special ones."""
    random = np.random.default_rng(9)
    parts = [
        [np.nan, *SPECIAL, *EDGES],
        random.integers(0, 2**63 - 2**52, count, dtype=np.uint64).view(np.float64),
        np.exp2(random.uniform(-30, 10, count)),
        1 + random.choice([-1, 1], count) * np.exp2(random.uniform(-52, -1, count)),
        random.integers(1, 2**22, count) * (np.pi / 2),
    ]
    positive = np.concatenate(parts)
    return np.resize(np.concatenate([positive, -positive]), -(-2 * positive.size // GROUP) * GROUP)


def pairs(count=2048):
    """All pairs of special values, random ones, and powers that are neither zero nor infinite."""
    random = np.random.default_rng(10)
    some = np.array([np.nan, *SPECIAL, *(-np.array(SPECIAL))])
    x, y = (one.ravel() for one in np.meshgrid(some, some))
    wide = arguments()
    base = np.concatenate([np.exp2(random.uniform(-1022, 1023, count)), np.exp2(random.uniform(-1, 1, count))])
    exponent = random.uniform(-1080, 1024, 2 * count) / np.log2(base)
    whole = random.integers(-200, 200, count)
    x = np.concatenate([x, wide, base, random.uniform(-20, 20, count)])
    y = np.concatenate([y, random.permutation(wide), exponent, whole])
    size = -(-x.size // GROUP) * GROUP
    return np.resize(x, size), np.resize(y, size)


def device(function, *operands):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        i = fx.block_idx.x * GROUP + fx.thread_idx.x
        z[i] = function(x[i], y[i])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor, blocks: fx.Int32):
        kernel(x, y, z).launch(grid=(blocks,), block=(GROUP,))

    x, y = torch.from_numpy(operands[0]), torch.from_numpy(operands[-1])
    z = torch.full_like(x, 77.0)
    launch(x, y, z, x.numel() // GROUP)
    kernels = launch.report(x, y, z, x.numel() // GROUP).kernels
    assert [(one["scratch_bytes"], one["spills"]) for one in kernels] == [(0, 0)]
    return z.numpy()


def check(name, bound, *operands, function=None):
    function = function or getattr(fx, name)
    got = device(function if len(operands) == 2 else lambda a, _: function(a), *operands)
    with np.errstate(all="ignore"):
        truth = REFERENCES.get(name, getattr(np, name, None))(*(one.astype(np.longdouble) for one in operands))
    assert_within(bound, got, truth, operands)


@pytest.mark.parametrize("name", BOUNDS)
def test_functions_of_doubles(name):
    check(name, BOUNDS[name], arguments())


@pytest.mark.parametrize("which", [0, 1])
def test_sine_and_cosine_of_doubles_together(which):
    name = ("sin", "cos")[which]
    check(name, BOUNDS[name], arguments(), function=lambda x: fx.sincos(x)[which])


@pytest.mark.parametrize("name", ["exp2", "log1p", "sin"])
def test_vectors_of_doubles(name):
    def second(x):
        return getattr(fx, name)(fx.Vector.from_elements([-x, x], fx.Float64))[1]

    check(name, BOUNDS[name], arguments(), function=second)


@pytest.mark.parametrize("name", BINARY_BOUNDS)
def test_functions_of_two_doubles(name):
    check(name, BINARY_BOUNDS[name], *pairs())


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_what_has_no_double_form_is_refused(name):
    with pytest.raises(DSLCompileError, match=rf"{name}.* has no double-precision form on AMD GPUs"):
        device(lambda a, _: getattr(fx, name)(a), arguments())


@pytest.mark.slow
def test_doubles_on_another_architecture():
    """A process has one device, so the tests of this file run for gfx950 in another one."""
    environment = {**os.environ, "ARCH": "gfx950", "FLYDSL_GPU_ARCH": "gfx950"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not architecture", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Math functions run on the device without a vendor's library, against torch in float64."""

from __future__ import annotations

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.diagnostics import DSLCompileError


def run(name, x):
    function = getattr(fx, name)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.block_idx.x * 64 + fx.thread_idx.x
        y[i] = function(x[i])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, blocks: fx.Int32):
        kernel(x, y).launch(grid=(blocks,), block=(64,))

    y = torch.zeros_like(x)
    launch(x, y, x.numel() // 64)
    return y


# The largest relative error allowed, in f32: a few units of the last place (2^-23) for what the hardware or a short
# polynomial computes, more where MLIR's expansion goes through exp and log.
TOLERANCE = {"acosh": 2e-5, "atan": 5e-6, "asinh": 2e-5, "atanh": 2e-5, "sinh": 5e-6, "tan": 2e-6}
POSITIVE = ["cbrt", "exp", "exp2", "log", "log10", "log1p", "log2", "rsqrt", "sqrt"]
ANY_SIGN = ["atan", "ceil", "cos", "cosh", "erf", "erfc", "expm1", "floor", "sin", "sinh", "tanh"]
# tan is sin / cos: close to its poles the rounding error of cos, 2^-24 absolute, decides; so it is tested off them.
UNIT = ["acos", "asin", "atanh", "tan"]


def reference(name, x):
    return x.sign() * x.abs() ** (1 / 3) if name == "cbrt" else getattr(torch, name)(x)


def check(name, x):
    got, expected = run(name, x), reference(name, x.double())
    assert torch.allclose(got.double(), expected, rtol=TOLERANCE.get(name, 1e-6), atol=1e-6)


@pytest.mark.parametrize("name", POSITIVE)
def test_positive_operands(name):
    check(name, torch.linspace(0.05, 30.0, 256))


@pytest.mark.parametrize("name", ANY_SIGN)
def test_operands_of_any_sign(name):
    check(name, torch.linspace(-4.5, 4.5, 256))


@pytest.mark.parametrize("name", UNIT)
def test_operands_up_to_one(name):
    check(name, torch.linspace(-0.97, 0.97, 256))


@pytest.mark.parametrize("name", ["acosh", "asinh"])
def test_inverse_hyperbolic(name):
    check(name, torch.linspace(1.1, 20.0, 256))


def test_double_precision_rounds_and_refuses_the_rest():
    x = torch.linspace(-3.0, 3.0, 64, dtype=torch.float64)
    assert torch.equal(run("floor", x), x.floor())
    with pytest.raises(DSLCompileError, match=r"exp2.* has no double-precision form on AMD GPUs") as caught:
        run("exp2", x)
    assert "y[i] = function(x[i])" in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "erf"])
def test_16_bit_floats_round_once(name, dtype):
    x = torch.linspace(-2.0, 2.0, 64).to(dtype)
    got, expected = run(name, x), getattr(torch, name)(x.float()).to(dtype)
    ulp = torch.finfo(dtype).eps * expected.float().abs().clamp(min=torch.finfo(dtype).tiny)
    assert ((got.float() - expected.float()).abs() <= ulp).all()

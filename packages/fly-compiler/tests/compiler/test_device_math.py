# SPDX-License-Identifier: Apache-2.0
"""Math functions run on the device without a vendor's library; those that cannot are refused at their line."""

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


@pytest.mark.parametrize(
    "name",
    ["ceil", "cos", "exp", "exp2", "floor", "log", "log10", "log2", "rsqrt", "sin", "sqrt", "tanh", "sinh", "cosh"],
)
def test_single_precision(name):
    x = torch.linspace(0.05, 3.0, 256)
    got, expected = run(name, x), getattr(torch, name)(x.double())
    assert torch.allclose(got.double(), expected, rtol=1e-5, atol=1e-6)


def test_double_precision_rounds_and_refuses_the_rest():
    x = torch.linspace(-3.0, 3.0, 64, dtype=torch.float64)
    assert torch.equal(run("floor", x), x.floor())
    with pytest.raises(DSLCompileError, match="exp2 of f64 has no implementation for AMD GPUs yet"):
        run("exp2", x)


@pytest.mark.parametrize("name", ["atan", "erf", "cbrt"])
def test_what_is_missing_is_refused_at_its_line(name):
    with pytest.raises(DSLCompileError, match=rf"{name} of f32 has no implementation") as caught:
        run(name, torch.ones(64))
    assert "y[i] = function(x[i])" in str(caught.value)

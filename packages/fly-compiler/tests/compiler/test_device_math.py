# SPDX-License-Identifier: Apache-2.0
"""Math functions run on the device without a vendor's library; their errors are in test_device_math_accuracy.py."""

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


@pytest.mark.parametrize("name", ["ceil", "floor", "round", "roundeven", "trunc"])
def test_rounding_to_integers(name):
    x = torch.linspace(-4.5, 4.5, 256)
    reference = {"roundeven": torch.round, "round": lambda x: x.sign() * (x.abs() + 0.5).floor()}
    assert torch.equal(run(name, x), reference.get(name, getattr(torch, name, None))(x))


def test_double_precision_rounds_and_refuses_the_rest():
    x = torch.linspace(-3.0, 3.0, 64, dtype=torch.float64)
    assert torch.equal(run("floor", x), x.floor())
    with pytest.raises(DSLCompileError, match=r"erf.* has no double-precision form on AMD GPUs") as caught:
        run("erf", x)
    assert "y[i] = function(x[i])" in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "erf"])
def test_16_bit_floats_round_once(name, dtype):
    x = torch.linspace(-2.0, 2.0, 64).to(dtype)
    got, expected = run(name, x), getattr(torch, name)(x.float()).to(dtype)
    ulp = torch.finfo(dtype).eps * expected.float().abs().clamp(min=torch.finfo(dtype).tiny)
    assert ((got.float() - expected.float()).abs() <= ulp).all()


BINARY = {
    "atan2": torch.atan2,
    "copysign": torch.copysign,
    "maximumf": torch.maximum,
    "maxnumf": torch.fmax,
    "minimumf": torch.minimum,
    "minnumf": torch.fmin,
    "powf": lambda x, y: x.abs().pow(y),
}


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_operands(name):
    function = getattr(fx, name)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        i = fx.thread_idx.x
        a = fx.absf(x[i]) if name == "powf" else x[i]
        z[i] = function(a, y[i])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        kernel(x, y, z).launch(block=(64,))

    x, y, z = torch.linspace(-4, 4, 64), torch.linspace(3, -2, 64), torch.zeros(64)
    if name.startswith(("max", "min")):
        x[3] = y[5] = float("nan")
    launch(x, y, z)
    expected = BINARY[name](x.double(), y.double())
    assert torch.allclose(z.double(), expected, rtol=1e-5, atol=1e-6, equal_nan=True)


def test_clamp_multiply_add_and_powers_of_integers():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        y[i] = fx.clampf(x[i], -1.5, 0.75)
        y[64 + i] = fx.fma(x[i], x[i], -1.0)
        y[128 + i] = fx.fpowi(x[i], fx.Int32(3))
        y[192 + i] = fx.ipowi(fx.Int32(i), fx.Int32(2)).to(fx.Float32)
        lanes = fx.clampf(fx.full(4, x[i], fx.Float32), 0.0, 1.0)
        y[256 + i] = lanes[3]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(block=(64,))

    x, y = torch.linspace(-4, 4, 64), torch.zeros(5 * 64)
    launch(x, y)
    found = y.reshape(5, 64)
    expected = (x.clamp(-1.5, 0.75), x * x - 1, x**3, torch.arange(64.0) ** 2, x.clamp(0, 1))
    for got, wanted in zip(found, expected, strict=True):
        assert torch.allclose(got, wanted, rtol=1e-6, atol=1e-6)


def powers(kind):
    """Run `a ** b` for every pair of some bases and exponents of a type, by the operator and with known exponents."""
    bases, exponents = [0, 1, -1, 2, -3, 7, 100, -128], [0, 1, 2, 3, 5, 31, 7, 64, -1, -2]
    if not kind.signed:
        bases, exponents = [abs(one) for one in bases], [abs(one) for one in exponents]
    known = [0, 1, 2, 3, 10] + ([-1, -2] if kind.signed else [])

    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        base = kind(x[i])
        for j in fx.range_constexpr(len(exponents)):
            y[i, j] = fx.Int64(base ** kind(n[j]))
        for j in fx.range_constexpr(len(known)):
            y[i, len(exponents) + j] = fx.Int64(base ** kind(known[j]))
        y[i, len(exponents) + len(known)] = fx.Int64((fx.full(4, base, kind) ** fx.full(4, kind(n[3]), kind))[2])

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Tensor, y: fx.Tensor):
        kernel(x, n, y).launch(block=(len(bases),))

    found = torch.zeros(len(bases), len(exponents) + len(known) + 1, dtype=torch.int64)
    launch(torch.tensor(bases), torch.tensor(exponents), found)
    return bases, [*exponents, *known, exponents[3]], found.tolist()


def power(base, exponent, kind):
    """The definition: modulo 2^width, and what integer division makes of a negative exponent."""
    if exponent >= 0:
        value = pow(base, exponent, 1 << kind.width)
    else:
        value = {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
    return kind(value).value


@pytest.mark.parametrize("kind", [fx.Int32, fx.Int64, fx.Int8, fx.Uint32], ids=lambda one: one.__name__)
def test_powers_of_integers(kind):
    bases, exponents, found = powers(kind)
    assert found == [[power(base, exponent, kind) for exponent in exponents] for base in bases]

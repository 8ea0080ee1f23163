# SPDX-License-Identifier: Apache-2.0
"""Scalar operators when they run, against Python and torch."""

import operator

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

INTS = [-7, -1, 0, 1, 2, 3, 7, 100, -(2**31), 2**31 - 1]
DIVISORS = [3, -3, 7, 1, -1, 2, 5, -2, 3, 10]


def run_binary(op, a, b, out_dtype):
    """Return op(a[i], b[i]) for each i, one thread per element."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        i = fx.thread_idx.x
        z[i] = op(x[i], y[i])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor, n: fx.Constexpr[int]):
        kernel(x, y, z).launch(grid=(1,), block=(n,))

    out = torch.empty(len(a), dtype=out_dtype)
    launch(a, b, out, len(a))
    return out


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        (lambda a, b: a + b, lambda a, b: wrapped(a + b)),
        (lambda a, b: a - b, lambda a, b: wrapped(a - b)),
        (lambda a, b: a * b, lambda a, b: wrapped(a * b)),
        (lambda a, b: a // b, lambda a, b: wrapped(a // b)),
        (lambda a, b: a % b, lambda a, b: a % b),
        (lambda a, b: fx.max(a, b), max),
        (lambda a, b: fx.min(a, b), min),
        (lambda a, b: (a < b).select(a, b), min),
        (lambda a, b: a & b, lambda a, b: a & b),
        (lambda a, b: a ^ b, lambda a, b: a ^ b),
        (lambda a, b: a >> (b & 31), lambda a, b: a >> (b & 31)),
        (lambda a, b: abs(b), lambda a, b: abs(b)),
        (lambda a, b: -b, lambda a, b: -b),
        (lambda a, b: ~b, lambda a, b: ~b),
        (lambda a, b: fx.ceildiv(a, b), lambda a, b: wrapped(-(-a // b))),
    ],
    ids=[
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "max",
        "min",
        "select",
        "and",
        "xor",
        "shr",
        "abs",
        "neg",
        "invert",
        "ceildiv",
    ],
)
def test_integers(op, reference):
    result = run_binary(
        op, torch.tensor(INTS, dtype=torch.int32), torch.tensor(DIVISORS, dtype=torch.int32), torch.int32
    )
    pairs = [(a, b, r) for a, b, r in zip(INTS, DIVISORS, result.tolist(), strict=True) if (a, b) != (-(2**31), -1)]
    assert [r for *_, r in pairs] == [reference(a, b) for a, b, _ in pairs]


def test_unsigned_division_and_comparison():
    a = torch.tensor([-1, 5, -2, 0], dtype=torch.int32)
    b = torch.tensor([2, 3, 7, 1], dtype=torch.int32)
    quotient = run_binary(
        lambda x, y: (x.bitcast(fx.Uint32) // y.bitcast(fx.Uint32)).bitcast(fx.Int32), a, b, torch.int32
    )
    assert quotient.tolist() == [(2**32 - 1) // 2, 1, (2**32 - 2) // 7, 0]
    less = run_binary(lambda x, y: (x.bitcast(fx.Uint32) < y.bitcast(fx.Uint32)).to(fx.Int32), a, b, torch.int32)
    assert less.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_floats(dtype):
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(64, generator=generator).to(dtype) for _ in range(2))
    assert torch.equal(run_binary(operator.add, a, b, dtype), (a.float() + b.float()).to(dtype))
    assert torch.equal(run_binary(operator.sub, a, b, dtype), (a.float() - b.float()).to(dtype))
    assert torch.equal(run_binary(operator.mul, a, b, dtype), (a.float() * b.float()).to(dtype))
    assert torch.equal(run_binary(lambda x, y: abs(x), a, b, dtype), a.abs())
    assert torch.equal(run_binary(lambda x, y: fx.max(x, y), a, b, dtype), torch.maximum(a, b))
    assert torch.equal(run_binary(lambda x, y: (x < y).to(fx.Int32), a, b, torch.int32), (a < b).int())


def test_float_corner_cases():
    nan, inf = float("nan"), float("inf")
    a = torch.tensor([nan, 1.0, nan, inf, -0.0, 5.5, -5.5])
    b = torch.tensor([1.0, nan, nan, -inf, 0.0, 2.0, 2.0])
    larger = run_binary(lambda x, y: fx.maximumf(x, y), a, b, torch.float32)
    assert torch.equal(larger.isnan(), torch.maximum(a, b).isnan())
    number = run_binary(lambda x, y: fx.maxnumf(x, y), a, b, torch.float32)
    assert number[:2].tolist() == [1.0, 1.0]
    assert number[2].isnan()
    assert run_binary(lambda x, y: (x != y).to(fx.Int32), a, b, torch.int32).tolist() == [1, 1, 1, 1, 0, 1, 1]
    assert run_binary(lambda x, y: (x == y).to(fx.Int32), a, b, torch.int32).tolist() == [0, 0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize("target", ["Int8", "Uint8", "Int16", "Int32", "Int64", "Float16", "BFloat16", "Float64"])
def test_conversions(target):
    cls = getattr(fx, target)
    values = torch.tensor([0.0, 1.75, 2.5, 100.0, 3.25])
    result = run_binary(lambda x, y: x.to(cls).to(fx.Float32), values, values, torch.float32)
    expected = values if cls.is_float else values.trunc()
    assert torch.equal(result, expected)


def test_rounding_to_bf16_is_to_nearest_even():
    bits = torch.arange(0x3F800000, 0x3F800000 + 64 * 0x1000, 0x1000, dtype=torch.int32)
    values = bits.view(torch.float32)
    result = run_binary(lambda x, y: x.to(fx.BFloat16), values, values, torch.bfloat16)
    assert torch.equal(result, values.bfloat16())


def test_float_remainder():
    a, b = torch.tensor([5.5, -5.5, 1e30]), torch.tensor([2.0, 2.0, 3.0])
    assert torch.equal(run_binary(lambda x, y: x % y, a, b, torch.float32), torch.remainder(a, b))

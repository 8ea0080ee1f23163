# SPDX-License-Identifier: Apache-2.0
"""Pointwise, gated and reducing kernels against torch in float64, whatever the number of elements."""

import pytest
import torch
import torch.nn.functional as functional
from rows import check, rows

from flydsl.kernels.elementwise.argmax_kernel import build_argmax_module
from flydsl.kernels.elementwise.functions import BINARY, GRADIENTS, UNARY
from flydsl.kernels.elementwise.gated_kernel import build_gated_bwd_module, build_gated_module
from flydsl.kernels.elementwise.pointwise_kernel import (
    build_binary_module,
    build_unary_bwd_module,
    build_unary_module,
)
from flydsl.kernels.elementwise.row_reduce_kernel import build_row_reduce_module

UNARY_REFERENCES = {
    "abs": torch.abs,
    "exp": torch.exp,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "log": torch.log,
    "neg": torch.neg,
    "relu": torch.relu,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "softplus": functional.softplus,
    "sqrt": torch.sqrt,
    "square": torch.square,
    "tanh": torch.tanh,
}
BINARY_REFERENCES = {
    "add": torch.add,
    "div": torch.div,
    "max": torch.maximum,
    "min": torch.minimum,
    "mul": torch.mul,
    "sub": torch.sub,
}


POSITIVE = {"log", "rsqrt", "sqrt"}  # what takes positive numbers only


def flat(count, dtype, seed=0):
    return rows(1, count, dtype, seed=seed, scale=3.0)[0]


def test_every_function_has_a_reference():
    assert UNARY.keys() == UNARY_REFERENCES.keys() == GRADIENTS.keys()
    assert BINARY.keys() == BINARY_REFERENCES.keys()


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_unary(name, dtype, run):
    x = flat(2051, dtype)
    x = x.abs() + 0.125 if name in POSITIVE else x
    y = run.empty(x)
    run(build_unary_module(name, dtype), x, y, x.numel(), writes=[y], seeds=[0])
    check(y, UNARY_REFERENCES[name](x.double()), dtype, slack=2.0)


@pytest.mark.parametrize("name", GRADIENTS)
def test_unary_backward(name, run):
    """Against autograd in float64, at the places where functions bend too."""
    x, dy = flat(2051, "f32"), flat(2051, "f32", seed=1)
    x[:4] = torch.tensor([0.0, -0.0, 30.0, -30.0])
    x = x.abs().clamp_max(10.0) + 0.125 if name in POSITIVE else x.clamp(-10.0, 10.0) if name == "exp" else x
    dx, exact = run.empty(x), x.double().requires_grad_()
    run(build_unary_bwd_module(name, "f32"), dy, x, dx, x.numel(), writes=[dx], seeds=[0])
    UNARY_REFERENCES[name](exact).backward(dy.double())
    check(dx, exact.grad, "f32", slack=4.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name, run):
    x, y = flat(1029, "f16"), flat(1029, "f16", seed=1)
    y[y.abs() < 0.1] = 0.5
    z = run.empty(x)
    run(build_binary_module(name, "f16"), x, y, z, x.numel(), writes=[z], seeds=[0])
    check(z, BINARY_REFERENCES[name](x.double(), y.double()), "f16")


@pytest.mark.parametrize("count", [0, 1, 7, 8, 4096, 8192, 8199, 20011])
def test_any_number_of_elements(count, run):
    """One kernel, run-time counts; what lies behind the last element stays."""
    x = flat(count + 9, "bf16")
    y = run.empty(x)
    run(build_unary_module("relu", "bf16"), x, y, count, writes=[y])
    assert torch.equal(y[:count], x[:count].relu())
    assert y[count:].isnan().all()


def test_nan_passes_through(run):
    x = torch.tensor([float("nan"), -1.0, 1.0])
    y = run.empty(x)
    for name in ("relu", "silu", "gelu", "tanh", "abs"):
        run(build_unary_module(name, "f32"), x, y, 3, writes=[y], seeds=[0])
        assert y.isnan().tolist() == [True, False, False], name


@pytest.mark.parametrize(("m", "n", "dtype"), [(3, 512, "bf16"), (1, 1, "f32"), (2, 1003, "f16"), (2, 70001, "f32")])
def test_gated(m, n, dtype, run):
    x = rows(m, 2 * n, dtype, scale=2.0)
    y = run.empty(x, (m, n))
    run(build_gated_module(n, dtype, "silu"), x, y, m, writes=[y])
    check(y, functional.silu(x.double()[:, :n]) * x.double()[:, n:], dtype, slack=4.0)


@pytest.mark.parametrize("activation", ["silu", "gelu"])
@pytest.mark.parametrize(("m", "n", "dtype"), [(3, 512, "bf16"), (1, 1, "f32"), (2, 1003, "f16"), (2, 70001, "f32")])
def test_gated_backward(m, n, dtype, activation, run):
    x, dy = rows(m, 2 * n, dtype, scale=2.0), rows(m, n, dtype, seed=1)
    dx, exact = run.empty(x), x.double().requires_grad_()
    run(build_gated_bwd_module(n, dtype, activation), dy, x, dx, m, writes=[dx])
    (UNARY_REFERENCES[activation](exact[:, :n]) * exact[:, n:]).backward(dy.double())
    check(dx, exact.grad, dtype, slack=4.0)


@pytest.mark.parametrize("operation", ["sum", "mean", "max"])
@pytest.mark.parametrize(("m", "n", "dtype"), [(9, 127, "bf16"), (1, 1, "f32"), (3, 5003, "f16"), (2, 70001, "f32")])
def test_row_reductions(operation, m, n, dtype, run):
    x = rows(m, n, dtype)
    y = run.empty(x, (m,), torch.float32)
    run(build_row_reduce_module(n, dtype, operation, "f32"), x, y, m, writes=[y])
    expected = x.double().amax(-1) if operation == "max" else getattr(x.double(), operation)(-1)
    scale = {"sum": x.double().abs().sum(-1), "mean": x.double().abs().mean(-1), "max": expected.abs()}[operation]
    assert ((y.double() - expected).abs() <= 2.0**-21 * scale).all()


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize(("m", "n", "dtype"), [(9, 127, "bf16"), (1, 1, "f32"), (3, 5003, "f16"), (2, 70001, "f32")])
def test_argmax(m, n, dtype, index, run):
    """16-bit rows have many equal maxima: the first one counts."""
    x = rows(m, n, dtype).round()
    found = run.empty(x, (m,), index)
    run(build_argmax_module(n, dtype), x, found, m, writes=[found])
    first = (x == x.amax(-1, keepdim=True)).int().argmax(-1)
    assert torch.equal(found.long(), first)


def test_argmax_of_rows_of_one_value(run):
    x = torch.full((2, 100), float("-inf"))
    found = run.empty(x, (2,), torch.int32)
    run(build_argmax_module(100, "f32"), x, found, 2, writes=[found])
    assert (found == 0).all()


def test_refusals():
    with pytest.raises(ValueError, match="function 'sinh' is not known; use one of abs, exp"):
        build_unary_module("sinh")
    with pytest.raises(ValueError, match="operation 'prod' is not known"):
        build_row_reduce_module(8, "f32", "prod")
    for build in (build_gated_module, build_row_reduce_module, build_argmax_module):
        with pytest.raises(ValueError, match="N must be a positive integer"):
            build(0, "f32")

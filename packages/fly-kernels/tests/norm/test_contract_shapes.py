# SPDX-License-Identifier: Apache-2.0
"""The shapes that the library promises, with as many rows as an emulated device is worth waiting for."""

import pytest
import torch
from rows import DTYPES, check, layernorm, rmsnorm, row, rows

from flydsl.kernels.norm.layernorm_kernel import build_layernorm_bwd_module, build_layernorm_module
from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_module, build_rmsnorm_bwd_two_stage_module
from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module

pytestmark = pytest.mark.slow

FORWARD = [
    (64, 256, "f32"),
    (128, 1024, "f32"),
    (32, 128, "f16"),
    (64, 2000, "f32"),
    (16, 512, "bf16"),
    (64, 8192, "bf16"),
]
# A quarter of the contract's rows, but for the fourth.
BACKWARD = [(128, 4096, "f16"), (129, 5000, "bf16"), (129, 4097, "bf16"), (64, 3000, "f32"), (385, 3001, "f32")]


@pytest.mark.parametrize(("m", "n", "dtype"), FORWARD)
def test_forward(m, n, dtype, run):
    x, gamma, beta = rows(m, n, dtype), row(n, dtype), row(n, dtype, seed=2)
    y = run.empty(x)
    run(build_softmax_module(n, dtype), x, y, m, writes=[y])
    check(y, torch.softmax(x.double(), -1), dtype)
    run(build_rmsnorm_module(n, dtype), x, gamma, y, m, writes=[y])
    check(y, rmsnorm(x, gamma)[0], dtype)
    run(build_layernorm_module(n, dtype), x, gamma, beta, y, m, writes=[y])
    check(y, layernorm(x, gamma, beta)[0], dtype)


@pytest.mark.parametrize(("m", "n", "dtype"), [(64, 256, "f32"), (256, 8192, "bf16"), (16, 65536, "f32")])
def test_softmax_backward(m, n, dtype, run):
    dy, y = rows(m, n, dtype), torch.softmax(rows(m, n, "f32", seed=1), -1).to(DTYPES[dtype])
    dx = run.empty(y)
    run(build_softmax_bwd_module(n, dtype), dy, y, dx, m, writes=[dx])
    check(dx, y.double() * (dy.double() - (dy.double() * y.double()).sum(-1, keepdim=True)), dtype, slack=4.0)


@pytest.mark.parametrize(("m", "n", "dtype"), BACKWARD)
def test_norm_backward(m, n, dtype, run):
    x, gamma, beta, dy = rows(m, n, dtype), row(n, dtype), row(n, dtype, seed=2), rows(m, n, dtype, seed=1)
    xd, gd, bd = (one.double().requires_grad_() for one in (x, gamma, beta))
    y, rstd = rmsnorm(xd, gd)
    y.backward(dy.double())
    rstd = rstd.detach().float()
    dx, dw, partial = run.empty(x), torch.zeros(n), run.empty(x, (64 * n,), torch.float32)
    kernel = build_rmsnorm_bwd_module(n, dtype)
    run(kernel, x, gamma, dy, rstd, dx, dw, m, writes=[dx], updates=[dw], same_bits=False, seeds=[7])
    check(dx, xd.grad, dtype, slack=4.0)
    check(dw, gd.grad, "f32", slack=float(m))
    kernel = build_rmsnorm_bwd_two_stage_module(n, dtype, 64)
    run(kernel, x, gamma, dy, rstd, dx, dw, partial, m, writes=[dx, dw, partial], seeds=[0, 7])
    check(dx, xd.grad, dtype, slack=4.0)
    check(dw, gd.grad, "f32", slack=float(m))
    xd.grad = gd.grad = None
    y, mean, rstd = layernorm(xd, gd, bd)
    y.backward(dy.double())
    dgamma, dbeta = torch.zeros(n), torch.zeros(n)
    arguments = (x, gamma, dy, mean.detach().float(), rstd.detach().float(), dx, dgamma, dbeta, m)
    kernel = build_layernorm_bwd_module(n, dtype)
    run(kernel, *arguments, writes=[dx], updates=[dgamma, dbeta], same_bits=False, seeds=[7])
    check(dx, xd.grad, dtype, slack=8.0)
    check(dgamma, gd.grad, "f32", slack=float(m))
    check(dbeta, bd.grad, "f32", slack=float(m))

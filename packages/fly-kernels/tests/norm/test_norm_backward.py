# SPDX-License-Identifier: Apache-2.0
"""Backward of the norms against float64 autograd: by atomics, and in two stages with the same bits every time."""

from functools import partial

import pytest
import torch
from rows import check, layernorm, rmsnorm, row, rows

from flydsl.kernels.common.rows import RowConfig, plan_rows, row_config
from flydsl.kernels.norm.layernorm_kernel import build_fused_add_layernorm_bwd_module, build_layernorm_bwd_module
from flydsl.kernels.norm.lds_sums import lds_sums
from flydsl.kernels.norm.rmsnorm_bwd_kernel import (
    build_fused_add_rmsnorm_bwd_module,
    build_fused_add_rmsnorm_bwd_two_stage_module,
    build_rmsnorm_bwd_module,
    build_rmsnorm_bwd_two_stage_module,
    is_rmsnorm_bwd_two_stage_vec_config,
)

# The contract's shapes with fewer rows; 20,001 does not fit the registers.
SHAPES = [
    (3, 4096, "f16"),
    (3, 5000, "bf16"),
    (2, 4097, "bf16"),
    (4, 3000, "f32"),
    (5, 301, "f32"),
    (1, 7, "f16"),
    (2, 20001, "f32"),
]


def gradients(m, n, dtype):
    """x, gamma, dy, rstd; dx and dgamma in float64."""
    x, gamma, dy = rows(m, n, dtype), row(n, dtype), rows(m, n, dtype, seed=1)
    xd, gd = x.double().requires_grad_(), gamma.double().requires_grad_()
    y, rstd = rmsnorm(xd, gd)
    y.backward(dy.double())
    return x, gamma, dy, rstd.detach().float(), xd.grad, gd.grad


def check_weight_gradient(got, expected, m):
    """A sum of m products, in f32."""
    allowed = (m + 8) * 2.0**-23 * expected.abs().max()
    assert (got.double() - expected).abs().max() <= allowed


@pytest.mark.parametrize(("m", "n", "dtype"), SHAPES)
def test_rmsnorm_atomic(m, n, dtype, run):
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(m, n, dtype)
    dx, dw = run.empty(x), torch.zeros(n)
    kernel = build_rmsnorm_bwd_module(n, dtype)
    run(kernel, x, gamma, dy, rstd, dx, dw, m, writes=[dx], updates=[dw], same_bits=False)
    check(dx, dx_expected, dtype, slack=4.0)
    check_weight_gradient(dw, dw_expected, m)


@pytest.mark.parametrize(("m", "n", "dtype"), SHAPES)
@pytest.mark.parametrize("programs", [1, 4])
def test_rmsnorm_two_stage(m, n, dtype, programs, run):
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(m, n, dtype)
    dx, dw, partial = run.empty(x), run.empty(x, (n,), torch.float32), run.empty(x, (programs * n,), torch.float32)
    kernel = build_rmsnorm_bwd_two_stage_module(n, dtype, programs)
    run(kernel, x, gamma, dy, rstd, dx, dw, partial, m, writes=[dx, dw, partial])
    check(dx, dx_expected, dtype, slack=4.0)
    check_weight_gradient(dw, dw_expected, m)


@pytest.mark.parametrize(("m", "n", "dtype"), [(3, 1000, "bf16"), (2, 301, "f32"), (2, 20001, "f16")])
@pytest.mark.parametrize("two_stage", [False, True])
def test_fused_add_rmsnorm(m, n, dtype, two_stage, run):
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(m, n, dtype)
    dresidual = rows(m, n, dtype, seed=2)
    dx, dw = run.empty(x), torch.zeros(n)
    if two_stage:
        partial = run.empty(x, (3 * n,), torch.float32)
        kernel = build_fused_add_rmsnorm_bwd_two_stage_module(n, dtype, 3)
        run(kernel, x, gamma, dy, dresidual, rstd, dx, dw, partial, m, writes=[dx, dw, partial])
    else:
        kernel = build_fused_add_rmsnorm_bwd_module(n, dtype)
        run(kernel, x, gamma, dy, dresidual, rstd, dx, dw, m, writes=[dx], updates=[dw], same_bits=False)
    check(dx, dx_expected + dresidual.double(), dtype, slack=4.0)
    check_weight_gradient(dw, dw_expected, m)


def check_layernorm(build, m, n, dtype, run, *dresidual):
    x, gamma, beta, dy = rows(m, n, dtype), row(n, dtype), row(n, dtype, seed=2), rows(m, n, dtype, seed=1)
    xd, gd, bd = (one.double().requires_grad_() for one in (x, gamma, beta))
    y, mean, rstd = layernorm(xd, gd, bd)
    y.backward(dy.double())
    stats = [one.detach().float() for one in (mean, rstd)]
    dx, dgamma, dbeta = run.empty(x), torch.zeros(n), torch.zeros(n)
    tensors = (x, gamma, dy, *dresidual, *stats, dx, dgamma, dbeta)
    run(build(n, dtype), *tensors, m, writes=[dx], updates=[dgamma, dbeta], same_bits=False)
    check(dx, xd.grad + sum(one.double() for one in dresidual), dtype, slack=8.0)
    check_weight_gradient(dgamma, gd.grad, m)
    check_weight_gradient(dbeta, bd.grad, m)


@pytest.mark.parametrize(("m", "n", "dtype"), SHAPES)
def test_layernorm(m, n, dtype, run):
    check_layernorm(build_layernorm_bwd_module, m, n, dtype, run)


@pytest.mark.parametrize(("m", "n", "dtype"), [(3, 1000, "bf16"), (2, 301, "f32"), (2, 20001, "f16")])
def test_fused_add_layernorm(m, n, dtype, run):
    check_layernorm(build_fused_add_layernorm_bwd_module, m, n, dtype, run, rows(m, n, dtype, seed=2))


def test_accumulators_are_added_to(run):
    x, gamma, dy, rstd, _, dw_expected = gradients(4, 64, "f32")
    dx, dw = run.empty(x), torch.full((64,), 3.0)
    kernel = build_rmsnorm_bwd_module(64, "f32")
    run(kernel, x, gamma, dy, rstd, dx, dw, 4, writes=[dx], updates=[dw], same_bits=False)
    assert (dw.double() - 3 - dw_expected).abs().max() <= 1e-5


def test_more_rows_than_workgroups(run, monkeypatch):
    from flydsl.kernels.norm import backward

    monkeypatch.setattr(backward, "programs", lambda plan: 3)
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(20, 200, "bf16")
    dx, dw = run.empty(x), torch.zeros(200)
    kernel = build_rmsnorm_bwd_module(200, "bf16")
    run(kernel, x, gamma, dy, rstd, dx, dw, 20, writes=[dx], updates=[dw], same_bits=False)
    check(dx, dx_expected, "bf16", slack=4.0)
    check_weight_gradient(dw, dw_expected, 20)


def test_weight_in_f32(run):
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(3, 200, "bf16")
    dx, dw = run.empty(x), torch.zeros(200)
    kernel = build_rmsnorm_bwd_module(200, "bf16", "f32")
    run(kernel, x, gamma.float(), dy, rstd, dx, dw, 3, writes=[dx], updates=[dw], same_bits=False)
    check(dx, dx_expected, "bf16", slack=4.0)
    check_weight_gradient(dw, dw_expected, 3)


def test_the_rule_of_the_contract():
    rule = is_rmsnorm_bwd_two_stage_vec_config
    assert rule(4096, "bf16")
    assert not rule(4096, "f32")
    assert not rule(4097, "bf16")
    assert not rule(2048, "f16")


@pytest.mark.parametrize("programs", [0, -1, True])
def test_programs_must_be_positive(programs):
    with pytest.raises(ValueError, match="num_programs must be a positive integer"):
        build_rmsnorm_bwd_two_stage_module(64, "f32", programs)


# Rows that are held as they were read, with every tail, and rows that are read twice.
SUMS_IN_LDS = [
    (5, 2048, "bf16", RowConfig(elements=16, held=32, single=True, block=128)),
    (3, 1992, "f16", RowConfig(elements=16, held=32, single=True, block=128)),
    (4, 1003, "bf16", RowConfig(elements=16, held=32, single=True, block=64)),
    (3, 778, "f32", RowConfig(elements=16, held=32, single=True, block=64)),
    (5, 3000, "bf16", RowConfig(elements=1, held=1, unroll=2, single=True, streaming=128)),
    (3, 2051, "f32", RowConfig(elements=1, held=1, unroll=1, single=True, streaming=64)),
]


@pytest.fixture
def sums_in_lds(monkeypatch):
    """The device of the tests has sums in LDS, as Hopper does for long rows; three workgroups at most."""
    from flydsl.kernels.norm import backward

    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    monkeypatch.setattr(backward, "lds_sums", lambda *args, **how: True)
    monkeypatch.setattr(backward, "programs", lambda plan: 3)


@pytest.mark.parametrize(("m", "n", "dtype", "config"), SUMS_IN_LDS)
@pytest.mark.parametrize("weight_dtype", [None, "f32"])
def test_sums_in_lds(m, n, dtype, config, weight_dtype, sums_in_lds, run):
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(m, n, dtype)
    dresidual, dx, dw = rows(m, n, dtype, seed=2), run.empty(x), torch.zeros(n)
    gamma = gamma if weight_dtype is None else gamma.float()
    kernel = build_fused_add_rmsnorm_bwd_module(n, dtype, weight_dtype, config=config)
    run(kernel, x, gamma, dy, dresidual, rstd, dx, dw, m, writes=[dx], updates=[dw], same_bits=False)
    check(dx, dx_expected + dresidual.double(), dtype, slack=4.0)
    check_weight_gradient(dw, dw_expected, m)


@pytest.mark.parametrize(("m", "n", "dtype", "config"), SUMS_IN_LDS)
def test_two_sums_in_lds(m, n, dtype, config, sums_in_lds, run):
    check_layernorm(partial(build_layernorm_bwd_module, config=config), m, n, dtype, run)


@pytest.mark.parametrize(("m", "n", "dtype", "config"), SUMS_IN_LDS)
def test_sums_in_lds_of_more_workgroups_than_rows(m, n, dtype, config, sums_in_lds, run):
    """One that has no row stores zeros."""
    x, gamma, dy, rstd, dx_expected, dw_expected = gradients(m, n, dtype)
    dx, dw, parts = run.empty(x), run.empty(x, (n,), torch.float32), run.empty(x, (7 * n,), torch.float32)
    kernel = build_rmsnorm_bwd_two_stage_module(n, dtype, 7, config=config)
    run(kernel, x, gamma, dy, rstd, dx, dw, parts, m, writes=[dx, dw, parts])
    check(dx, dx_expected, dtype, slack=4.0)
    check_weight_gradient(dw, dw_expected, m)


@pytest.mark.once
@pytest.mark.parametrize(
    ("columns", "bits", "threads", "of_one", "of_two", "of_two_and_residual"),
    [
        (4096, 16, 256, False, False, False),
        (8192, 16, 512, False, False, True),
        (8193, 16, 512, True, True, True),
        (16384, 32, 512, True, True, True),
        (20480, 16, 512, True, True, True),
        (32768, 16, 512, True, False, False),
        (65536, 16, 512, False, False, False),
    ],
)
def test_which_sums_are_in_lds(columns, bits, threads, of_one, of_two, of_two_and_residual, monkeypatch):
    def plan_and_sums():
        plan = plan_rows(columns, bits, row_config("norm_bwd", columns, bits))
        kinds = ((1, False), (2, False), (2, True))
        return plan.threads, [lds_sums(plan, count, residual=residual) for count, residual in kinds]

    assert plan_and_sums()[1] == [False] * 3
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    assert plan_and_sums() == (threads, [of_one, of_two, of_two_and_residual])

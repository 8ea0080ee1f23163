# SPDX-License-Identifier: Apache-2.0
"""LayerNorm forward against float64, alone and behind a residual addition."""

import pytest
import torch
from rows import check, layernorm, row, rows

from flydsl.kernels.norm.layernorm_kernel import build_fused_add_layernorm_module, build_layernorm_module

SHAPES = [
    (5, 256, "f32"),
    (9, 128, "f16"),
    (3, 512, "bf16"),
    (2, 8192, "bf16"),
    (1, 1, "f32"),
    (1, 7, "bf16"),
    (11, 257, "f32"),
    (2, 4097, "bf16"),
    (2, 1021, "f16"),
    (2, 40961, "f32"),
    (1, 65536, "bf16"),
]


@pytest.mark.parametrize(("m", "n", "dtype"), SHAPES)
def test_forward(m, n, dtype, run):
    x, gamma, beta = rows(m, n, dtype), row(n, dtype), row(n, dtype, seed=2)
    y = run.empty(x)
    mean, rstd = (run.empty(x, (m,), torch.float32) for _ in range(2))
    kernel = build_layernorm_module(n, dtype, store_stats=True)
    run(kernel, x, gamma, beta, y, mean, rstd, m, writes=[y, mean, rstd])
    expected, expected_mean, expected_rstd = layernorm(x, gamma, beta)
    check(y, expected, dtype)
    check(mean, expected_mean, "f32", slack=4.0)
    check(rstd, expected_rstd, "f32")


@pytest.mark.parametrize("n", [1000, 41000])
def test_a_large_mean_costs_no_accuracy(n, run):
    """The variance is that of the differences: one pass over squares would have lost all of it."""
    x = rows(2, n, "f32") + 4096.0
    gamma, beta = row(n, "f32"), torch.zeros(n)
    y = run.empty(x)
    run(build_layernorm_module(n, "f32"), x, gamma, beta, y, 2, writes=[y])
    error = (y.double() - layernorm(x, gamma, beta)[0]).abs().max()
    assert error <= 4 * 4096 * 2.0**-24, error  # the mean itself is rounded at 2^-24 of 4096


@pytest.mark.parametrize(
    ("m", "n", "dtype"), [(3, 512, "bf16"), (2, 1021, "f16"), (2, 3001, "f32"), (1, 50000, "bf16")]
)
def test_behind_a_residual_addition(m, n, dtype, run):
    x, residual = rows(m, n, dtype), rows(m, n, dtype, seed=1)
    gamma, beta = row(n, dtype), row(n, dtype, seed=2)
    y, added = run.empty(x), run.empty(x)
    kernel = build_fused_add_layernorm_module(n, dtype)
    run(kernel, x, residual, gamma, beta, y, added, m, writes=[y, added])
    assert torch.equal(added, (x.double() + residual.double()).to(x.dtype))
    check(y, layernorm(added, gamma, beta)[0], dtype)


def test_constant_rows_give_the_bias(run):
    x, gamma, beta = torch.full((2, 1000), 7.0), row(1000, "f32"), row(1000, "f32", seed=2)
    y = run.empty(x)
    run(build_layernorm_module(1000, "f32"), x, gamma, beta, y, 2, writes=[y])
    assert (y - beta).abs().max() <= 1e-3  # the rounded mean over sqrt(eps)


def test_the_older_name_and_signature(run):
    from flydsl.kernels.layernorm_kernel import build_layernorm_module as older

    x, gamma, beta = rows(2, 96, "f32"), row(96, "f32"), row(96, "f32", seed=2)
    y = run.empty(x)
    run(older(2, 96, "f32"), x, gamma, beta, y, 2, writes=[y])
    check(y, layernorm(x, gamma, beta)[0], "f32")


def test_refusals():
    with pytest.raises(ValueError, match="N must be a positive integer"):
        build_layernorm_module(-1, "f32")
    with pytest.raises(ValueError, match="'f64' is not supported"):
        build_layernorm_module(8, "f64")

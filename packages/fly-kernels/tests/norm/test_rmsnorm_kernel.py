# SPDX-License-Identifier: Apache-2.0
"""RMSNorm forward against float64, alone and behind a residual addition."""

import pytest
import torch
from rows import check, rmsnorm, row, rows

from flydsl.kernels.norm import forward
from flydsl.kernels.norm.rmsnorm_kernel import build_fused_add_rmsnorm_module, build_rmsnorm_module

# The contract's shapes with fewer rows; one row; primes; one more than a tile; rows of one element.
SHAPES = [
    (5, 256, "f32"),
    (9, 128, "f16"),
    (3, 2000, "f32"),
    (3, 512, "bf16"),
    (2, 8192, "bf16"),
    (1, 1, "f32"),
    (1, 7, "bf16"),
    (11, 257, "f32"),
    (2, 8193, "f32"),
    (3, 4097, "bf16"),
    (2, 1021, "f16"),
]
LONG = [(2, 40961, "f32"), (1, 65536, "bf16")]


@pytest.mark.parametrize(("m", "n", "dtype"), [*SHAPES, *LONG])
def test_forward(m, n, dtype, run):
    x, gamma = rows(m, n, dtype), row(n, dtype)
    y, rstd = run.empty(x), run.empty(x, (m,), torch.float32)
    run(build_rmsnorm_module(n, dtype, store_rstd=True), x, gamma, y, rstd, m, writes=[y, rstd])
    expected, expected_rstd = rmsnorm(x, gamma)
    check(y, expected, dtype)
    check(rstd, expected_rstd, "f32")


@pytest.mark.parametrize(
    ("m", "n", "dtype"), [(3, 512, "bf16"), (2, 1021, "f16"), (2, 3001, "f32"), (1, 50000, "bf16")]
)
def test_behind_a_residual_addition(m, n, dtype, run):
    x, residual, gamma = rows(m, n, dtype), rows(m, n, dtype, seed=1), row(n, dtype)
    y, added, rstd = run.empty(x), run.empty(x), run.empty(x, (m,), torch.float32)
    kernel = build_fused_add_rmsnorm_module(n, dtype, store_rstd=True)
    run(kernel, x, residual, gamma, y, added, rstd, m, writes=[y, added, rstd])
    assert torch.equal(added, (x.double() + residual.double()).to(x.dtype))
    expected, expected_rstd = rmsnorm(added, gamma)
    check(y, expected, dtype)
    check(rstd, expected_rstd, "f32")


def test_the_residual_may_be_updated_in_place(run):
    x, residual, gamma = rows(3, 300, "f16"), rows(3, 300, "f16", seed=1), row(300, "f16")
    expected = (x.double() + residual.double()).half()
    y = run.empty(x)
    kernel = build_fused_add_rmsnorm_module(300, "f16")
    run(kernel, x, residual, gamma, y, residual, 3, writes=[y], updates=[residual])
    assert torch.equal(residual, expected)
    check(y, rmsnorm(expected, gamma)[0], "f16")


def test_many_rows_take_turns(run, monkeypatch):
    """More rows than workgroups: a workgroup handles several, one after the other."""
    from flydsl.kernels.norm import forward

    monkeypatch.setattr(forward, "programs", lambda plan: 2)
    for n in (100, 1000, 9000):
        x, gamma = rows(37, n, "bf16"), row(n, "bf16")
        y = run.empty(x)
        run(build_rmsnorm_module(n, "bf16"), x, gamma, y, 37, writes=[y])
        check(y, rmsnorm(x, gamma)[0], "bf16")


@pytest.mark.parametrize("weight_dtype", ["f32", "bf16"])
def test_weight_in_f32_or_in_the_rows_dtype(weight_dtype, run):
    x, gamma = rows(4, 640, "bf16"), row(640, weight_dtype)
    y = run.empty(x)
    run(build_rmsnorm_module(640, "bf16", weight_dtype_str=weight_dtype), x, gamma, y, 4, writes=[y])
    check(y, rmsnorm(x, gamma)[0], "bf16")


@pytest.mark.parametrize("threads", [64, 128, 512, 1024])
def test_other_workgroups(threads, run):
    x, gamma = rows(3, 4100, "bf16"), row(4100, "bf16")
    y = run.empty(x)
    run(build_rmsnorm_module(4100, "bf16", BLOCK_THREADS=threads), x, gamma, y, 3, writes=[y])
    check(y, rmsnorm(x, gamma)[0], "bf16")


def test_eps_and_rows_of_zeros(run):
    x, gamma = torch.zeros(2, 96), row(96, "f32")
    x[1] = 1e-3
    y = run.empty(x)
    run(build_rmsnorm_module(96, "f32", eps=1e-2), x, gamma, y, 2, writes=[y])
    assert (y[0] == 0).all()
    check(y, rmsnorm(x, gamma, 1e-2)[0], "f32")


def test_nan_stays_in_its_row(run):
    x, gamma = rows(3, 1024, "bf16"), row(1024, "bf16")
    x[1, 5] = float("nan")
    y = run.empty(x)
    run(build_rmsnorm_module(1024, "bf16"), x, gamma, y, 3, writes=[y])
    assert y[1].isnan().all()
    check(y[[0, 2]], rmsnorm(x, gamma)[0][[0, 2]], "bf16")


def test_rows_with_a_stride_and_rows_that_are_not_asked_for(run):
    storage = rows(6, 600, "f16")
    x, gamma = storage[1:5, 16:416], row(400, "f16")
    y = run.empty(x, (4, 512))[:, 8:408]
    run(build_rmsnorm_module(400, "f16"), x, gamma, y, 3, writes=[y])
    check(y[:3], rmsnorm(x, gamma)[0][:3], "f16")
    assert y[3].isnan().all()


def test_no_rows(run):
    x, gamma = torch.empty(0, 64), row(64, "f32")
    run(build_rmsnorm_module(64, "f32"), x, gamma, torch.empty(0, 64), 0, writes=[])


def test_the_older_name_and_signature(run):
    from flydsl.kernels.rmsnorm_kernel import build_rmsnorm_module as older

    x, gamma = rows(2, 96, "f32"), row(96, "f32")
    y = run.empty(x)
    run(older(2, 96, "f32"), x, gamma, y, 2, writes=[y])
    check(y, rmsnorm(x, gamma)[0], "f32")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, "f32"), "N must be a positive integer"),
        ((True, "f32"), "N must be a positive integer"),
        ((64, "f64"), "'f64' is not supported; use one of f32, f16, bf16"),
    ],
)
def test_refused_shapes_and_types(arguments, said):
    with pytest.raises(ValueError, match=said):
        build_rmsnorm_module(*arguments)


def test_refused_weights_and_threads():
    with pytest.raises(ValueError, match="weight_dtype_str 'f16' is neither"):
        build_rmsnorm_module(64, "bf16", weight_dtype_str="f16")
    with pytest.raises(ValueError, match="BLOCK_THREADS must be"):
        build_rmsnorm_module(64, "bf16", BLOCK_THREADS=96)


def test_refused_arguments_are_named(run):
    x, gamma = rows(2, 64, "f32"), row(64, "f32")
    kernel = build_rmsnorm_module(64, "f32")
    with pytest.raises(TypeError, match="argument 'Gamma': expected Float32, got Float16"):
        kernel(x, gamma.half(), torch.empty_like(x), 2)
    with pytest.raises(ValueError, match="argument 'Input': the elements of a row must be neighbours"):
        kernel(x.t().contiguous().t(), gamma, torch.empty_like(x), 2)


@pytest.mark.parametrize(("m", "most", "grid"), [(7, 5, 4), (10, 5, 5), (11, 5, 4), (4, 5, 4), (1, 5, 1), (12, 1, 1)])
def test_workgroups_take_as_many_rows_as_others(run, counters, emulator, monkeypatch, m, most, grid):
    monkeypatch.setattr(forward, "programs", lambda plan: most)
    x, gamma = rows(m, 2048, "bf16"), row(2048, "bf16")
    y, kernel = run.empty(x), build_rmsnorm_module(2048, "bf16")
    run(kernel, x, gamma, y, m, writes=[y])
    check(y, rmsnorm(x, gamma)[0], "bf16")
    assert counters(kernel, x, gamma, y, m)["grid"][0] == grid


def test_no_rows_no_workgroups(run):
    gamma = row(2048, "bf16")
    x = torch.empty(0, 2048, dtype=torch.bfloat16)
    build_rmsnorm_module(2048, "bf16")(x, gamma, torch.empty_like(x), 0)

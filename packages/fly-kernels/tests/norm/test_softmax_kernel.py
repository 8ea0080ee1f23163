# SPDX-License-Identifier: Apache-2.0
"""Softmax over rows against float64, on the emulated device of the process (FLYDSL_GPU_ARCH)."""

import math

import pytest
import torch

from flydsl.kernels.softmax_kernel import build_softmax_module

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# Absolute, for values in [0, 1]: a few units of the last place of f32; half a unit of the 16-bit types at 1, doubled.
TOLERANCE = {"f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}
# A row that does not fit registers adds up to 64 groups one after the other, each sum rounded to 2^-24 relative.
STREAMED_TOLERANCE = 64 * 2.0**-24


def reference(x):
    return torch.softmax(x.double(), dim=-1)


@pytest.fixture
def softmax(run):
    """The kernel's result in a buffer that was full of NaN, the same in several orders of waves."""

    def result(x, dtype, rows=None):
        y = run.empty(x)
        rows = x.shape[0] if rows is None else rows
        run(build_softmax_module(x.shape[0], x.shape[1], dtype), x, y, rows, writes=[y])
        return y

    return result


def check(y, x, dtype, tolerance=None):
    error = (y.double() - reference(x)).abs().max().item()
    assert error <= (tolerance or TOLERANCE[dtype]), f"largest error {error}"


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("columns", [1, 7, 255, 256, 257, 2560, 8191])
@pytest.mark.parametrize("seed", [0, 1])
def test_any_number_of_columns(columns, dtype, seed, softmax):
    torch.manual_seed(seed)
    x = (torch.randn(3, columns) * 4).to(DTYPES[dtype])
    check(softmax(x, dtype), x, dtype)


@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (5, 2048), (2, 4100)])
def test_f16(rows, columns, softmax):
    torch.manual_seed(rows)
    x = torch.randn(rows, columns).half()
    check(softmax(x, "f16"), x, "f16")


@pytest.mark.parametrize("columns", [65536, 65537, 131072])  # the first one just fits
def test_row_that_does_not_fit_registers(columns, softmax):
    torch.manual_seed(columns)
    x = torch.randn(2, columns)
    x[:, 0] = 20.0
    check(softmax(x, "f32"), x, "f32", STREAMED_TOLERANCE)


def test_rows_with_a_stride_and_an_offset():
    torch.manual_seed(5)
    storage = torch.randn(6, 300)
    x = storage[1:5, 17:274]
    y = torch.full((4, 512), math.nan)[:, 100:357]
    build_softmax_module(257, "f32")(x, y, 4)
    check(y, x, "f32")


def test_only_the_asked_rows_are_written(softmax):
    x = torch.randn(4, 40)
    y = softmax(x, "f32", rows=2)
    check(y[:2], x[:2], "f32")
    assert y[2:].isnan().all()


def test_infinities_follow_torch(softmax):
    x = torch.tensor([[0.0, -math.inf, 1.0, -math.inf], [-math.inf] * 4])
    y = softmax(x, "f32")
    check(y[:1], x[:1], "f32")
    assert y[1].isnan().all()


def test_no_rows(softmax):
    x = torch.randn(3, 16)
    assert softmax(x, "f32", rows=0).isnan().all()


@pytest.mark.parametrize("columns", [0, -3, True, 2.0])
def test_columns_must_be_a_positive_integer(columns):
    with pytest.raises(ValueError, match="N must be a positive integer"):
        build_softmax_module(8, columns, "f32")


def test_unknown_dtype():
    with pytest.raises(ValueError, match="'f64' is not supported; use one of f32, f16, bf16"):
        build_softmax_module(8, 64, "f64")


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (lambda x, y: (x.int(), y), TypeError, "argument 'A': expected Float32, got Int32"),
        (lambda x, y: (x, y.half()), TypeError, "argument 'C': expected Float32, got Float16"),
        (lambda x, y: (x[0], y), ValueError, "argument 'A': expected 128 elements, got 64"),
        (lambda x, y: (x[None], y), ValueError, "argument 'A': expected rank 2, got rank 3"),
    ],
)
def test_wrong_tensor_names_the_argument_and_the_next_call_works(spoil, error, said):
    softmax = build_softmax_module(2, 64, "f32")
    x, y = torch.randn(2, 64), torch.empty(2, 64)
    with pytest.raises(error, match=said):
        softmax(*spoil(x, y), 2)
    softmax(x, y, 2)
    check(y, x, "f32")

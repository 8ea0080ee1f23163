# SPDX-License-Identifier: Apache-2.0
"""`expect_contiguous`: what is refused while tracing, and at the call."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.contiguous import expect_contiguous


@flyc.kernel
def touch(X: fx.Tensor):
    pass


@flyc.jit
def checked(X: fx.Tensor, count: fx.Int32):
    expect_contiguous("X", X, fx.Float32, count)
    touch(X).launch(grid=(1,), block=(64,))


@pytest.mark.parametrize("shape", [(24,), (4, 6), (2, 3, 4), (2, 1, 12)])
def test_takes_contiguous_tensors_of_any_rank(shape):
    checked(torch.zeros(shape), 24)


def test_a_dimension_of_one_may_have_any_stride():
    checked(torch.zeros(4, 12)[:, :6][:1], 6)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.zeros(4, 12)[:, :6], "'X': must be contiguous, but the stride of dimension 0 is 12 and not 6; copy it"),
        (torch.zeros(6, 4).t(), "'X': must be contiguous, but the stride of dimension 1 is 4 and not 1"),
        (torch.zeros(23), "'X': expected 24 elements, got 23"),
    ],
)
def test_refuses_others(tensor, said):
    with pytest.raises(ValueError, match=said):
        checked(tensor, 24)


def test_refuses_another_type():
    with pytest.raises(TypeError, match="'X': expected Float32, got Float16"):
        checked(torch.zeros(24, dtype=torch.float16), 24)

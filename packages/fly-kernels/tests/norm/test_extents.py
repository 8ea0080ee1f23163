# SPDX-License-Identifier: Apache-2.0
"""Tensors of another width than the builder's are refused at the call, whatever rows they have."""

import pytest
import torch

from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module


@pytest.mark.parametrize(
    ("a", "c", "said"),
    [(96, 64, "'A': expected 64 columns, got 96"), (32, 64, "'A': expected 64"), (64, 32, "'C': expected 64")],
)
def test_rows_of_another_width(a, c, said):
    launch = build_softmax_module(4, 64, "f32")
    launch(torch.randn(4, 64), torch.empty(4, 64), 4)
    out = torch.zeros(4, c)
    with pytest.raises(ValueError, match=said):
        launch(torch.randn(4, a), out, 4)
    assert (out == 0).all()


def test_a_weight_of_another_length():
    launch = build_rmsnorm_module(64, "f32")
    x, out = torch.randn(4, 64), torch.zeros(4, 64)
    launch(x, torch.ones(64), out, 4)
    with pytest.raises(ValueError, match="'Gamma': expected 64 elements, got 65"):
        launch(x, torch.ones(65), out, 4)

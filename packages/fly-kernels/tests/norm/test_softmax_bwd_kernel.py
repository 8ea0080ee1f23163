# SPDX-License-Identifier: Apache-2.0
"""Softmax backward against float64."""

import pytest
import torch
from rows import DTYPES, check, rows

from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module, softmax_bwd_buffered_operands


@pytest.mark.parametrize(
    ("m", "n", "dtype"),
    [
        (5, 256, "f32"),
        (1, 1, "f32"),
        (9, 127, "bf16"),
        (3, 2049, "f16"),
        (2, 1000, "f32"),
        (2, 16384, "bf16"),
        (2, 32769, "f32"),
        (1, 65536, "f32"),
    ],
)
def test_backward(m, n, dtype, run):
    dy = rows(m, n, dtype)
    y = torch.softmax(rows(m, n, "f32", seed=1), dim=-1).to(DTYPES[dtype])
    dx = run.empty(y)
    run(build_softmax_bwd_module(n, dtype), dy, y, dx, m, writes=[dx])
    dot = (dy.double() * y.double()).sum(-1, keepdim=True)
    check(dx, y.double() * (dy.double() - dot), dtype, slack=4.0)


def test_operands_that_stay_in_registers():
    assert [softmax_bwd_buffered_operands(n, "f32") for n in (1024, 16384, 32768, 65536)] == [2, 2, 1, 0]
    assert [softmax_bwd_buffered_operands(n, "bf16") for n in (1024, 2048, 16384, 32768, 65536)] == [0, 2, 2, 1, 0]


def test_refusals():
    with pytest.raises(ValueError, match="N must be a positive integer"):
        build_softmax_bwd_module(0, "f32")
    with pytest.raises(ValueError, match="'f8' is not supported"):
        build_softmax_bwd_module(64, "f8")

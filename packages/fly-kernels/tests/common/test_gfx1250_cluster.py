# SPDX-License-Identifier: Apache-2.0
"""Masks of workgroups against the sets that they stand for."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.gfx1250_cluster import compute_mcast_masks

CLUSTERS = [(1, 1), (2, 2), (4, 4), (4, 2), (1, 16), (16, 1), (3, 5)]


def expected(x, y, m, n):
    a = sum(1 << (x + other * m) for other in range(n))
    b = sum(1 << (other + y * m) for other in range(m))
    return a, b


@pytest.mark.parametrize(("m", "n"), CLUSTERS)
def test_on_numbers(m, n):
    for x in range(m):
        for y in range(n):
            a, b = compute_mcast_masks(x, y, m, n)
            assert (a, b) == expected(x, y, m, n)
            assert a & b == 1 << (x + y * m)  # the workgroup itself


@pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5)])
def test_in_a_kernel(m, n, run):
    @flyc.kernel
    def kernel(Out: fx.Tensor):
        x, y = fx.thread_idx.x, fx.block_idx.x
        a, b = compute_mcast_masks(x, y, m, n)
        Out[y, x, 0] = a
        Out[y, x, 1] = b

    @flyc.jit
    def launch(Out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        kernel(Out).launch(grid=(n,), block=(m,), stream=stream)

    out = run.empty(torch.empty(n, m, 2, dtype=torch.int32))
    run(launch, out, writes=[out], seeds=[0])
    assert out.tolist() == [[list(expected(x, y, m, n)) for x in range(m)] for y in range(n)]


@pytest.mark.parametrize(("m", "n"), [(0, 1), (1, 0), (4, 5)])
def test_clusters_that_there_are_not(m, n):
    with pytest.raises(ValueError, match="1 to 16 workgroups"):
        compute_mcast_masks(0, 0, m, n)

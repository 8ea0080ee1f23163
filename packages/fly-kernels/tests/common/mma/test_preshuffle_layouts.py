# SPDX-License-Identifier: Apache-2.0
"""Layouts of preshuffled operands against what the host's permutations give, on the host and in kernels."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
import flydsl.layout as host
from flydsl.kernels.common.layout_utils import crd2idx
from flydsl.kernels.common.mma.mfma_preshuffle_pipeline import (
    make_preshuffle_b_layout,
    make_preshuffle_scale_layout,
)
from flydsl.kernels.common.shuffle import shuffle_weight


@pytest.mark.parametrize(("dtype", "size"), [(torch.int8, 1), (torch.int16, 2), (torch.int32, 4)])
def test_b_layout_is_the_order_of_shuffled_weights(dtype, size):
    N, K, pack = 48, 128, 16 // size
    weight = torch.randint(-100, 100, (N, K), generator=torch.Generator().manual_seed(1)).to(dtype)
    shuffled = shuffle_weight(weight).flatten()
    layout = make_preshuffle_b_layout(None, c_n=N, c_k=K, elem_bytes=size)
    assert layout.shape == (N // 16, K // (4 * pack), 4, 16, pack)
    for n in range(N):
        for k in range(0, K, 3):
            at = host.crd2idx((n // 16, k // (4 * pack), k // pack % 4, n % 16, k % pack), layout)
            assert shuffled[at] == weight[n, k]


def test_b_layout_with_k_outermost():
    N, K = 48, 128
    layout = make_preshuffle_b_layout(None, c_n=N, c_k=K, k_major=True)
    by_rows = torch.arange(N * K).view(N // 16, K // 64, 4, 16, 16)
    by_k = by_rows.transpose(0, 1).contiguous().flatten()  # the blocks of the usual order, exchanged
    for crd in ((0, 0, 0, 0, 0), (2, 1, 3, 15, 15), (1, 0, 2, 5, 7), (0, 1, 1, 3, 2)):
        assert by_k[host.crd2idx(crd, layout)] == by_rows[crd]


@pytest.mark.parametrize("elem_bytes", [1, 2, 4])
def test_scale_layout_is_the_order_of_shuffled_scales(elem_bytes):
    rows, K = 96, 512
    scales = torch.randint(0, 256, (rows, K // 32), generator=torch.Generator().manual_seed(2))
    shuffled = scales.view(rows // 32, 2, 16, K // 256, 2, 4).permute(0, 3, 5, 2, 4, 1).flatten()
    layout = make_preshuffle_scale_layout(None, c_mn=rows, c_k=K, elem_bytes=elem_bytes)
    assert layout.shape == (3, 2, 4, 16)
    for row in range(rows):
        for s in range(K // 32):
            at = host.crd2idx((row // 32, s // 8, s % 4, row % 16), layout) * elem_bytes
            assert shuffled[at + row // 16 % 2 + 2 * (s // 4 % 2)] == scales[row, s]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_kernel_reads_shuffled_weights(dynamic, run):
    N, K = 32, 128

    @flyc.kernel
    def kernel(B: fx.Tensor, Out: fx.Tensor, n: fx.Int32):
        layout = make_preshuffle_b_layout(fx.arith, c_n=n if dynamic else N, c_k=K)
        row, k = fx.block_idx.x, fx.thread_idx.x
        at = crd2idx((row // 16, k // 64, k // 16 % 4, row % 16, k % 16), layout)
        Out[row, k] = B[at.to_py_value() if dynamic else at]

    @flyc.jit
    def launch(B: fx.Tensor, Out: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        kernel(B, Out, n).launch(grid=(N,), block=(K,), stream=stream)

    weight = torch.randint(-100, 100, (N, K), generator=torch.Generator().manual_seed(3)).to(torch.int8)
    out = run.empty(weight)
    run(launch, shuffle_weight(weight).flatten(), out, N, writes=[out], seeds=[0])
    assert torch.equal(out, weight)


@pytest.mark.parametrize(
    ("make", "keywords", "named"),
    [
        (make_preshuffle_b_layout, {"c_n": 20, "c_k": 64}, "c_n is a positive multiple of 16"),
        (make_preshuffle_b_layout, {"c_n": 16, "c_k": 96}, "c_k is a positive multiple of 64"),
        (make_preshuffle_b_layout, {"c_n": 16, "c_k": 64, "elem_bytes": 3}, "kpack_bytes"),
        (make_preshuffle_scale_layout, {"c_mn": 48, "c_k": 256}, "c_mn is a positive multiple of 32"),
        (make_preshuffle_scale_layout, {"c_mn": 32, "c_k": 0}, "c_k is a positive multiple of 256"),
        (make_preshuffle_scale_layout, {"c_mn": 32, "c_k": 256, "elem_bytes": 8}, "mn_pack"),
    ],
)
def test_sizes_that_do_not_divide(make, keywords, named):
    with pytest.raises(ValueError, match=named):
        make(None, **keywords)

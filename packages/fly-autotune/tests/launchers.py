# SPDX-License-Identifier: Apache-2.0
"""A kernel with a choice: how many threads a block has, and how many elements a thread takes."""

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def scale_kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int], EACH: fx.Constexpr[int]):
    first = fx.block_idx.x * (BLOCK * EACH) + fx.thread_idx.x * EACH
    for j in fx.range_constexpr(EACH):
        if first + j < n:
            B[first + j] = A[first + j] * 2.0


@flyc.jit
def scale(
    A: fx.Tensor,
    B: fx.Tensor,
    n: fx.Int32,
    BLOCK: fx.Constexpr[int],
    EACH: fx.Constexpr[int],
    stream: fx.Stream = fx.Stream(None),
):
    """B[:n] = 2 A[:n]."""
    grid = ((n + BLOCK * EACH - 1) // (BLOCK * EACH),)
    scale_kernel(A, B, n, BLOCK, EACH).launch(grid=grid, block=(BLOCK,), stream=stream)

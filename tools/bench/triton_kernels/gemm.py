# SPDX-License-Identifier: Apache-2.0
"""C = A B^T, with row and column scales for 8-bit operands."""

import triton
import triton.language as tl


@triton.jit
def gemm(
    a, b, c, scale_a, scale_b, m, n, k,
    SCALED: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A (m, k), B (n, k), C (m, n) row-major; k is a multiple of BLOCK_K, n of BLOCK_N."""
    program = tl.program_id(0)
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    in_group = GROUP * tiles_n
    first_m = program // in_group * GROUP
    group = min(tiles_m - first_m, GROUP)
    tile_m = first_m + program % in_group % group
    tile_n = program % in_group // group
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    along = tl.arange(0, BLOCK_K)
    a_at = a + (rows % m)[:, None] * k + along[None, :]
    b_at = b + columns[None, :] * k + along[:, None]
    kind: tl.constexpr = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=kind)
    for _ in range(k // BLOCK_K):
        sums = tl.dot(tl.load(a_at), tl.load(b_at), sums, out_dtype=kind)
        a_at += BLOCK_K
        b_at += BLOCK_K
    result = sums.to(tl.float32)
    if SCALED:
        result = (
            result * tl.load(scale_a + rows, mask=rows < m, other=0.0)[:, None] * tl.load(scale_b + columns)[None, :]
        )
    tl.store(c + rows[:, None] * n + columns[None, :], result.to(c.dtype.element_ty), mask=(rows < m)[:, None])

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T of fp8, with a scale for each 128 of K of a row of A, and for each 128 x 128 of B."""

import triton
import triton.language as tl


@triton.jit
def gemm_blocks(
    a, b, c, scale_a, scale_b, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A (m, k), B (n, k), C (m, n) row-major; scales (k / 128, m) and (n / 128, k / 128).

    k is a multiple of BLOCK_K, n of BLOCK_N; BLOCK_K is 128.
    """
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
    scale_a_at = scale_a + rows % m
    scale_b_at = scale_b + columns // 128 * (k // 128)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(k // BLOCK_K):
        scales = tl.load(scale_a_at)[:, None] * tl.load(scale_b_at)[None, :]
        sums += tl.dot(tl.load(a_at), tl.load(b_at), out_dtype=tl.float32) * scales
        a_at += BLOCK_K
        b_at += BLOCK_K
        scale_a_at += m
        scale_b_at += 1
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(c.dtype.element_ty), mask=(rows < m)[:, None])

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T of MXFP4: two E2M1 a byte, and a scale of E8M0 for each 32 of K."""

import triton
import triton.language as tl


@triton.jit
def gemm_mx(
    a, b, c, scale_a, scale_b, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A (m, k / 2), B (n, k / 2), scales (m, k / 32) and (n, k / 32), C (m, n), all row-major.

    k is a multiple of BLOCK_K, n of BLOCK_N.
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
    along = tl.arange(0, BLOCK_K // 2)
    groups = tl.arange(0, BLOCK_K // 32)
    a_at = a + (rows % m)[:, None] * (k // 2) + along[None, :]
    b_at = b + columns[None, :] * (k // 2) + along[:, None]
    scale_a_at = scale_a + (rows % m)[:, None] * (k // 32) + groups[None, :]
    scale_b_at = scale_b + columns[:, None] * (k // 32) + groups[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(k // BLOCK_K):
        scales = tl.load(scale_a_at), tl.load(scale_b_at)
        sums = tl.dot_scaled(tl.load(a_at), scales[0], "e2m1", tl.load(b_at), scales[1], "e2m1", sums)
        a_at += BLOCK_K // 2
        b_at += BLOCK_K // 2
        scale_a_at += BLOCK_K // 32
        scale_b_at += BLOCK_K // 32
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(c.dtype.element_ty), mask=(rows < m)[:, None])

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T of MX operands: MXFP4 (two E2M1 a byte) or MXFP8 (E4M3), and a scale of E8M0 for each 32 of K."""

import triton
import triton.language as tl


@triton.jit
def gemm_mx(
    a, b, c, scale_a, scale_b, m, n, k,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A (m, k), B (n, k) of bytes (of "e2m1" half as many), scales (m, k / 32) and (n, k / 32), C (m, n), row-major.

    k is a multiple of BLOCK_K, n of BLOCK_N.
    """
    a_packed: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    b_packed: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
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
    groups = tl.arange(0, BLOCK_K // 32)
    a_at = a + (rows % m)[:, None] * (k // a_packed) + tl.arange(0, BLOCK_K // a_packed)[None, :]
    b_at = b + columns[None, :] * (k // b_packed) + tl.arange(0, BLOCK_K // b_packed)[:, None]
    scale_a_at = scale_a + (rows % m)[:, None] * (k // 32) + groups[None, :]
    scale_b_at = scale_b + columns[:, None] * (k // 32) + groups[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(k // BLOCK_K):
        scales = tl.load(scale_a_at), tl.load(scale_b_at)
        sums = tl.dot_scaled(tl.load(a_at), scales[0], A_FORMAT, tl.load(b_at), scales[1], B_FORMAT, sums)
        a_at += BLOCK_K // a_packed
        b_at += BLOCK_K // b_packed
        scale_a_at += BLOCK_K // 32
        scale_b_at += BLOCK_K // 32
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(c.dtype.element_ty), mask=(rows < m)[:, None])

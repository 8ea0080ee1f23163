# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in 8-bit integers with WMMA, for gfx1100 (RDNA 3): exact sums, or multiplied by scales.

Shapes and layouts
    A (M, K) and B_T (N, K), "int8" or "uint8"; C (M, N) "i32" (exact), "f32", "bf16" or "fp16". Rows may be further
    apart, by `lda`, `ldb` and `ldc`. With `scale_mode` "row_col" C = sum * scale_a[m] * scale_b[n], scales f32 (M) and
    (N).

Limits
    K is two or more steps of 16 reg_k, N a multiple of 4; M need not be a multiple of anything. Rows of A and B_T begin
    at multiples of 16 bytes. Sums that no int32 holds wrap around.

Algorithm and data movement
    That of `rdna3_f16_gemm`; a lane's 16 bytes of a row are one operand.
"""

from __future__ import annotations

from collections.abc import Callable

from .wmma_gemm import target_of
from .wmma_integers import integer_gemm

__all__ = ["create_wmma_int8_gemm_module"]


def create_wmma_int8_gemm_module(
    M: int,
    N: int,
    K: int,
    in_dtype: str = "int8",
    out_dtype: str = "i32",
    *,
    scale_mode: str = "none",
    reg_m: int | None = None,
    reg_n: int = 4,
    reg_k: int = 4,
    waves_m: int = 2,
    waves_n: int = 2,
    group_m: int = 8,
    lds_layout: str = "pad",
    sched_hint: bool = True,
    stagger: int = 1,
    persistent_wgs: int = 0,
    split_k: int = 1,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
) -> tuple[Callable[..., None], int, int, int]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M, N, K: extents.
        in_dtype: "int8" or "uint8", of both operands.
        out_dtype: "i32", "f32", "bf16" or "f16".
        scale_mode: "none", or "row_col", for a floating-point C.
        reg_m, reg_n, reg_k: blocks of 16 rows and columns of a wave, and matrix instructions along K in a step. Without
            `reg_m` it is the least, up to 4, whose tile has all M rows.
        waves_m, waves_n: grid of waves.
        group_m: row tiles that are walked together, of which the grid need not be a multiple; 0 keeps the order.
        lds_layout: "pad" (16 bytes behind each row), or "kblock": 16 bytes of K of all rows side by side.
        sched_hint: interleave memory accesses with matrix instructions; else the compiler orders them.
        stagger: each tile of C begins so many steps of K behind its neighbours' first, so that workgroups that run
            together read different places.
        persistent_wgs: how many workgroups walk through the tiles of C, one after the other, or 0: one for each tile.
        split_k: parts of K, each two or more steps, which add themselves to an "i32" C without scales by atomics,
            behind a kernel that writes zeros.
        lda, ldb, ldc: elements from one row to the next of A, B_T and C that come flattened or as a pointer; for a
            matrix its own strides count.

    Returns (launch, BLOCK_M, BLOCK_N, BLOCK_K); `launch(C, A, B_T, stream, scale_a=None, scale_b=None)` is a
    `@flyc.jit` function.

    Raises:
        RuntimeError: the target is not gfx1100.
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = target_of("rdna3_int8_gemm", ("gfx1100",))
    if in_dtype not in ("int8", "uint8"):
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use int8 or uint8")
    return integer_gemm(
        arch, (M, N, K), in_dtype, out_dtype, "wmma_int8_gemm", scale_mode=scale_mode, reg=(reg_m, reg_n, reg_k),
        waves=(waves_m, waves_n), group_m=group_m, lds_layout=lds_layout, sched_hint=sched_hint, stagger=stagger,
        persistent_wgs=persistent_wgs, split_k=split_k, apart=(lda, ldb, ldc),
    )  # fmt: skip

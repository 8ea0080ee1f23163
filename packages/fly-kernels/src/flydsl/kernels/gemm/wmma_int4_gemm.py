# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in 4-bit integers with WMMA, for gfx1100 and gfx1201 (RDNA 3 and 4): exact sums, or multiplied by scales.

Shapes and layouts
    A (M, K / 2) and B_T (N, K / 2), bytes of two "int4" (-8 to 7) or "uint4" (0 to 15) each, the even element of K in
    the lower half, as `pack_int4_pairs` gives them; any other order of K will do that A and B_T have both. C (M, N)
    "i32" (exact), "f32", "bf16" or "fp16". Rows may be further apart, by `lda`, `ldb` (bytes) and `ldc` (elements).
    With `scale_mode` "row_col" C = sum * scale_a[m] * scale_b[n], scales f32 (M) and (N).

Limits
    K is two or more steps of 32 reg_k, N a multiple of 4; M need not be a multiple of anything. Rows of A and B_T begin
    at multiples of 16 bytes.

Algorithm and data movement
    That of `rdna3_int8_gemm`, in which each product of bytes is one of pairs: a lane gives 8 bytes of each operand to
    an instruction.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.checks import positive_integer
from .wmma_gemm import target_of
from .wmma_integers import integer_gemm

__all__ = ["create_wmma_int4_gemm_module"]

_STEP = 32  # elements of K that reg_k counts: 16 bytes


def create_wmma_int4_gemm_module(
    M: int,
    N: int,
    K: int,
    in_dtype: str = "int4",
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
    stagger: int = 0,
    persistent_wgs: int = 0,
    split_k: int = 1,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
) -> tuple[Callable[..., None], int, int, int]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M, N, K: extents, K in elements.
        in_dtype: "int4" or "uint4", of both operands.
        reg_k: a step is 32 reg_k elements of K; on gfx1201 even.
        lda, ldb: bytes from one row to the next of A and B_T that come flattened or as a pointer.

    The other arguments, and what is returned (with BLOCK_K in elements), are those of `create_wmma_int8_gemm_module`,
    but `stagger` is 0: its arithmetic takes 1 % of the issue time of gfx1201's short products.

    Raises:
        RuntimeError: the target is neither gfx1100 nor gfx1201.
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = target_of("wmma_int4_gemm", ("gfx1100", "gfx1201"))
    if in_dtype not in ("int4", "uint4"):
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use int4 or uint4")
    for name, value in (("K", K), ("reg_k", reg_k), ("split_k", split_k)):
        positive_integer(name, value)
    step = _STEP * reg_k
    if K % (split_k * step) or 2 * split_k * step > K:
        parts = f" in each of {split_k} parts" if split_k > 1 else ""
        raise ValueError(f"K = {K} has to be 2 or more steps of 32 * reg_k = {step}{parts}: there is no tail along K")
    if arch == "gfx1201" and reg_k % 2:
        raise ValueError(f"reg_k = {reg_k} is odd: the 16 bytes of a lane feed two instructions of gfx1201")
    launch, tile_m, tile_n, tile_k = integer_gemm(
        arch, (M, N, K // 2), f"{in_dtype}x2", out_dtype, "wmma_int4_gemm", scale_mode=scale_mode,
        reg=(reg_m, reg_n, reg_k), waves=(waves_m, waves_n), group_m=group_m, lds_layout=lds_layout,
        sched_hint=sched_hint, stagger=stagger, persistent_wgs=persistent_wgs, split_k=split_k,
        apart=(lda, ldb, ldc),
    )  # fmt: skip
    return launch, tile_m, tile_n, 2 * tile_k

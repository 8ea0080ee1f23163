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
from typing import Any

from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue
from ..common.utils import cdiv
from .tile_gemm import build_tile_gemm
from .wmma_gemm import WmmaTile, refuse_unwritten, target_of, wmma_gemm

__all__ = ["create_wmma_int8_gemm_module"]

_OUTPUTS = ("i32", "f32", "bf16", "f16")


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
        persistent_wgs: 0; other values are refused.
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
    if out_dtype not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    if scale_mode not in ("none", "row_col"):
        raise ValueError(f"scale_mode {scale_mode!r} is not supported; use none or row_col")
    if scale_mode == "row_col" and out_dtype == "i32":
        raise ValueError("scale_mode 'row_col' gives fractions: it needs out_dtype f32, bf16 or f16, not i32")
    refuse_unwritten(persistent_wgs=persistent_wgs)
    if split_k != 1 and (out_dtype != "i32" or scale_mode != "none"):
        raise ValueError(f"split_k = {split_k!r} adds up exact sums: it needs out_dtype 'i32' and scale_mode 'none'")
    if split_k != 1 and ldc not in (None, N):
        raise ValueError(f"split_k = {split_k!r} wants the rows of C side by side: use ldc = None, got {ldc!r}")
    scaled = scale_mode == "row_col"
    if reg_m is None:
        reg_m = max(1, min(4, cdiv(M, 16 * waves_m)))
    tile = WmmaTile((reg_m, reg_n, reg_k), (waves_m, waves_n), (16, 16), lds_layout, sched_hint)
    gemm = wmma_gemm(
        arch, (M, N, K), tile, in_dtype=in_dtype, out_dtype={"f16": "fp16"}.get(out_dtype, out_dtype),
        epilogue=Epilogue(scaled=scaled), group_m=group_m, stagger=stagger,
        apart={"A": lda, "B": ldb, "C": ldc}, split_k=split_k,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "wmma_int8_gemm")

    @flyc.jit
    def launch_int8_gemm(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, stream: fx.Stream = fx.Stream(None),
        scale_a: Any = None, scale_b: Any = None,
    ) -> None:  # fmt: skip
        given = {"scale_a": scale_a, "scale_b": scale_b}
        for name, scale in given.items():
            if fx.const_expr((scale is not None) != scaled):
                raise ValueError(f"argument {name!r}: given with scale_mode 'row_col', and only with it")
        multiply(C, A, B_T, fx.Int32(M), stream, **(given if scaled else {}))

    return launch_int8_gemm, gemm.tile_m, gemm.tile_n, gemm.tile_k

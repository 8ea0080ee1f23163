# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in integers of 8 or 4 bits with WMMA, for gfx1100 and gfx1201 (RDNA 3 and 4): exact sums, or scaled ones.

Shapes and layouts
    A (M, K) and B_T (N, K), "int8" or "uint8"; or "int4" (-8 to 7) or "uint4" (0 to 15), bytes (M, K / 2) and
    (N, K / 2) of two each, the even element of K in the lower half, as `pack_int4_pairs` gives them; any other order of
    K will do that A and B_T have both. C (M, N) "i32" (exact), "f32", "bf16" or "f16". Rows may be further apart, by
    `lda`, `ldb` (bytes) and `ldc` (elements). With `scale_mode` "row_col" C = sum * scale_a[m] * scale_b[n], scales f32
    (M) and (N).

Limits
    K is two or more steps of 16 reg_k (of 4 bits 32 reg_k), N a multiple of 4; M need not be a multiple of anything.
    Rows of A and B_T begin at multiples of 16 bytes. Sums that no int32 holds wrap around.

Algorithm and data movement
    That of `rdna3_f16_gemm`. On gfx1100 a lane's 16 bytes of a row are one operand of bytes; of int4 a lane gives 8
    bytes of each operand to an instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue
from ..common.utils import cdiv
from .tile_gemm import build_tile_gemm
from .wmma_gemm import WmmaTile, target_of, wmma_gemm

__all__ = ["create_wmma_integer_gemm_module"]

_PAIRS = {"int4": "int4x2", "uint4": "uint4x2"}  # the core's names of those that come two a byte
_TYPES = ("int8", "uint8", *_PAIRS)
_OUTPUTS = ("i32", "f32", "bf16", "f16")
_STEP_BYTES = 16  # of K, that reg_k counts
_PAD_BYTES = 16


def create_wmma_integer_gemm_module(
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
        M, N, K: extents, K in elements.
        in_dtype: "int8", "uint8", "int4" or "uint4", of both operands.
        out_dtype: "i32", "f32", "bf16" or "f16".
        scale_mode: "none", or "row_col", for a floating-point C.
        reg_m, reg_n: blocks of 16 rows and columns of a wave. Without `reg_m` it is the least, up to 4, whose tile has
            all M rows.
        reg_k: a step has 16 reg_k bytes of K of a row; on gfx1201 it is even.
        waves_m, waves_n: grid of waves.
        group_m: row tiles that are walked together, of which the grid need not be a multiple; 0 keeps the order.
        lds_layout: "pad" (16 bytes behind each row), or "kblock": 16 bytes of K of all rows side by side.
        sched_hint: interleave memory accesses with matrix instructions; else the compiler orders them.
        stagger: each tile of C begins so many steps of K behind its neighbours' first, so that workgroups that run
            together read different places.
        persistent_wgs: how many workgroups walk through the tiles of C, one after the other, or 0: one for each tile.
        split_k: parts of K, each two or more steps, which add themselves to an "i32" C without scales by atomics,
            behind a kernel that writes zeros.
        lda, ldb, ldc: bytes from one row to the next of A and B_T, and elements of C, that come flattened or as a
            pointer; for a matrix its own strides count.

    Returns (launch, BLOCK_M, BLOCK_N, BLOCK_K), BLOCK_K in elements; `launch(C, A, B_T, stream, scale_a=None,
    scale_b=None)` is a `@flyc.jit` function.

    Raises:
        RuntimeError: the target is neither gfx1100 nor gfx1201.
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = target_of("wmma_integers", ("gfx1100", "gfx1201"))
    if in_dtype not in _TYPES:
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use one of {', '.join(_TYPES)}")
    if out_dtype not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    if scale_mode not in ("none", "row_col"):
        raise ValueError(f"scale_mode {scale_mode!r} is not supported; use none or row_col")
    scaled = scale_mode == "row_col"
    if scaled and out_dtype == "i32":
        raise ValueError("scale_mode 'row_col' gives fractions: it needs out_dtype f32, bf16 or f16, not i32")
    if split_k != 1 and (out_dtype != "i32" or scaled):
        raise ValueError(f"split_k = {split_k!r} adds up exact sums: it needs out_dtype 'i32' and scale_mode 'none'")
    if split_k != 1 and ldc not in (None, N):
        raise ValueError(f"split_k = {split_k!r} wants the rows of C side by side: use ldc = None, got {ldc!r}")
    if split_k != 1 and persistent_wgs != 0:
        raise ValueError(f"split_k = {split_k!r} and persistent_wgs = {persistent_wgs!r}: choose one")
    for name, value in (("K", K), ("reg_k", reg_k), ("split_k", split_k)):
        positive_integer(name, value)
    of_a_byte = 2 if in_dtype in _PAIRS else 1
    step = _STEP_BYTES * of_a_byte * reg_k
    if K % (split_k * step) or 2 * split_k * step > K:
        parts = f" in each of {split_k} parts" if split_k > 1 else ""
        raise ValueError(
            f"K = {K} has to be 2 or more steps of {_STEP_BYTES * of_a_byte} * reg_k = {step}{parts}: there is no tail "
            "along K"
        )
    if arch == "gfx1201" and reg_k % 2:
        raise ValueError(f"reg_k = {reg_k} is odd: the 16 bytes of a lane feed two instructions of gfx1201")
    if reg_m is None:
        reg_m = max(1, min(4, cdiv(M, 16 * waves_m)))
    tile = WmmaTile((reg_m, reg_n, reg_k), (waves_m, waves_n), (_PAD_BYTES, _PAD_BYTES), lds_layout, sched_hint)
    gemm = wmma_gemm(
        arch, (M, N, K // of_a_byte), tile, in_dtype=_PAIRS.get(in_dtype, in_dtype),
        out_dtype={"f16": "fp16"}.get(out_dtype, out_dtype), epilogue=Epilogue(scaled=scaled), group_m=group_m,
        stagger=stagger, apart={"A": lda, "B": ldb, "C": ldc}, split_k=split_k, persistent=persistent_wgs,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "wmma_int4_gemm" if in_dtype in _PAIRS else "wmma_int8_gemm")

    @flyc.jit
    def launch_integer_gemm(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, stream: fx.Stream = fx.Stream(None),
        scale_a: Any = None, scale_b: Any = None,
    ) -> None:  # fmt: skip
        given = {"scale_a": scale_a, "scale_b": scale_b}
        for which, scale in given.items():
            if fx.const_expr((scale is not None) != scaled):
                raise ValueError(f"argument {which!r}: given with scale_mode 'row_col', and only with it")
        multiply(C, A, B_T, fx.Int32(M), stream, **(given if scaled else {}))

    return launch_integer_gemm, gemm.tile_m, gemm.tile_n, of_a_byte * gemm.tile_k

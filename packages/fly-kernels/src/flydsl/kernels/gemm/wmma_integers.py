# SPDX-License-Identifier: Apache-2.0
"""What the GEMM builders for integers on WMMA share: exact sums, or sums multiplied by scales of rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue
from ..common.utils import cdiv
from .tile_gemm import build_tile_gemm
from .wmma_gemm import WmmaTile, wmma_gemm

__all__ = ["integer_gemm"]

_OUTPUTS = ("i32", "f32", "bf16", "f16")
_PAD_BYTES = 16


def integer_gemm(
    arch: str,
    extents: tuple[int, int, int],
    in_dtype: str,
    out_dtype: str,
    name: str,
    *,
    scale_mode: str,
    reg: tuple[int | None, int, int],
    waves: tuple[int, int],
    group_m: int,
    lds_layout: str,
    sched_hint: bool,
    stagger: int,
    persistent_wgs: int,
    split_k: int,
    apart: tuple[int | None, int | None, int | None],
) -> tuple[Callable[..., None], int, int, int]:
    """(launch, rows, columns and K of a tile); see `create_wmma_int8_gemm_module` for the arguments.

    `in_dtype` is the core's; of int4 in pairs K, reg_k and the rows of A and B that are `apart` count bytes.

    Raises:
        ValueError: a limit is not kept, with the numbers.
    """
    if out_dtype not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    if scale_mode not in ("none", "row_col"):
        raise ValueError(f"scale_mode {scale_mode!r} is not supported; use none or row_col")
    if scale_mode == "row_col" and out_dtype == "i32":
        raise ValueError("scale_mode 'row_col' gives fractions: it needs out_dtype f32, bf16 or f16, not i32")
    (rows, columns, _), (lda, ldb, ldc), (reg_m, reg_n, reg_k) = extents, apart, reg
    if split_k != 1 and (out_dtype != "i32" or scale_mode != "none"):
        raise ValueError(f"split_k = {split_k!r} adds up exact sums: it needs out_dtype 'i32' and scale_mode 'none'")
    if split_k != 1 and ldc not in (None, columns):
        raise ValueError(f"split_k = {split_k!r} wants the rows of C side by side: use ldc = None, got {ldc!r}")
    if split_k != 1 and persistent_wgs != 0:
        raise ValueError(f"split_k = {split_k!r} and persistent_wgs = {persistent_wgs!r}: choose one")
    scaled = scale_mode == "row_col"
    if reg_m is None:
        reg_m = max(1, min(4, cdiv(rows, 16 * waves[0])))
    tile = WmmaTile((reg_m, reg_n, reg_k), waves, (_PAD_BYTES, _PAD_BYTES), lds_layout, sched_hint)
    gemm = wmma_gemm(
        arch, extents, tile, in_dtype=in_dtype, out_dtype={"f16": "fp16"}.get(out_dtype, out_dtype),
        epilogue=Epilogue(scaled=scaled), group_m=group_m, stagger=stagger,
        apart={"A": lda, "B": ldb, "C": ldc}, split_k=split_k, persistent=persistent_wgs,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, name)

    @flyc.jit
    def launch_integer_gemm(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, stream: fx.Stream = fx.Stream(None),
        scale_a: Any = None, scale_b: Any = None,
    ) -> None:  # fmt: skip
        given = {"scale_a": scale_a, "scale_b": scale_b}
        for which, scale in given.items():
            if fx.const_expr((scale is not None) != scaled):
                raise ValueError(f"argument {which!r}: given with scale_mode 'row_col', and only with it")
        multiply(C, A, B_T, fx.Int32(rows), stream, **(given if scaled else {}))

    return launch_integer_gemm, gemm.tile_m, gemm.tile_n, gemm.tile_k

# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds the MXFP4 GEMM of large row-major operands; `mx_gemm` has the contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..common.language import flyc, fx
from .mx_gemm import build_mx_gemm

__all__ = ["compile_fp4_gemm_4w"]

_ROWS, _COLUMNS, _DEPTH = 256, 256, 256
_XCD_COLUMNS = 4  # neighbouring column tiles of one XCD


def compile_fp4_gemm_4w(
    *, K: int, use_xcd_remap: bool = True, MN: tuple[int, int] | None = None
) -> Callable[..., None]:
    """Build the launcher `(A, B_T, C, A_scale, B_scale, c_m, c_n, stream)` of large tiles.

    A (M, K / 2) and B_T (N, K / 2) row-major bytes of E2M1, C (M, N) bf16, scales in the order of `shuffle_scale`; all
    may come flattened. K is a multiple of 256, M and N any. One kernel is compiled for each c_n that a launcher is
    called with. With `use_xcd_remap` neighbouring column blocks share an XCD. `MN` says which (M, N) there will be:
    others are refused.

    A workgroup has 256 rows and 256 columns, and is eight waves: the sums of four would take half of all registers, and
    what LLVM then moves about goes to memory.

    Raises:
        RuntimeError: the target is not gfx950.
        ValueError: K is no multiple of 256, MN no pair of positive ints.
    """
    if isinstance(K, bool) or not isinstance(K, int) or K < 1 or K % _DEPTH:
        raise ValueError(f"compile_fp4_gemm_4w: K must be a positive multiple of {_DEPTH}, got {K!r}")
    if MN is not None and (len(MN) != 2 or any(isinstance(o, bool) or not isinstance(o, int) or o < 1 for o in MN)):
        raise ValueError(f"compile_fp4_gemm_4w: MN is a pair of positive ints (M, N), or None, got {MN!r}")

    rows, columns = (0, _COLUMNS) if MN is None else MN

    @lru_cache(maxsize=64)
    def gemm(N: int) -> Any:
        return build_mx_gemm(
            "compile_fp4_gemm_4w", N=N, K=K, tile_m=_ROWS, tile_n=_COLUMNS, tile_k=_DEPTH, a_format="fp4",
            b_format="fp4", shuffled=False, xcd_swizzle=_XCD_COLUMNS if use_xcd_remap else 0,
        )  # fmt: skip

    gemm(columns)  # refuses what no N makes possible

    @flyc.jit
    def fp4_gemm(
        A: fx.Tensor,
        B_T: fx.Tensor,
        C: fx.Tensor,
        A_scale: fx.Tensor,
        B_scale: fx.Tensor,
        c_m: fx.Int32,
        c_n: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        if fx.const_expr(rows):
            if fx.const_expr(c_n != columns):
                raise ValueError(f"argument 'c_n': the kernel was built for {columns}, got {c_n}")
            fx.host_assert(c_m == rows, f"argument 'c_m': the kernel was built for {rows}, got {{}}", c_m)
        gemm(c_n)(C, A, B_T, c_m, c_n, stream, scale_a=A_scale, scale_b=B_scale)

    built: Callable[..., None] = fp4_gemm
    return built

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T * scale_a * scale_b of fp8 rows with one scale each, for the names that its users know.

Shapes and layouts
    A (M, K) and B_T (N, K) row-major, E4M3 (FNUZ on gfx942, OCP on gfx950) or their bytes; with `b_preshuffled` B_T in
    the order of `shuffle_weight`. A_scale (M) and B_scale (N) f32, C (M, N) bf16. All may come flattened.

Limits
    K a multiple of 128, N of 4, or of 16 with `b_preshuffled`; any M. gfx942 and gfx950.

The kernel is that of `row_major_gemm`: it decides itself how many waves divide a block, and A goes directly to LDS
where the architecture can (gfx950). One is compiled for each N that a launcher is called with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import flyc, fx
from .config import GemmConfig
from .row_major_gemm import compile_gemm

__all__ = ["build_rowwise_fp8_gemm"]

_DEPTH = 128  # of K, that it is a multiple of
_XCD_COLUMNS = 4  # neighbouring column tiles of one XCD


def build_rowwise_fp8_gemm(
    name: str,
    *,
    K: int,
    BLOCK_M: int,
    BLOCK_N: int,
    multiples: tuple[int, int],
    b_preshuffled: bool,
    use_xcd_remap: bool = False,
) -> Callable[..., Any]:
    """Build the launcher `(A, B_T, C, A_scale, B_scale, c_m, c_n, stream)`; c_n is a constant of the kernel.

    `multiples` are those that the blocks have to be, by `name`.

    Raises ValueError for a K or a block that is no such multiple, and for blocks that LDS or registers have no room
    for; ImportError without the compiler.
    """
    for label, value, multiple in (
        ("K", K, _DEPTH),
        ("BLOCK_M", BLOCK_M, multiples[0]),
        ("BLOCK_N", BLOCK_N, multiples[1]),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1 or value % multiple:
            raise ValueError(f"{name}: {label} must be a positive multiple of {multiple}, got {value!r}")
    arch = get_rocm_arch().split(":")[0]
    config = GemmConfig(
        BLOCK_M, BLOCK_N, _DEPTH, use_async_copy=arch == "gfx950", xcd_swizzle=_XCD_COLUMNS if use_xcd_remap else 0
    )

    @lru_cache(maxsize=64)
    def gemm(N: int) -> Any:
        return compile_gemm(N=N, K=K, config=config, in_dtype="fp8", out_dtype="bf16", shuffled=b_preshuffled)

    gemm(BLOCK_N)  # refuses what no N makes possible

    @flyc.jit
    def rowwise_fp8_gemm(
        A: fx.Tensor,
        B_T: fx.Tensor,
        C: fx.Tensor,
        A_scale: fx.Tensor,
        B_scale: fx.Tensor,
        c_m: fx.Int32,
        c_n: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        gemm(c_n)(C, A, B_T, A_scale, B_scale, B_scale, C, A_scale, c_m, stream)

    return rowwise_fp8_gemm

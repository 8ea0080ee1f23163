# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds the bf16 GEMM of few rows; `hgemm_splitk` has what it computes, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from .hgemm_splitk import half_gemm, launcher_of

if TYPE_CHECKING:
    import torch

__all__ = ["compile_small_m_hgemm_kernel"]

_ROWS = 16
_MOST_WAVES = 8  # of a SIMD


def compile_small_m_hgemm_kernel(
    dtype: str | torch.dtype,
    n: int,
    k: int,
    *,
    TILE_N: int = 128,
    TILE_K: int = 64,
    SPLIT_K: int = 1,
    BLOCK_N_WARPS: int = 2,
    N_TILE_REPEAT: int = 1,
    PERSISTENT_N_TILES: int = 1,
    WAVES_PER_EU_HINT: int = 0,
    B_TO_LDS_UNROLL: int = 0,
    B_TO_LDS: bool = False,
    HAS_BIAS: bool = False,
) -> Callable[..., None]:
    """Build the launcher `(C, A, B, BIAS, m, semaphore, signal, stream)` of tiles of 16 rows, on gfx950.

    Args:
        dtype: "bf16".
        n, k: columns of C, and what is summed over.
        TILE_N, N_TILE_REPEAT, PERSISTENT_N_TILES: a workgroup computes TILE_N * N_TILE_REPEAT * PERSISTENT_N_TILES
            neighbouring columns, of which n is a multiple; all at once, so that A is read once for them.
        TILE_K, SPLIT_K, B_TO_LDS, HAS_BIAS: see `compile_hgemm_kernel`.
        BLOCK_N_WARPS: waves, all along N.
        WAVES_PER_EU_HINT: the occupancy that register allocation leaves room for; 0 asks for nothing.
        B_TO_LDS_UNROLL: 0 or 1: the loop is written once, and each iteration is one step of B in each buffer.

    Raises:
        ValueError: another target or type, or a limit that is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    what = "compile_small_m_hgemm_kernel"
    arch = get_rocm_arch().split(":")[0]
    if arch != "gfx950":
        raise ValueError(f"{what} is for gfx950, not for {arch}; compile_hgemm_kernel with TILE_M = 16 is for both")
    if str(dtype) not in ("bf16", "torch.bfloat16"):
        raise ValueError(f"{what}: dtype is 'bf16', got {dtype!r}; compile_hgemm_kernel has 'f16', too")
    for name, value in (("N_TILE_REPEAT", N_TILE_REPEAT), ("PERSISTENT_N_TILES", PERSISTENT_N_TILES)):
        positive_integer(name, value)
    hints = (("WAVES_PER_EU_HINT", WAVES_PER_EU_HINT, _MOST_WAVES), ("B_TO_LDS_UNROLL", B_TO_LDS_UNROLL, 1))
    for name, value, most in hints:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise ValueError(f"{what}: {name} is an int from 0 to {most}, got {value!r}")
    if B_TO_LDS_UNROLL and not B_TO_LDS:
        raise ValueError(f"{what}: B_TO_LDS_UNROLL = {B_TO_LDS_UNROLL} is for B_TO_LDS")
    gemm = half_gemm(
        what, dtype, n, k, tile=(_ROWS, TILE_N * N_TILE_REPEAT * PERSISTENT_N_TILES, TILE_K), stages=2,
        split_k=SPLIT_K, waves=(1, BLOCK_N_WARPS, 1), b_to_lds=bool(B_TO_LDS), bias=bool(HAS_BIAS),
        waves_per_eu=WAVES_PER_EU_HINT or 1,
    )  # fmt: skip
    return launcher_of(gemm, "small_m_hgemm", WAVES_PER_EU_HINT)

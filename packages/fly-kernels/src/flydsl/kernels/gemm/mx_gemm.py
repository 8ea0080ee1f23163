# SPDX-License-Identifier: Apache-2.0
"""C = A B^T of operands that have a scale of E8M0 for every 32 of K, on gfx950.

    C[m, n] = sum over k: A[m, k] * 2^(scale_a[m, k // 32] - 127) * B[n, k] * 2^(scale_b[n, k // 32] - 127)

Shapes and layouts
    All operands are bytes. A (M, row) row-major, B (N, row) row-major or in the order of `shuffle_weight` of its bytes;
    a row of K elements has, by format,

        "fp4"  E2M1      K / 2 bytes, the even k in the low half of a byte
        "fp6"  E2M3      K bytes: of 32 the first 24 hold 32 elements without gaps, little end first, 8 are not read
        "fp8"  E4M3FN    K bytes
        "bf8"  E5M2      K bytes

    Scales (rows, K / 32) in the order of `common.scale_shuffle.shuffle_scale`, whose padding (32 rows, 256 of K) they
    have; a scale of 255 makes all that it scales NaN. C (M, N) bf16 or fp16; sums are f32 and rounded once.

Limits
    K a multiple of 128; any N, or where B is shuffled one of `tile_n`; `tile_m` 16 or a multiple of 32, `tile_n` of 64;
    any M. gfx950 only: gfx942 has no matrix instruction with scales (see `blockscale_preshuffle_gemm` and int4
    weights).

The main loop is `common/mma/tiled_loop.py`. The matrix instruction is 16 x 16 x 128 with both scales as operands: a
lane loads one word for 32 rows and 256 of K, and the instruction takes its byte of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from ..common.language import fx
from ..common.mma.mfma_epilogues import parse_epilogue
from ..common.mma.operand_scales import BLOCK, MX_FORMATS
from .loop_forms import has_listed_form, large_tile_waves
from .tile_gemm import build_tile_gemm
from .tile_spec import OUTPUTS, TileGemm

__all__ = ["build_mx_gemm", "check_mx_target"]

_MOST_WAVES = 8  # of a SIMD
_INSTEAD = (
    "it has no matrix instruction with block scales. It has fp8 with a scale for 128 of K "
    "(gemm.blockscale_preshuffle_gemm), and int4 weights (compile_preshuffle_gemm_a8(in_dtype='int4'))"
)


def check_mx_target(what: str, error: type[Exception] = RuntimeError) -> str:
    """The target's name; `error`, with what it has instead, where it is not gfx950."""
    arch = get_rocm_arch().split(":")[0]
    if arch != "gfx950":
        instead = f": {_INSTEAD}" if arch == "gfx942" else ""
        raise error(f"{what} needs gfx950; the target is {arch}{instead}")
    return arch


def build_mx_gemm(
    what: str,
    *,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    a_format: str,
    b_format: str,
    out_dtype: str = "bf16",
    shuffled: bool = True,
    epilogue: str = "none",
    waves: tuple[int, int] | None = None,
    shuffled_store: bool = False,
    waves_per_eu: int | None = None,
    use_async_copy: bool = False,
    enable_scheduler: bool = True,
    xcd_swizzle: int = 0,
    error: type[Exception] = RuntimeError,
) -> Callable[..., None]:
    """Return the function `(C, A, B, M, N, stream, *, scale_a, scale_b[, bias])` that a `@flyc.jit` body calls.

    Args:
        what: who asks, for messages.
        N, K: columns of C, and what is summed over.
        tile_m, tile_n, tile_k: what a workgroup computes, and of what K is a multiple; how much of K it takes at a time
            is what LDS and registers allow.
        a_format, b_format: keys of `MX_FORMATS`.
        out_dtype: "bf16" or "fp16".
        shuffled: B is in the order of `shuffle_weight`; then N is a multiple of tile_n.
        epilogue: "none", "bias", "bias_relu", "bias_silu" or "bias_gelu".
        waves: their grid along M and N, by default one that fits.
        shuffled_store: results leave by way of LDS, in whole rows of the tile.
        waves_per_eu: the occupancy that register allocation leaves room for; None or 0 asks for nothing.
        use_async_copy: A does not pass through registers on its way to LDS, in tiles for which the defaults have such a
            loop (`scaled_loops`). Other tiles of "fp4" that have `large_tile_waves`, and K of 256, are `large_tile`,
            where B goes the same way. Else A does not go to LDS at all, but straight to the operands of each wave that
            multiplies it.
        enable_scheduler: memory accesses lie between matrix instructions as the library says; else the compiler orders.
        xcd_swizzle: how many neighbouring column tiles the workgroups of one XCD share; 0 keeps the order.
        error: what is raised on another target.

    Raises:
        ValueError: a limit of the page's top is not kept, with the numbers.
    """
    arch = check_mx_target(what, error)
    for one in (a_format, b_format):
        if one not in MX_FORMATS:
            raise ValueError(f"{what}: format {one!r} is not supported; use one of {', '.join(MX_FORMATS)}")
    if out_dtype not in OUTPUTS or out_dtype == "f32":
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of bf16, fp16")
    for name, value in (("N", N), ("K", K), ("tile_m", tile_m), ("tile_n", tile_n), ("tile_k", tile_k)):
        positive_integer(name, value)
    for name, flag in (("use_cshuffle_epilog", shuffled_store), ("use_async_copy", use_async_copy)):
        if not isinstance(flag, (bool, int)):
            raise ValueError(f"{name} is a bool, got {flag!r}")
    if tile_k % BLOCK:
        raise ValueError(f"tile_k = {tile_k} is no multiple of {BLOCK}, the K of a matrix instruction")
    if K % tile_k:
        raise ValueError(f"K = {K} is no multiple of tile_k = {tile_k}: there is no tail along K")
    if tile_m != 16 and tile_m % 32:
        raise ValueError(f"tile_m = {tile_m} is neither 16 nor a multiple of 32, the rows of a word of scales")
    if tile_n % 64:
        raise ValueError(f"tile_n = {tile_n} is no multiple of 64, 16 columns for each of 4 waves")
    if shuffled and N % tile_n:
        raise ValueError(f"N = {N} is no multiple of {tile_n} = tile_n")
    if isinstance(xcd_swizzle, bool) or not isinstance(xcd_swizzle, int) or not 0 <= xcd_swizzle <= N:
        raise ValueError(f"xcd_swizzle is a number of column tiles, or 0, got {xcd_swizzle!r}")
    if waves_per_eu is not None and (
        isinstance(waves_per_eu, bool) or not isinstance(waves_per_eu, int) or not 0 <= waves_per_eu <= _MOST_WAVES
    ):
        raise ValueError(f"waves_per_eu is a number of waves up to {_MOST_WAVES}, or None, got {waves_per_eu!r}")
    gemm = TileGemm(
        arch=arch, N=N, K=K, in_dtype=a_format, out_dtype=out_dtype, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k,
        epilogue=parse_epilogue(epilogue, scaled=False), shuffled=shuffled, waves=waves, fenced=bool(enable_scheduler),
        direct=bool(use_async_copy), xcd_swizzle=xcd_swizzle, shuffled_store=bool(shuffled_store),
        waves_per_eu=waves_per_eu or 1, b_mx=b_format,
    )  # fmt: skip
    both_ways = use_async_copy and a_format == b_format == "fp4" and not (shuffled_store or waves)
    if both_ways and not has_listed_form(gemm):
        gemm = replace(gemm, large_tile=large_tile_waves(tile_m, tile_n) is not None and K % 256 == 0)
    multiply = build_tile_gemm(gemm, f"mx_gemm_{epilogue}")

    def launch(C: Any, A: Any, B: Any, M: Any, n: Any, stream: Any, **extras: Any) -> None:
        fx.host_assert(n == N, f"argument 'N': the kernel was built for {N}, got {{}}", n)
        multiply(C, A, B, M, stream, **extras)

    return launch

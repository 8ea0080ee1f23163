# SPDX-License-Identifier: Apache-2.0
"""C = A B^T of fp8 with one f32 scale for 128 of K of a row of A, and for 128 x 128 of B, shuffled.

C[m, n] = sum over blocks b of K:  scale_a[b, m] * scale_b[n // 128, b] * (sum over k in b: A[m, k] * B[n, k])

Shapes and layouts
    A (M, K) row-major; B (N, K) in the order of `shuffle_weight`; scale_a (K / 128, M) f32: that of all rows for one
    block, then for the next; scale_b (ceil(N / 128), K / 128) f32; C (M, N) bf16 or fp16. fp8 is E4M3 as the
    architecture has it (FNUZ on gfx942, where the largest number is 240) and may come as plain bytes. All may come
    flattened.

Limits
    K a multiple of `tile_k`, `tile_k` of 128; N of `tile_n`, but not of 128 (2112 is fine); `tile_n` 64 or a multiple
    of 128; `tile_m` of 16; any M. gfx942 and gfx950.

The product of 128 of K is one matrix instruction on gfx950 where all its operands come straight to registers, and four
or eight otherwise. It begins from zero, and joins the sums in f32, times its two scales. Everything else is as in
`preshuffle_gemm`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.operand_scales import BLOCK
from .tile_gemm import build_tile_gemm
from .tile_spec import TileGemm

__all__ = ["build_blockscale_gemm", "compile_blockscale_preshuffle_gemm"]

_OUTPUTS = ("bf16", "fp16")
_LEAST_BYTES = 1024  # of a tile of A that go by in a step
_MOST_WAVES = 8  # of a SIMD


def compile_blockscale_preshuffle_gemm(
    *,
    M: int,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    scale_block_k: int = BLOCK,
    out_dtype: str = "bf16",
    use_cshuffle_epilog: bool = False,
    waves_per_eu: int | None = None,
    use_async_copy: bool = False,
) -> Callable[..., Any]:
    """Build the launcher of a GEMM with block scales; the page's top says what it computes.

    Args:
        M: documents the caller's intent: the number of rows is an argument of the launch.
        N, K: columns of C, and what is summed over.
        tile_m, tile_n, tile_k: what a workgroup computes, and of what K is a multiple; how much of K it takes at a time
            is what LDS and registers allow.
        scale_block_k: elements of K that share a scale: 128.
        out_dtype: "bf16" or "fp16".
        use_cshuffle_epilog: results leave by way of LDS, in whole rows of the tile.
        waves_per_eu: occupancy to ask of register allocation; None or 0 asks for nothing.
        use_async_copy: A does not pass through registers on its way to LDS. Here it then does not go to LDS at all:
            each wave loads the rows that it multiplies, straight into the operands of its matrix instructions.

    Returns a `@flyc.jit` function `(C, A, B, scale_a, scale_b, M, N, stream)`. It allocates nothing.

    Raises:
        ValueError: any limit of the page's top is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    positive_integer("M", M)
    launch = build_blockscale_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, scale_block_k=scale_block_k, out_dtype=out_dtype,
        shuffled_store=use_cshuffle_epilog, waves_per_eu=waves_per_eu, use_async_copy=use_async_copy,
    )  # fmt: skip

    @flyc.jit
    def blockscale_preshuffle_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch(C, A, B, M, N, stream, scale_a=scale_a, scale_b=scale_b)

    if waves_per_eu:
        blockscale_preshuffle_gemm.compile_hints = {"waves_per_eu": waves_per_eu}
    return blockscale_preshuffle_gemm


def build_blockscale_gemm(
    *,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    scale_block_k: int = BLOCK,
    out_dtype: str = "bf16",
    shuffled_store: bool = False,
    waves_per_eu: int | None = None,
    use_async_copy: bool = False,
    enable_scheduler: bool = True,
    xcd_swizzle: int = 0,
    split_k: int = 1,
) -> Callable[..., None]:
    """Return the function `(C, A, B, M, N, stream, *, scale_a, scale_b[, workspace])` that a `@flyc.jit` body calls.

    Arguments and errors are those of `compile_blockscale_preshuffle_gemm`, and besides

        enable_scheduler: memory accesses lie between matrix instructions as the library says; else the compiler orders.
        xcd_swizzle: how many neighbouring column tiles the workgroups of one XCD share; 0 keeps the order.
        split_k: into how many parts K is cut, whose sums meet in the workspace (split_k, M, N) of f32, and are added in
            order by a second kernel.
    """
    arch = get_rocm_arch().split(":")[0]
    matrix_product(arch, "fp8", 1)  # refuses other architectures
    for name, value in (("N", N), ("K", K), ("tile_m", tile_m), ("tile_n", tile_n), ("tile_k", tile_k)):
        positive_integer(name, value)
    positive_integer("split_k", split_k)
    for name, flag in (("use_cshuffle_epilog", shuffled_store), ("use_async_copy", use_async_copy)):
        if not isinstance(flag, (bool, int)):
            raise ValueError(f"{name} is a bool, got {flag!r}")
    if out_dtype not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    if scale_block_k != BLOCK:
        raise ValueError(f"scale_block_k = {scale_block_k!r}: scales are of {BLOCK} elements of K")
    if K % tile_k:
        raise ValueError(f"K = {K} is no multiple of tile_k = {tile_k}: there is no tail along K")
    if K % (split_k * BLOCK):
        raise ValueError(f"K = {K} in split_k = {split_k} parts is no multiple of the {BLOCK} elements of a scale")
    if tile_k % scale_block_k:
        raise ValueError(f"tile_k = {tile_k} is no multiple of scale_block_k = {scale_block_k}")
    if tile_m % 16:
        raise ValueError(f"tile_m = {tile_m} is no multiple of 16, the rows of a matrix instruction")
    if tile_n != 64 and tile_n % BLOCK:
        raise ValueError(f"tile_n = {tile_n} is neither 64 nor a multiple of {BLOCK}, the columns of a scale")
    if N % tile_n:
        raise ValueError(f"N = {N} is no multiple of tile_n = {tile_n}: there is no tail along N")
    if tile_m * tile_k % _LEAST_BYTES:
        raise ValueError(f"tile_m * tile_k = {tile_m} * {tile_k} bytes are no multiple of {_LEAST_BYTES}")
    if isinstance(xcd_swizzle, bool) or not isinstance(xcd_swizzle, int) or not 0 <= xcd_swizzle <= N:
        raise ValueError(f"xcd_swizzle is a number of column tiles, or 0, got {xcd_swizzle!r}")
    if waves_per_eu is not None and (
        isinstance(waves_per_eu, bool) or not isinstance(waves_per_eu, int) or not 0 <= waves_per_eu <= _MOST_WAVES
    ):
        raise ValueError(f"waves_per_eu is a number of waves up to {_MOST_WAVES}, or None, got {waves_per_eu!r}")
    gemm = TileGemm(
        arch=arch, N=N, K=K, in_dtype="fp8", out_dtype=out_dtype, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k,
        epilogue=Epilogue(), shuffled=True, fenced=bool(enable_scheduler), direct=bool(use_async_copy),
        xcd_swizzle=xcd_swizzle, split_k=split_k, shuffled_store=bool(shuffled_store), waves_per_eu=waves_per_eu or 1,
        block_scaled=True,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "blockscale_preshuffle_gemm")

    def launch(C: Any, A: Any, B: Any, M: Any, n: Any, stream: Any, **extras: Any) -> None:
        fx.host_assert(n == N, f"argument 'N': the kernel was built for {N}, got {{}}", n)
        multiply(C, A, B, M, stream, **extras)

    return launch

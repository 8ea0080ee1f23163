# SPDX-License-Identifier: Apache-2.0
"""C = act(A B^T * scales + bias) with B in the order of `shuffle_weight`.

Shapes and layouts
    A (M, K) row-major; B (N, K) shuffled; C (M, N) row-major; scale_a (M) and scale_b (N) f32; bias (N) of C's type.
    Any of them may come flattened; rows of A and C may be apart, those of A by multiples of 16 bytes. A and B are of
    `in_dtype` ("fp16", "bf16", "fp8", "int8"; fp8 is E4M3 as the architecture has it, FNUZ on gfx942, and may come as
    plain bytes), or A of int8 and B of pairs of int4 ("int4", see `gemm.int4_weights`), C of `out_dtype` ("bf16",
    "fp16"). Sums are f32 (int32 for int8), and rounded once.

Limits
    K a multiple of `tile_k`, N of `tile_n`, `tile_n` of 64, `tile_m` of 16, `tile_k` of 64 bytes, and
    `tile_m * tile_k` elements a multiple of 4096 bytes; any M, also none. gfx942 and gfx950.

Algorithm and data movement
    One workgroup of 4 waves a tile, 8 for more than 32768 elements of it; grid (ceil(M / tile_m), N / tile_n). A goes
    from memory through registers, or directly on gfx950, into one of two LDS buffers in 128-bit pieces, xor-swizzled so
    that neither writes nor reads conflict; B never touches LDS: each wave loads the columns it owns as 1024 contiguous
    bytes a load, straight into the operands of its matrix instructions, one stage ahead. Where it takes fewer cycles,
    waves lie along K as well and are summed over at the end; where all do, as for few rows, A goes straight to
    registers too. Every element of A is read from memory once by each tile in its row, every element of B once by each
    tile in its column, but twice by 8 waves. See `common/mma/tile_plan.py` for the waves, `common/mma/schedule.py` for
    the order of the main loop and `common/mma/instructions.py` for the instructions. Rows past M read zeros and are not
    stored: buffer resources end there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.mfma_epilogues import parse_epilogue
from ..common.mma.tile_plan import WAVE
from ..common.shuffle import shuffle_weight
from .arguments import A_BYTES
from .tile_gemm import build_tile_gemm
from .tile_spec import TileGemm

__all__ = ["build_preshuffle_gemm", "compile_preshuffle_gemm", "shuffle_weight"]

THREADS = 4 * WAVE
_PASS_BYTES = 16 * THREADS  # what the workgroup loads by one 128-bit access a thread
_OUTPUTS = ("bf16", "fp16")
_TYPES = ("fp8", "int8", "int4", "fp16", "bf16")
_INT4_K = 1 << 17  # from which on sums of int8 times int4 may overflow
_MOST_WAVES = 8  # of a SIMD


def compile_preshuffle_gemm(
    *,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    in_dtype: str = "fp8",
    out_dtype: str = "bf16",
    epilogue: str = "none",
    waves_per_eu: int | None = None,
    enable_scheduler: bool = True,
    use_async_copy: bool = False,
    xcd_swizzle: int = 0,
    lds_stage: int = 2,
    preload: tuple[int, int] | None = None,
) -> Callable[..., Any]:
    """Build the launcher of a GEMM with shuffled B; the page's top says what it computes.

    Args:
        N, K: columns of C, and what is summed over.
        tile_m, tile_n, tile_k: what a workgroup computes, and of what K is a multiple; how much of K it takes at a time
            is what LDS and registers allow.
        in_dtype: "fp8", "int8", "fp16" or "bf16"; or "int4": A of int8, B as `compile_preshuffle_gemm_a8` has it.
        out_dtype: "bf16" or "fp16".
        epilogue: "none", "bias", "bias_relu", "bias_silu" or "bias_gelu".
        waves_per_eu: occupancy to ask of register allocation; None or 0 asks for nothing.
        enable_scheduler: keep the order of `common/mma/schedule.py`; else the compiler schedules.
        use_async_copy: A goes to LDS without registers (gfx950), where it goes to LDS.
        xcd_swizzle: how many neighbouring column tiles the workgroups of one XCD share; 0 keeps the order.
        lds_stage: LDS buffers of A, 1 or 2; with 1 no waves are along K.
        preload: (LDS reads, global loads) that go before the first matrix instruction of each phase; default none.

    Returns a `@flyc.jit` function `(C, A, B, scale_a, scale_b, bias, M, N, stream)`. The scales are read for fp8 and
    int8 only, the bias by epilogues with one: pass an empty tensor otherwise.

    Raises:
        ValueError: any limit of the page's top is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    launch = build_preshuffle_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=in_dtype, out_dtype=out_dtype,
        epilogue=epilogue, waves_per_eu=waves_per_eu, enable_scheduler=enable_scheduler, use_async_copy=use_async_copy,
        xcd_swizzle=xcd_swizzle, lds_stage=lds_stage, preload=preload,
    )  # fmt: skip

    @flyc.jit
    def preshuffle_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        bias: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch(C, A, B, M, N, stream, scale_a=scale_a, scale_b=scale_b, bias=bias)

    if waves_per_eu:
        preshuffle_gemm.compile_hints = {"waves_per_eu": waves_per_eu}
    return preshuffle_gemm


def build_preshuffle_gemm(
    *,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    in_dtype: str,
    out_dtype: str,
    epilogue: str = "none",
    waves_per_eu: int | None = None,
    enable_scheduler: bool = True,
    use_async_copy: bool = False,
    xcd_swizzle: int = 0,
    lds_stage: int = 2,
    preload: tuple[int, int] | None = None,
    shuffled_store: bool = False,
    split_k: int = 1,
) -> Callable[..., None]:
    """Return the function `(C, A, B, M, N, stream, **extras)` that a `@flyc.jit` body calls to launch the GEMM.

    Arguments and errors are those of `compile_preshuffle_gemm`, and besides

        shuffled_store: results leave by way of LDS; not with `split_k`.
        split_k: into how many parts K is cut, each a multiple of `tile_k`; more than one need the extra `workspace`
            (split_k, M, N) of f32.
    """
    arch = get_rocm_arch().split(":")[0]
    if in_dtype not in _TYPES:
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use one of {', '.join(_TYPES)}")
    if in_dtype == "int4" and isinstance(K, int) and K >= _INT4_K:
        raise ValueError(f"K = {K} int4 may overflow 32-bit sums; K must be less than {_INT4_K}")
    if out_dtype not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    element_bytes = A_BYTES[in_dtype]
    steps = parse_epilogue(epilogue, scaled=element_bytes == 1)
    matrix_product(arch, in_dtype, 1)  # refuses other architectures
    _check_numbers(N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
    _check_tile(N, K, tile_m, tile_n, tile_k, element_bytes, in_dtype, use_async_copy)
    positive_integer("split_k", split_k)
    if K % (split_k * tile_k):
        raise ValueError(f"K = {K} is no multiple of split_k * tile_k = {split_k} * {tile_k}: there is no tail along K")
    if isinstance(lds_stage, bool) or lds_stage not in (1, 2):
        raise ValueError(f"lds_stage is 1 or 2, got {lds_stage!r}")
    if use_async_copy and arch != "gfx950":
        raise ValueError(f"use_async_copy needs gfx950, which loads 16 bytes a lane into LDS; the target is {arch}")
    if isinstance(xcd_swizzle, bool) or not isinstance(xcd_swizzle, int) or not 0 <= xcd_swizzle <= N:
        raise ValueError(f"xcd_swizzle is a number of column tiles, or 0, got {xcd_swizzle!r}")
    early = _check_preload(preload)
    if waves_per_eu is not None and (
        isinstance(waves_per_eu, bool) or not isinstance(waves_per_eu, int) or not 0 <= waves_per_eu <= _MOST_WAVES
    ):
        raise ValueError(f"waves_per_eu is a number of waves up to {_MOST_WAVES}, or None, got {waves_per_eu!r}")
    gemm = TileGemm(
        arch=arch, N=N, K=K, in_dtype=in_dtype, out_dtype=out_dtype, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k,
        epilogue=steps, shuffled=True, buffers=lds_stage, direct=use_async_copy, fenced=enable_scheduler,
        preload=early, xcd_swizzle=xcd_swizzle, shuffled_store=shuffled_store, waves_per_eu=waves_per_eu or 1,
        split_k=split_k,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, f"preshuffle_gemm_{epilogue}")

    def launch(C: Any, A: Any, B: Any, M: Any, n: Any, stream: Any, **extras: Any) -> None:
        fx.host_assert(n == N, f"argument 'N': the kernel was built for {N}, got {{}}", n)
        multiply(C, A, B, M, stream, **extras)

    return launch


def _check_numbers(**numbers: Any) -> None:
    for name, value in numbers.items():
        positive_integer(name, value)


def _check_tile(
    N: int, K: int, tile_m: int, tile_n: int, tile_k: int, element_bytes: int, in_dtype: str, use_async_copy: bool
) -> None:
    depth = tile_k * element_bytes
    if K % tile_k:
        raise ValueError(f"K = {K} is no multiple of tile_k = {tile_k}: there is no tail along K")
    if tile_m % 16:
        raise ValueError(f"tile_m = {tile_m} is no multiple of 16, the rows of a matrix instruction")
    if tile_n % 64:
        raise ValueError(f"tile_n = {tile_n} is no multiple of 64, 16 columns for each of 4 waves")
    if N % tile_n:
        raise ValueError(f"N = {N} is no multiple of tile_n = {tile_n}: there is no tail along N")
    if depth % 64:
        raise ValueError(f"tile_k = {tile_k} {in_dtype} are {depth} bytes, no multiple of 64")
    chunks = depth // 16
    if (element_bytes == 1 or use_async_copy) and chunks & (chunks - 1):
        raise ValueError(
            f"tile_k = {tile_k} {in_dtype} are {chunks} chunks of 16 bytes; the swizzle of 8-bit types and of "
            "async copies needs a power of two"
        )
    if tile_m * depth % _PASS_BYTES:
        raise ValueError(
            f"tile_m * tile_k = {tile_m} * {tile_k} {in_dtype} are {tile_m * depth} bytes, no multiple of the "
            f"{_PASS_BYTES} that {THREADS} threads load at once"
        )


def _check_preload(preload: Any) -> tuple[int, int]:
    if preload is None:
        return 0, 0
    good = isinstance(preload, (tuple, list)) and len(preload) == 2
    if not good or any(isinstance(one, bool) or not isinstance(one, int) or one < 0 for one in preload):
        raise ValueError(f"preload is two non-negative ints (LDS reads, global loads), got {preload!r}")
    return preload[0], preload[1]

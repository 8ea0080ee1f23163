# SPDX-License-Identifier: Apache-2.0
"""C = act(A B^T * scales + bias) + residual for row-major B, any number of rows and columns, and split K.

Shapes and layouts
    A (M, K) and B (N, K), C and residual (M, N), rows of any possibly apart; scale_a (M) and scale_b (N) f32;
    bias (N). A and B are "fp16", "bf16", "fp8" or "int8" (fp8: E4M3, FNUZ on gfx942), or "int4x2" or "uint4x2", bytes
    of two int4 that K counts (gfx1100, gfx1201); C, bias and residual "fp16", "bf16" or "f32". Sums are f32 (int32 for
    integers).

Limits
    N a multiple of 4; K of `split_k * tile_k`, and `tile_k` of 64 bytes; rows of A and B begin at multiples of 16
    bytes. With `shuffled`, B is in the order of `shuffle_weight` and N a multiple of 16. gfx942 and gfx950; without
    `shuffled`, waves along K, asynchronous copies and a swizzle of dies also gfx1201 and (no fp8) gfx1100.

Algorithm and data movement
    The main loop of `preshuffle_gemm`: A through LDS, B straight into registers. A wave reads a block of 16 rows of B
    as 16 pieces of 64 bytes, or as 1024 bytes in one piece where it is shuffled. For few rows (decode) the tile is as
    low as 16 rows and the time is that of reading B. With `split_k` > 1 the parts of K go to different workgroups,
    which write f32 sums to a workspace (split_k, M, N); a second kernel adds them in order. On gfx1201 and gfx1100 both
    operands go through LDS, see `common/mma/staged_loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import WMMA_CHIPS
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.mfma_epilogues import ACTIVATIONS, Epilogue
from .arguments import ELEMENT_BYTES
from .config import GemmConfig
from .tile_gemm import build_tile_gemm
from .tile_spec import OUTPUTS, TileGemm
from .wmma_gemm import on_wmma

__all__ = ["compile_gemm"]


def compile_gemm(
    *,
    N: int,
    K: int,
    config: GemmConfig,
    in_dtype: str,
    out_dtype: str,
    epilogue: Epilogue | None = None,
    shuffled: bool = False,
) -> Callable[..., Any]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        N, K: columns of C, and what is summed over.
        config: how the product is cut up.
        in_dtype, out_dtype: types of A and B, and of C.
        epilogue: what happens to the sums; by default 8-bit types are scaled and nothing else.
        shuffled: B is in the order of `shuffle_weight`.

    Returns a `@flyc.jit` function `(C, A, B, scale_a, scale_b, bias, residual, workspace, M, stream)`. Of scales, bias,
    residual and workspace those that are not used may be empty.

    Raises:
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = get_rocm_arch().split(":")[0]
    config.check(arch, in_dtype, N, K, shuffled=shuffled)
    if out_dtype not in OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(OUTPUTS)}")
    if arch not in WMMA_CHIPS:
        matrix_product(arch, in_dtype, 1)  # refuses other architectures
    steps = Epilogue(scaled=ELEMENT_BYTES[in_dtype] == 1) if epilogue is None else epilogue
    if steps.activation not in ACTIVATIONS:
        raise ValueError(f"activation {steps.activation!r} is not supported; use one of {', '.join(ACTIVATIONS)}")
    gemm = TileGemm(
        arch=arch, N=N, K=K, in_dtype=in_dtype, out_dtype=out_dtype, tile_m=config.tile_m, tile_n=config.tile_n,
        tile_k=config.tile_k, epilogue=steps, shuffled=shuffled, waves=config.waves, k_waves=config.k_waves,
        buffers=config.lds_stage, direct=config.use_async_copy, xcd_swizzle=config.xcd_swizzle, group_m=config.group_m,
        split_k=config.split_k, waves_per_eu=config.waves_per_eu or 1,
    )  # fmt: skip
    if arch in WMMA_CHIPS:
        gemm = on_wmma(gemm)
    launch = build_tile_gemm(gemm, "gemm")

    @flyc.jit
    def gemm_nt(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        bias: fx.Tensor,
        residual: fx.Tensor,
        workspace: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        extras = {"scale_a": scale_a, "scale_b": scale_b, "bias": bias, "residual": residual}
        launch(C, A, B, M, stream, workspace=workspace, **extras)

    if config.waves_per_eu:
        gemm_nt.compile_hints = {"waves_per_eu": config.waves_per_eu}
    return gemm_nt

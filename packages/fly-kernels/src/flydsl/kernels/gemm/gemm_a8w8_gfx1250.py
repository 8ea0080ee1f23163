# SPDX-License-Identifier: Apache-2.0
"""The launch of fp8 GEMMs with a scale for each row of A and of B by pointers, for gfx1250.

Shapes and layouts
    A (m, K) fp8 (E4M3FN), `lda` bytes from one row to the next; B (N, K) bytes in tiles of 16 by 16, see
    `gemm_fp8fp4_gfx1250`; scale_a (m) and scale_b (N) f32; C (m, N), `ldc` elements apart, bf16 or with `out_is_f16`
    f16. Sums are f32.

Limits
    N is a multiple of tile_n * cluster_n, K of tile_k, 128, 256 or 512, with as many steps as there are buffers; rows
    of A and C begin at multiples of 16 bytes. m is whatever it is.
"""

from __future__ import annotations

from typing import Any

from ..common.language import flyc, fx
from ..common.lazy_jit import LazyJit
from .tdm_gemm import TdmGemm, build_tdm_gemm, check_apart
from .wmma_gemm import target_of

__all__ = ["launch_gemm_a8w8"]


def _jit() -> Any:
    @flyc.jit
    def launch_gemm_a8w8(
        C: fx.Pointer,
        A: fx.Pointer,
        B: fx.Pointer,
        scale_a: fx.Pointer,
        scale_b: fx.Pointer,
        m: fx.Int32,
        stream: fx.Stream,
        N: fx.Constexpr[int],
        K: fx.Constexpr[int],
        stride_ascale_k: fx.Constexpr[int],
        lda: fx.Int32,
        ldc: fx.Int32,
        tile_m: fx.Constexpr[int],
        tile_n: fx.Constexpr[int],
        tile_k: fx.Constexpr[int],
        m_warp: fx.Constexpr[int],
        n_warp: fx.Constexpr[int],
        out_is_f16: fx.Constexpr[int],
        num_buffers: fx.Constexpr[int],
        cluster_m: fx.Constexpr[int] = 1,
        cluster_n: fx.Constexpr[int] = 1,
        is_bsc: fx.Constexpr[bool] = False,
    ) -> None:
        target_of("gemm_a8w8_gfx1250", ("gfx1250",))
        if is_bsc or stride_ascale_k:
            raise ValueError(
                "launch_gemm_a8w8: scales of blocks of K (is_bsc, stride_ascale_k) are not written; a row has one: "
                "use is_bsc=False and stride_ascale_k=0, or scales of E8M0 (gemm_fp8fp4_gfx1250)"
            )
        gemm = TdmGemm(
            N, K, ("fp8", "fp8"), "f16" if out_is_f16 else "bf16", (tile_m, tile_n, tile_k), (m_warp, n_warp),
            num_buffers, tiles=True, cluster=(cluster_m, cluster_n), row_scaled=True,
        )  # fmt: skip
        check_apart(lda=(lda, K, 16), ldc=(ldc, N, 8))
        C = fx.recast_iter(fx.Float16 if out_is_f16 else fx.BFloat16, C)
        operands = [fx.recast_iter(fx.Uint8, one) for one in (A, B)]
        scales = {"scale_a": fx.recast_iter(fx.Float32, scale_a), "scale_b": fx.recast_iter(fx.Float32, scale_b)}
        build_tdm_gemm(gemm, "gemm_a8w8")(C, *operands, m, stream, apart={"A": lda, "C": ldc}, **scales)

    return launch_gemm_a8w8


launch_gemm_a8w8: Any = LazyJit(_jit)
"""Launch C = A B^T * scale_a * scale_b: `(C, A, B, scale_a, scale_b : pointers, m, stream, N, K, stride_ascale_k, lda,
ldc, tile_m, tile_n, tile_k, m_warp, n_warp, out_is_f16, num_buffers, cluster_m=1, cluster_n=1, is_bsc=False)`; N, K,
stride_ascale_k and from tile_m on constants. `is_bsc` is False and `stride_ascale_k` 0: there are no scales along K.

Raises RuntimeError where the target is not gfx1250, ValueError, with the numbers, for a limit that is not kept.
"""

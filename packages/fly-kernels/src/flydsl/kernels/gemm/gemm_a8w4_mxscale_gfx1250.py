# SPDX-License-Identifier: Apache-2.0
"""The launch of GEMMs of fp8 by fp4 with scales of E8M0 by pointers, for gfx1250; `gemm_fp8fp4_gfx1250` has the rest.

Shapes and layouts
    A (m, K) fp8 (E4M3FN), `lda` bytes from one row to the next; B (N, K / 2) bytes in tiles of 16 by 16; C (m, N),
    `ldc` elements apart, bf16 or with `out_is_f16` f16.
"""

from __future__ import annotations

from typing import Any

from ..common.language import flyc, fx
from ..common.lazy_jit import LazyJit
from .gemm_fp8fp4_gfx1250 import DATA_FORMATS
from .tdm_gemm import TdmGemm, build_tdm_gemm, check_apart
from .wmma_gemm import target_of

__all__ = ["launch_gemm_a8w4_mxscale"]


def _jit() -> Any:
    @flyc.jit
    def launch_gemm_a8w4_mxscale(
        C: fx.Pointer,
        A: fx.Pointer,
        B: fx.Pointer,
        scale_a: fx.Pointer,
        scale_b: fx.Pointer,
        m: fx.Int32,
        stream: fx.Stream,
        N: fx.Constexpr[int],
        K: fx.Constexpr[int],
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
    ) -> None:
        target_of("gemm_a8w4_mxscale_gfx1250", ("gfx1250",))
        gemm = TdmGemm(
            N, K, DATA_FORMATS["a8w4"], "f16" if out_is_f16 else "bf16", (tile_m, tile_n, tile_k), (m_warp, n_warp),
            num_buffers, scaled=True, tiles=True, cluster=(cluster_m, cluster_n),
        )  # fmt: skip
        check_apart(lda=(lda, K, 16), ldc=(ldc, N, 8))
        C = fx.recast_iter(fx.Float16 if out_is_f16 else fx.BFloat16, C)
        operands = [fx.recast_iter(fx.Uint8, one) for one in (A, B)]
        scales = {"scale_a": fx.recast_iter(fx.Uint8, scale_a), "scale_b": fx.recast_iter(fx.Uint8, scale_b)}
        build_tdm_gemm(gemm, "gemm_a8w4_mxscale")(C, *operands, m, stream, apart={"A": lda, "C": ldc}, **scales)

    return launch_gemm_a8w4_mxscale


launch_gemm_a8w4_mxscale: Any = LazyJit(_jit)
"""Launch C = A B^T: `(C, A, B, scale_a, scale_b : pointers, m, stream, N, K, lda, ldc, tile_m, tile_n, tile_k, m_warp,
n_warp, out_is_f16, num_buffers, cluster_m=1, cluster_n=1)`; N, K and from tile_m on constants.

Raises RuntimeError where the target is not gfx1250, ValueError, with the numbers, for a limit that is not kept.
"""

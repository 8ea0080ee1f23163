# SPDX-License-Identifier: Apache-2.0
"""The launch of f16 and bf16 GEMMs of gfx1250 by pointers, rows of any distance; `wmma_gemm_gfx1250` has the rest.

Shapes and layouts
    A (m, K), B (N, K), C (m, N), row-major, `lda`, `ldb` and `ldc` elements from one row to the next; all of them bf16,
    or with `is_f16` f16. Sums are f32.

Limits
    N is a multiple of tile_n * cluster_n, K of tile_k with two or more steps, and as many as there are buffers; rows of
    A and B begin at multiples of 16 bytes, those of C too. m is whatever it is.
"""

from __future__ import annotations

from typing import Any

from ..common.language import flyc, fx
from ..common.lazy_jit import LazyJit
from .tdm_gemm import TdmGemm, build_tdm_gemm, check_apart
from .wmma_gemm import target_of
from .wmma_gemm_gfx1250 import refuse_options

__all__ = ["launch_gemm_bf16"]


def _jit() -> Any:
    @flyc.jit
    def launch_gemm_bf16(
        C: fx.Pointer,
        A: fx.Pointer,
        B: fx.Pointer,
        m: fx.Int32,
        stream: fx.Stream,
        N: fx.Constexpr[int],
        K: fx.Constexpr[int],
        lda: fx.Int32,
        ldb: fx.Int32,
        ldc: fx.Int32,
        tile_m: fx.Constexpr[int],
        tile_n: fx.Constexpr[int],
        tile_k: fx.Constexpr[int],
        m_warp: fx.Constexpr[int],
        n_warp: fx.Constexpr[int],
        num_buffers: fx.Constexpr[int],
        is_f16: fx.Constexpr[int] = 0,
        cluster_m: fx.Constexpr[int] = 1,
        cluster_n: fx.Constexpr[int] = 1,
        tdm_balance: fx.Constexpr[int] = 0,
        wmma_b2b: fx.Constexpr[int] = 0,
    ) -> None:
        target_of("gemm_bf16_gfx1250", ("gfx1250",))
        refuse_options(tdm_balance=tdm_balance, wmma_b2b=wmma_b2b)
        kind = "fp16" if is_f16 else "bf16"
        gemm = TdmGemm(
            N, K, (kind, kind), {"fp16": "f16"}.get(kind, kind), (tile_m, tile_n, tile_k), (m_warp, n_warp),
            num_buffers, cluster=(cluster_m, cluster_n),
        )  # fmt: skip
        check_apart(lda=(lda, K, 8), ldb=(ldb, K, 8), ldc=(ldc, N, 8))
        element = fx.Float16 if is_f16 else fx.BFloat16
        pointers = [fx.recast_iter(element, one) for one in (C, A, B)]
        build_tdm_gemm(gemm, "gemm_bf16")(*pointers, m, stream, apart={"A": lda, "B": ldb, "C": ldc})

    return launch_gemm_bf16


launch_gemm_bf16: Any = LazyJit(_jit)
"""Launch C = A B^T: `(C, A, B : pointers, m, stream, N, K, lda, ldb, ldc, tile_m, tile_n, tile_k, m_warp, n_warp,
num_buffers, is_f16=0, cluster_m=1, cluster_n=1, tdm_balance=0, wmma_b2b=0)`; N, K and from tile_m on constants.

`num_buffers` is 2, 3 or 4. `tdm_balance` and `wmma_b2b` are 0: every wave brings a part of both operands, and the
compiler orders products.

Raises RuntimeError where the target is not gfx1250, ValueError, with the numbers, for a limit that is not kept.
"""

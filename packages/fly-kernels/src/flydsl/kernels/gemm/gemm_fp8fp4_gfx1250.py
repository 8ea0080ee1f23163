# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in fp8 or fp4 with scales of E8M0, with WMMA and the tensor data mover, for gfx1250.

Shapes and layouts
    A (M, K) fp8 (E4M3FN), or (M, K / 2) bytes of two fp4 (E2M1), row-major; B (N, K) fp8, or (N, K / 2) bytes, in tiles
    of 16 rows by 16 bytes: (N / 16, 16, bytes / 16, 16) becomes (N / 16, bytes / 16, 16, 16). `data_format` "fp8" has
    both in fp8, "fp4" both in fp4, "a8w4" A in fp8 and B in fp4. Scales of E8M0, one for 32 of K, in the order of
    `shuffle_scale_32x4`. C (M, N) f32, bf16 or f16. Sums are f32.

Limits
    tile_m and tile_n are multiples of 32, tile_k 128, 256 or 512; K / split_k is a multiple of tile_k with as many
    steps as there are buffers or more; N a multiple of tile_n * cluster_n. M is whatever it is.

Algorithm and data movement
    As in `wmma_gemm_gfx1250`; the tensor data mover brings the scales as well. A lane has one word of scales of each
    row for 128 of K, which the instruction takes as it is. Parts of K add themselves to C by f32 atomics, which is then
    right within rounding, but not the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..common.language import flyc, fx
from .tdm_gemm import TdmGemm, build_tdm_gemm
from .wmma_gemm import target_of
from .wmma_gemm_gfx1250 import refuse_options, waves_of_hint

__all__ = ["DATA_FORMATS", "compile_a8w4_gemm", "compile_mxfp4_gemm", "compile_mxfp8_gemm", "compile_mxscale_gemm"]

DATA_FORMATS = {"fp4": ("fp4", "fp4"), "fp8": ("fp8", "fp8"), "a8w4": ("fp8", "fp4")}
"""The formats of A and B by `data_format`."""


def compile_mxscale_gemm(
    *,
    data_format: str = "fp4",
    M: int = 0,
    N: int = 0,
    K: int,
    tile_m: int = 128,
    tile_n: int = 128,
    tile_k: int = 128,
    m_warp: int = 2,
    n_warp: int = 2,
    num_buffers: int = 2,
    waves_per_eu: int | None = None,
    l2_prefetch_distance: int = 2,
    use_tdm_store: bool = True,
    out_dtype: str = "f32",
    split_k: int = 1,
    use_scale_opsel: bool = False,
    scale_load_path: str = "tdm",
    cluster_m: int = 1,
    cluster_n: int = 1,
    inst_prefetch: bool = False,
    wave_specialized_tdm: bool = False,
    expert_sched_mode: bool = False,
) -> Callable[..., None]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        data_format: "fp4", "fp8" or "a8w4".
        M: rows of A; 0, or any number: the launcher takes it.
        N, K: extents, in elements; N has to be given.
        tile_m, tile_n, tile_k: of a workgroup, in elements; the first two are multiples of 16 for each wave, too.
        m_warp, n_warp: the grid of waves.
        num_buffers: 2, 3 or 4.
        out_dtype: "f32", "bf16" or "f16".
        split_k: parts of K, each for workgroups of its own, for an f32 C and without `use_tdm_store`.
        use_scale_opsel: False: waves take turns in blocks of 16 rows, so no two of a wave share a word of scales.
        scale_load_path: "tdm"; there is no other.
        waves_per_eu, l2_prefetch_distance, use_tdm_store, cluster_m, cluster_n, inst_prefetch, wave_specialized_tdm,
        expert_sched_mode: as in `compile_wmma_gemm_tdm`; with `wave_specialized_tdm` four waves bring A, B and their
            scales.

    Returns a `@flyc.jit` function `(C, A, B, scale_a, scale_b, M, N, stream)`; its N is that of here.

    Raises:
        RuntimeError: the target is not gfx1250.
        ValueError: a limit is not kept, with the numbers, or an option is not written.
        ImportError: there is no compiler.
    """
    target_of("gemm_fp8fp4_gfx1250", ("gfx1250",))
    refuse_options(use_scale_opsel=use_scale_opsel, inst_prefetch=inst_prefetch, expert_sched_mode=expert_sched_mode)
    if data_format not in DATA_FORMATS:
        raise ValueError(f"data_format {data_format!r} is not supported; use one of {', '.join(DATA_FORMATS)}")
    if scale_load_path != "tdm":
        raise ValueError(f"scale_load_path {scale_load_path!r} is not written; use 'tdm'")
    gemm = TdmGemm(
        N, K, DATA_FORMATS[data_format], out_dtype, (tile_m, tile_n, tile_k), (m_warp, n_warp), num_buffers,
        scaled=True, tiles=True, prefetched=l2_prefetch_distance, moved_store=use_tdm_store,
        specialized=wave_specialized_tdm, cluster=(cluster_m, cluster_n), split_k=split_k,
    )  # fmt: skip
    multiply, columns = build_tdm_gemm(gemm, "mxscale_gemm"), N
    hint = waves_of_hint(waves_per_eu)

    @flyc.jit
    def launch_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        fx.host_assert(columns == N, f"argument 'N': the kernel is built for {columns}, got {{}}", N)
        multiply(C, A, B, M, stream, scale_a=scale_a, scale_b=scale_b)

    launch_gemm.compile_hints = hint
    return launch_gemm


compile_mxfp4_gemm = partial(compile_mxscale_gemm, data_format="fp4")
"""`compile_mxscale_gemm` with A and B in fp4."""
compile_mxfp8_gemm = partial(compile_mxscale_gemm, data_format="fp8")
"""`compile_mxscale_gemm` with A and B in fp8."""
compile_a8w4_gemm = partial(compile_mxscale_gemm, data_format="a8w4")
"""`compile_mxscale_gemm` with A in fp8 and B in fp4."""

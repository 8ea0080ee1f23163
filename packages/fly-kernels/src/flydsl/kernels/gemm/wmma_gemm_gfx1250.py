# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in f16 or bf16 with WMMA and the tensor data mover, for gfx1250.

Shapes and layouts
    A (M, K), B (N, K), C (M, N), row-major. A and B are both "bf16" or both "fp16"; C is f16, bf16 or f32. Sums are
    f32.

Limits
    K is a multiple of tile_k, a power of two from 32 on, with as many steps as there are buffers or more; N a multiple
    of tile_n * cluster_n. M is whatever it is: rows beyond the last arrive as zeros and are not stored.

Algorithm and data movement
    A workgroup of m_warp x n_warp waves of 32 lanes computes a tile; both operands come to `num_buffers` LDS buffers
    with rows padded by 16 bytes (`common/mma/tdm_loop.py`). Results leave by way of LDS, whole rows at once, or
    straight from registers. Workgroups of a cluster share the rows that they have in common.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.language import flyc, fx
from .tdm_gemm import TdmGemm, build_tdm_gemm
from .wmma_gemm import target_of

__all__ = ["compile_wmma_gemm_tdm", "refuse_options", "waves_of_hint"]

_MOST_WAVES_PER_SIMD = 16


def compile_wmma_gemm_tdm(
    *,
    M: int = 0,
    N: int = 0,
    K: int,
    tile_m: int = 256,
    tile_n: int = 256,
    tile_k: int = 128,
    m_warp: int = 2,
    n_warp: int = 4,
    in_dtype: str = "fp16",
    out_dtype: str | None = None,
    num_buffers: int = 2,
    waves_per_eu: int | None = None,
    l2_prefetch_distance: int = 2,
    use_tdm_store: bool = True,
    cluster_m: int = 1,
    cluster_n: int = 1,
    inst_prefetch: bool = False,
    wave_specialized_tdm: bool = False,
    expert_sched_mode: bool = False,
) -> Callable[..., None]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M: rows of A; 0, or any number: the launcher takes it.
        N, K: extents; N has to be given.
        tile_m, tile_n, tile_k: of a workgroup; multiples of 16 for each wave.
        m_warp, n_warp: the grid of waves.
        in_dtype: "fp16" or "bf16", of A and B.
        out_dtype: "f16", "bf16" or "f32"; None takes that of A and B.
        num_buffers: 2, 3 or 4.
        waves_per_eu: waves a SIMD that the compiler is to leave registers for; None lets it choose.
        l2_prefetch_distance: how many steps ahead of a transfer its lines are asked for into L2; 0 for none.
        use_tdm_store: results leave by way of LDS and the tensor data mover.
        cluster_m, cluster_n: workgroups of a cluster, up to 16: those side by side along N share rows of A, those along
            M rows of B.
        wave_specialized_tdm: one wave brings all of A and another all of B, instead of every wave a part of each.
        inst_prefetch, expert_sched_mode: False; the compiler has neither.

    Returns a `@flyc.jit` function `(C, A, B, M, N, stream)`; its N is that of here.

    Raises:
        RuntimeError: the target is not gfx1250.
        ValueError: a limit is not kept, with the numbers, or an option is not written.
        ImportError: there is no compiler.
    """
    target_of("wmma_gemm_gfx1250", ("gfx1250",))
    refuse_options(inst_prefetch=inst_prefetch, expert_sched_mode=expert_sched_mode)
    if in_dtype not in ("fp16", "bf16"):
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use fp16 or bf16")
    gemm = TdmGemm(
        N, K, (in_dtype, in_dtype), out_dtype or {"fp16": "f16"}.get(in_dtype, in_dtype), (tile_m, tile_n, tile_k),
        (m_warp, n_warp), num_buffers, prefetched=l2_prefetch_distance, moved_store=use_tdm_store,
        specialized=wave_specialized_tdm, cluster=(cluster_m, cluster_n),
    )  # fmt: skip
    multiply, columns = build_tdm_gemm(gemm, "wmma_gemm_tdm"), N
    hint = waves_of_hint(waves_per_eu)

    @flyc.jit
    def launch_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        fx.host_assert(columns == N, f"argument 'N': the kernel is built for {columns}, got {{}}", N)
        multiply(C, A, B, M, stream)

    launch_gemm.compile_hints = hint
    return launch_gemm


def refuse_options(**options: object) -> None:
    """ValueError, by name, for an option that no kernel here has."""
    for name, value in options.items():
        if value not in (None, 0, False):
            raise ValueError(f"{name} other than its default is not written for gfx1250")


def waves_of_hint(waves_per_eu: int | None) -> dict[str, int]:
    """The compile hints of a launcher; ValueError for what is no number of waves of a SIMD."""
    if waves_per_eu is None:
        return {}
    if (
        isinstance(waves_per_eu, bool)
        or not isinstance(waves_per_eu, int)
        or not 1 <= waves_per_eu <= _MOST_WAVES_PER_SIMD
    ):
        raise ValueError(
            f"waves_per_eu is a number of waves up to {_MOST_WAVES_PER_SIMD}, or None, got {waves_per_eu!r}"
        )
    return {"waves_per_eu": waves_per_eu}

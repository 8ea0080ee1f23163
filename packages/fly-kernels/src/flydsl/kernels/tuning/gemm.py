# SPDX-License-Identifier: Apache-2.0
"""GEMM: which tiles, waves and parts of K there are to choose from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..common.arch import architecture, float8_of
from ..common.mma.mfma_epilogues import Epilogue
from ..common.utils import cdiv
from ..gemm.arguments import ELEMENT_BYTES
from ..gemm.config import GemmConfig
from ..gemm.dispatch import multiply
from ..gemm.tile_spec import TileGemm
from .device import LAUNCH_CYCLES, LOAD_CYCLES, peak, place_of_operands, sets_of_operands, sources_hash
from .hopper_gemm import hopper_gemm_arguments, hopper_gemm_tuner

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = ["gemm_estimate", "gemm_problem", "gemm_space"]

_STAGE = 256  # bytes of K that a workgroup has under way


def _config(in_dtype: str, waves: list[int] | None, **values: Any) -> GemmConfig:
    """The configuration; `waves` is a list on the axis, because JSON, where results are kept, has no tuples."""
    grid = None if waves is None else (waves[0], waves[1])
    return GemmConfig(tile_k=64 // ELEMENT_BYTES[in_dtype], waves=grid, **values)


def gemm_space() -> Space:
    """Tiles, grids of waves and parts of K; constraints name `arch`, `in_dtype`, `M`, `N` and `K`."""
    from flydsl.autotune import Space

    def tiles_meet_the_rows(tile_m: int, M: int) -> bool:
        return tile_m <= max(16, 2 * M - 1)

    def parts_find_compute_units(tile_m: int, tile_n: int, split_k: int, M: int, N: int) -> bool:
        return split_k == 1 or cdiv(M, tile_m) * cdiv(N, tile_n) * split_k <= 2 * peak().units

    def a_kernel_is_there(
        tile_m: int, tile_n: int, split_k: int, waves: list[int] | None, arch: str, in_dtype: str, N: int, K: int
    ) -> bool:  # fmt: skip
        config = _config(in_dtype, tile_m=tile_m, tile_n=tile_n, split_k=split_k, waves=waves)
        config.check(arch, in_dtype, N, K, shuffled=False)
        gemm = TileGemm(
            arch, N, K, in_dtype, "f32", tile_m, tile_n, config.tile_k, Epilogue(), shuffled=False, waves=config.waves,
            split_k=split_k,
        )  # fmt: skip
        return gemm.plan is not None  # which raises ValueError for what does not fit LDS and registers

    return Space(
        "gemm",
        constraints=[tiles_meet_the_rows, parts_find_compute_units, a_kernel_is_there],
        tile_m=[16, 32, 64, 128, 256],
        tile_n=[64, 128, 256],
        split_k=[1, 2, 4, 8, 16],
        waves=[None, [2, 2], [2, 4], [4, 2]],
    )


def gemm_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles by the shape of the work alone: rounds of workgroups, each bound by matrix unit, L2 or latency."""
    chosen, at = config.to_dict(), peak()
    M, N, K, size = named["M"], named["N"], named["K"], ELEMENT_BYTES[named["in_dtype"]]
    tile_m, tile_n, split = chosen["tile_m"], chosen["tile_n"], chosen["split_k"]
    groups = cdiv(M, tile_m) * cdiv(N, tile_n) * split
    waves = 4 if chosen["waves"] is None else chosen["waves"][0] * chosen["waves"][1]
    together = min(cdiv(groups, at.units), max(1, 8 // waves if tile_m * tile_n <= 16384 else 4 // waves))
    depth = K // split
    matrix = 2.0 * tile_m * tile_n * depth / (at.flops * 2 / size)
    loads = (tile_m + tile_n) * depth * size / at.l2
    latency = cdiv(depth * size, _STAGE) * LOAD_CYCLES / 2 + LOAD_CYCLES
    round_of = max(together * matrix, together * loads, latency)
    memory = (M * K + N * K + M * N) * size / at.hbm
    rounds = cdiv(groups, at.units * together) * round_of
    total = math.hypot(rounds, memory) + LAUNCH_CYCLES  # limits that are close to each other both cost
    if split > 1:
        total += LAUNCH_CYCLES + split * M * N * 4 * 2 / at.hbm
    return float(total)


def gemm_problem(M: int, N: int, K: int, in_dtype: str = "bf16", **search: Any) -> tuple[Autotuner, tuple[Any, ...]]:
    """C (M, N) = A (M, K) B^T (N, K), row-major; `search` is passed to `flydsl.autotune.Search`.

    C of bf16 and fp16 has their type; that of fp8 and int8, whose rows and columns have scales, is bf16. On sm_90a the
    space is that of `HopperConfig`, and on the GPU some sets of operands take turns, so that they come from its memory.

    Raises ValueError for another type.
    """
    import torch

    from flydsl.autotune import Search, autotune

    arch = architecture().name
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "int8": torch.int8}
    if in_dtype == "fp8":
        kinds["fp8"] = getattr(torch, float8_of(arch).torch_name)
    if in_dtype not in kinds:
        raise ValueError(f"in_dtype {in_dtype!r}: the problem is made of one of {', '.join([*kinds, 'fp8'])}")
    kind, scaled = kinds[in_dtype], in_dtype in ("fp8", "int8")
    if arch == "sm_90a":
        where, size = place_of_operands(), ELEMENT_BYTES[in_dtype]

        def operands(seed: int) -> dict[str, Any]:
            generator = torch.Generator(where).manual_seed(seed)
            a, b = (torch.randn(rows, K, generator=generator, device=where).to(kind) for rows in (M, N))
            out = torch.empty(M, N, dtype=torch.bfloat16 if scaled else kind, device=where)
            scales = [torch.ones(rows, device=where) if scaled else None for rows in (M, N)]
            return {"a": a, "b": b, "out": out, "scale_a": scales[0], "scale_b": scales[1]}

        count = sets_of_operands((M + N) * K * size + M * N * 2)
        return hopper_gemm_tuner(**search), hopper_gemm_arguments([operands(seed) for seed in range(count)])

    def gemm(
        a: Any, b: Any, out: Any, scale_a: Any, scale_b: Any, arch: str, in_dtype: str, M: int, N: int, K: int,
        tile_m: int, tile_n: int, split_k: int, waves: list[int] | None,
    ) -> Any:  # fmt: skip
        config = _config(in_dtype, tile_m=tile_m, tile_n=tile_n, split_k=split_k, waves=waves)
        return multiply(a, b, out, scale_a=scale_a, scale_b=scale_b, config=config)

    gemm.source_digest = sources_hash()  # type: ignore[attr-defined]
    spec = Search(gemm_space(), **{"estimate": gemm_estimate, "sampled": True, **search})
    a, b = (torch.randn(rows, K, generator=torch.Generator().manual_seed(rows)).to(kind) for rows in (M, N))
    scales = (torch.ones(M), torch.ones(N)) if scaled else (None, None)
    out = torch.empty(M, N, dtype=torch.bfloat16 if scaled else kind)
    return autotune(spec, key=["in_dtype", "M", "N", "K"])(gemm), (a, b, out, *scales, arch, in_dtype, M, N, K)

# SPDX-License-Identifier: Apache-2.0
"""Flash attention: how many waves and query rows a workgroup has, and keys a tile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..attention.config import FlashConfig
from ..attention.flash_attn_kernel import build_dense
from ..common.utils import cdiv
from .device import LAUNCH_CYCLES, LOAD_CYCLES, peak, sources_hash

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = ["attention_estimate", "attention_problem", "attention_space"]

_REGISTERS = 512  # vector registers of a SIMD's lane
_LDS = 64.0  # bytes a cycle that a compute unit moves through LDS, each of them in and out


def _registers(head_dim: int, query_blocks: int, kv_tile: int) -> int:
    """Registers of a thread at the least: output, queries and scores of its rows, and a tile's fragments."""
    return query_blocks * (head_dim // 2 + head_dim // 4 + kv_tile // 2) + head_dim // 4


def attention_space() -> Space:
    """Waves, blocks of 32 query rows, keys of a tile, occupancy; constraints name `head_dim` and `queries`."""
    from flydsl.autotune import Space

    def registers_suffice(query_blocks: int, kv_tile: int, waves_per_eu: int, head_dim: int) -> bool:
        return _registers(head_dim, query_blocks, kv_tile) <= _REGISTERS // waves_per_eu

    def a_simd_has_that_many(waves: int, waves_per_eu: int) -> bool:
        return waves <= 4 * waves_per_eu

    def a_kernel_is_there(waves: int, query_blocks: int, kv_tile: int, waves_per_eu: int) -> bool:
        FlashConfig(waves, query_blocks, kv_tile, waves_per_eu)
        return True

    def rows_are_there(waves: int, query_blocks: int, queries: int) -> bool:
        return 32 * waves * query_blocks <= max(32, 2 * queries - 1)

    return Space(
        "attention",
        constraints=[registers_suffice, a_simd_has_that_many, a_kernel_is_there, rows_are_there],
        waves=[1, 2, 4, 8],
        query_blocks=[1, 2],
        kv_tile=[32, 64],
        waves_per_eu=[1, 2, 3],
    )


def attention_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles by the shape of the work: rounds of workgroups; waves of a SIMD hide what each waits for."""
    chosen, at = config.to_dict(), peak()
    waves, blocks, tile = chosen["waves"], chosen["query_blocks"], chosen["kv_tile"]
    head, keys = named["head_dim"], named["keys"]
    groups = cdiv(named["queries"], 32 * waves * blocks) * named["heads"] * named["batch"]
    together = min(cdiv(groups, at.units), max(1, 4 * chosen["waves_per_eu"] // waves))
    # Two products of 32 rows a block on one of four matrix units, and the softmax between them on the vector unit.
    matrix = 4.0 * 32 * blocks * tile * head / (at.flops / 4)
    vector = 32.0 * blocks * tile / 64 * 60
    staging = 2.0 * tile * head * 2 / _LDS + 60
    on_simd = cdiv(waves * together, 4)
    step = max(on_simd * matrix, on_simd * vector, matrix + vector + staging, together * staging)
    return float(cdiv(groups, at.units * together) * (cdiv(keys, tile) * step + 2 * LOAD_CYCLES) + LAUNCH_CYCLES)


@lru_cache(maxsize=64)
def _built(arch: str, heads: int, head_dim: int, dtype: str, causal: bool, config: FlashConfig) -> Any:
    return build_dense(heads, heads, head_dim, dtype, causal, False, None, config)


def attention_problem(
    batch: int, heads: int, queries: int, keys: int, head_dim: int, dtype: str = "bf16", causal: bool = False,
    **search: Any,
) -> tuple[Autotuner, tuple[Any, ...]]:  # fmt: skip
    """Dense attention of (batch, queries, heads, head_dim); `search` is passed to `flydsl.autotune.Search`."""
    import torch

    from flydsl.autotune import Search, autotune

    def attention(
        q: Any, k: Any, v: Any, out: Any, arch: str, dtype: str, batch: int, heads: int, queries: int, keys: int,
        head_dim: int, causal: bool, waves: int, query_blocks: int, kv_tile: int,
    ) -> None:  # fmt: skip
        from flydsl.compiler import CompilationContext

        occupancy = CompilationContext.get_compile_hints()["waves_per_eu"]
        launch = _built(arch, heads, head_dim, dtype, causal, FlashConfig(waves, query_blocks, kv_tile, occupancy))
        launch(q, k, v, out, q, batch, queries, keys)

    attention.source_digest = sources_hash()  # type: ignore[attr-defined]
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]
    spec = Search(attention_space(), **{"estimate": attention_estimate, "sampled": True, **search})

    def tensor(rows: int, seed: int) -> Any:
        return torch.randn(batch, rows, heads, head_dim, generator=torch.Generator().manual_seed(seed)).to(kind)

    from ..common.arch import architecture

    q, k, v = tensor(queries, 0), tensor(keys, 1), tensor(keys, 2)
    sizes = (batch, heads, queries, keys, head_dim)
    arguments = (q, k, v, torch.empty_like(q), architecture().name, dtype, *sizes, causal)
    names = ["dtype", "batch", "heads", "queries", "keys", "head_dim", "causal"]
    return autotune(spec, key=names)(attention), arguments

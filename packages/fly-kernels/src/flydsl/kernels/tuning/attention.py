# SPDX-License-Identifier: Apache-2.0
"""Flash attention: how many waves and query rows a workgroup has, keys a tile, and which loop walks over them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..attention.config import FlashConfig
from ..attention.flash_attn_kernel import build_dense
from ..attention.kv_staging import staging_of
from ..common.arch import LDS_BYTES, architecture
from ..common.utils import cdiv
from .device import LAUNCH_CYCLES, LOAD_CYCLES, peak, place_of_operands, sets_of_operands, sources_hash
from .hopper_attention import hopper_attention_arguments, hopper_attention_tuner

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = ["attention_estimate", "attention_problem", "attention_space"]

_REGISTERS = 512  # vector registers of a SIMD's lane
_WEIGHT, _STAGING, _WAIT = (
    45.0,
    0.06,
    550.0,
)  # cycles: 64 weights; an element of a tile; a tile's barriers and latencies
_ADDRESSES = 24  # registers of addresses, references and sums


def _registers(head_dim: int, query_blocks: int, kv_tile: int, waves: int) -> int:
    """Registers of a thread at the least: output, queries and scores of its rows, a tile's fragments, and its share of
    the next tile of keys and values."""
    rows = query_blocks * (head_dim // 2 + head_dim // 4 + kv_tile // 2)
    return rows + head_dim // 4 + kv_tile * head_dim // (64 * waves) + _ADDRESSES


def attention_config(values: Mapping[str, Any]) -> FlashConfig:
    """What the axes of `attention_space` mean: a loop that is pipelined has two tiles in LDS."""
    return FlashConfig(**values, stages=2 if values["pipelined"] else 1)


def _lds_bytes(config: FlashConfig, head_dim: int) -> int:
    """Of a workgroup: tiles of keys and of values, 16 bits each."""
    keys, values = staging_of(None, head_dim, config.kv_tile, config.threads, config.stages)
    return 2 * (keys.elements + values.elements)


def attention_space() -> Space:
    """Waves, blocks of 32 query rows, keys of a tile, loop, occupancy; constraints name `head_dim` and `queries`."""
    from flydsl.autotune import Space

    def registers_suffice(waves: int, query_blocks: int, kv_tile: int, waves_per_eu: int, head_dim: int) -> bool:
        return _registers(head_dim, query_blocks, kv_tile, waves) <= _REGISTERS // waves_per_eu

    def a_simd_has_that_many(waves: int, waves_per_eu: int) -> bool:
        return waves <= 4 * waves_per_eu

    def a_kernel_is_there(
        waves: int, query_blocks: int, kv_tile: int, pipelined: bool, waves_per_eu: int, head_dim: int
    ) -> bool:  # fmt: skip
        shape = {"waves": waves, "query_blocks": query_blocks, "kv_tile": kv_tile, "waves_per_eu": waves_per_eu}
        config = attention_config({**shape, "pipelined": pipelined})
        return _lds_bytes(config, head_dim) <= LDS_BYTES[architecture().name]

    def rows_are_there(waves: int, query_blocks: int, queries: int) -> bool:
        if queries <= 64:  # waves without rows bring keys and values, too
            return query_blocks == 1 and waves <= 4
        return 32 * waves * query_blocks < 2 * queries

    return Space(
        "attention",
        constraints=[registers_suffice, a_simd_has_that_many, a_kernel_is_there, rows_are_there],
        waves=[1, 2, 4, 8],
        query_blocks=[1, 2],
        kv_tile=[32, 64],
        pipelined=[False, True],
        waves_per_eu=[2, 1, 3],
    )


def attention_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles by the shape of the work: rounds of workgroups, each a row of tiles.

    A wave alone on its SIMD multiplies, computes weights, stages its share of the next tile and waits for LDS and
    barriers; where it is pipelined, products and weights overlap. Waves that share a SIMD fill each other's waits.
    """
    chosen, at = config.to_dict(), peak()
    waves, blocks, tile, head = chosen["waves"], chosen["query_blocks"], chosen["kv_tile"], named["head_dim"]
    rows = 32 * waves * blocks
    groups = cdiv(named["queries"], rows) * named["heads"] * named["batch"]
    slots = max(1, 4 * chosen["waves_per_eu"] // waves)
    fit = LDS_BYTES[architecture().name] // _lds_bytes(attention_config(chosen), head)
    together = min(cdiv(groups, at.units), slots, fit)
    # Two products of 32 rows a block on one of four matrix units, and the softmax between them on the vector unit.
    matrix, vector = 4.0 * 32 * blocks * tile * head / (at.flops / 4), _WEIGHT * 32 * blocks * tile / 64
    work = max(matrix, vector) if chosen["pipelined"] else matrix + vector
    staging = _STAGING * tile * head / waves
    step = max(cdiv(waves * together, 4) * work, work + staging + _WAIT)
    keys = named["keys"] if not named["causal"] else (named["keys"] + rows) / 2
    return float(cdiv(groups, at.units * together) * (keys / tile * step + 2 * LOAD_CYCLES) + LAUNCH_CYCLES)


@lru_cache(maxsize=64)
def _built(arch: str, heads: int, head_dim: int, dtype: str, causal: bool, config: FlashConfig) -> Any:
    return build_dense(heads, heads, head_dim, dtype, causal, False, None, config)


def attention_problem(
    batch: int, heads: int, queries: int, keys: int, head_dim: int, dtype: str = "bf16", causal: bool = False,
    **search: Any,
) -> tuple[Autotuner, tuple[Any, ...]]:  # fmt: skip
    """Dense attention of (batch, queries, heads, head_dim); `search` is passed to `flydsl.autotune.Search`.

    On sm_90a the space is that of `HopperAttentionConfig`.
    """
    import torch

    from flydsl.autotune import Search, autotune

    def attention(
        q: Any, k: Any, v: Any, out: Any, arch: str, dtype: str, batch: int, heads: int, queries: int, keys: int,
        head_dim: int, causal: bool, waves: int, query_blocks: int, kv_tile: int, pipelined: bool,
    ) -> None:  # fmt: skip
        from flydsl.compiler import CompilationContext

        chosen = {"waves": waves, "query_blocks": query_blocks, "kv_tile": kv_tile, "pipelined": pipelined}
        chosen["waves_per_eu"] = CompilationContext.get_compile_hints()["waves_per_eu"]
        launch = _built(arch, heads, head_dim, dtype, causal, attention_config(chosen))
        launch(q, k, v, out, q, batch, queries, keys)

    attention.source_digest = sources_hash()  # type: ignore[attr-defined]
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]
    if architecture().name == "sm_90a":
        where = place_of_operands()

        def operands(seed: int) -> tuple[Any, ...]:
            generator = torch.Generator(where).manual_seed(seed)
            q, k, v = (
                torch.randn(batch, rows, heads, head_dim, generator=generator, device=where).to(kind)
                for rows in (queries, keys, keys)
            )
            out = torch.empty_like(q)
            return q, k, v, out, out

        count = sets_of_operands((queries + keys) * 2 * batch * heads * head_dim * 2)
        some = [operands(seed) for seed in range(count)]
        return hopper_attention_tuner(**search), hopper_attention_arguments(some, causal)
    spec = Search(attention_space(), **{"estimate": attention_estimate, "sampled": True, **search})

    def tensor(rows: int, seed: int) -> Any:
        return torch.randn(batch, rows, heads, head_dim, generator=torch.Generator().manual_seed(seed)).to(kind)

    q, k, v = tensor(queries, 0), tensor(keys, 1), tensor(keys, 2)
    sizes = (batch, heads, queries, keys, head_dim)
    arguments = (q, k, v, torch.empty_like(q), architecture().name, dtype, *sizes, causal)
    names = ["dtype", "batch", "heads", "queries", "keys", "head_dim", "causal"]
    return autotune(spec, key=names)(attention), arguments

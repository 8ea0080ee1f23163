# SPDX-License-Identifier: Apache-2.0
"""Flash attention on NVIDIA Hopper: how many warpgroups multiply, keys a tile, stages, and whether they take turns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..attention.hopper_attention import compile_hopper_attention
from ..attention.hopper_config import REGISTERS, ROWS, HopperAttentionConfig, default_hopper_config
from ..common.utils import cdiv
from .device import LAUNCH_CYCLES, LOAD_CYCLES, operands_in_turn, peak, sources_hash

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = [
    "hopper_attention_arguments", "hopper_attention_candidates", "hopper_attention_estimate", "hopper_attention_space",
    "hopper_attention_tuner",
]  # fmt: skip

KV_TILES = (128, 176, 160, 144, 112, 96, 80, 64)
_NAMES = ("dtype", "batch", "heads", "kv_heads", "queries", "keys", "head_dim", "causal", "lse")
_ADDRESSES = 24  # registers of addresses, references and sums
_WEIGHTS = 16.0  # exponentials of a multiprocessor in a cycle
_TILE_CYCLES = 120.0  # barriers and latencies of a tile


def _registers(config: HopperAttentionConfig, head_dim: int) -> int:
    """Registers of a consumer's thread: sums of the output and of the scores, and weights in 16 bits."""
    return head_dim // 2 + config.kv_tile // 2 + config.kv_tile // 4 + _ADDRESSES


@lru_cache(maxsize=256)
def hopper_attention_candidates(
    head_dim: int, causal: bool, queries: int, keys: int
) -> tuple[HopperAttentionConfig, ...]:
    """The configurations that are worth a try for a shape, the default first: those that registers and shared memory
    have room for, with tiles of no more than all keys, and three stages or as many of two and three as fit."""
    default = default_hopper_config(head_dim, causal, queries)
    found = [default]
    for consumers in REGISTERS:
        for kv_tile in KV_TILES:
            for stages in (2, 3):
                for turns in (True, False):
                    one = HopperAttentionConfig(consumers, kv_tile, stages, turns)
                    try:
                        one.check(head_dim)
                    except ValueError:
                        continue
                    if _registers(one, head_dim) <= REGISTERS[consumers][1] and kv_tile < keys + 64:
                        found.append(one)
    return tuple(dict.fromkeys(found))


def hopper_attention_cycles(
    config: HopperAttentionConfig, batch: int, heads: int, queries: int, keys: int, head_dim: int, causal: bool
) -> float:
    """Cycles by the shape of the work: turns of the multiprocessors, each a block of query rows and its tiles of keys.

    Products and weights overlap, those of one warpgroup with another's.
    """
    at = peak()
    rows, tile = ROWS * config.consumers, config.kv_tile
    matrix = 4.0 * rows * tile * head_dim / at.flops
    weights = rows * tile / _WEIGHTS
    step = max(matrix, weights) + (_TILE_CYCLES if config.turns else 1.2 * _TILE_CYCLES) / (config.stages - 1) ** 0.1
    blocks = cdiv(queries, rows) * heads * batch
    # A block sees half of the keys in the mean where they are masked, and all of the tile that the mask cuts.
    seen = min(keys, (keys + rows + tile) / 2) if causal else float(cdiv(keys, tile) * tile)
    # Masked blocks are not equally long, so that shorter ones fill the last turn.
    turns = max(1.0, blocks / at.units) if causal else cdiv(blocks, at.units)
    block = seen / tile * step + min(matrix, weights) + rows * head_dim / 64
    return float(turns * block + 2 * LOAD_CYCLES + LAUNCH_CYCLES)


def _config(values: Mapping[str, Any]) -> HopperAttentionConfig:
    return HopperAttentionConfig(**{name: values[name] for name in HopperAttentionConfig.__dataclass_fields__})


def hopper_attention_space() -> Space:
    """The fields of `HopperAttentionConfig`; of all their combinations `hopper_attention_candidates` of the call."""
    from flydsl.autotune import Space

    def is_worth_a_try(
        consumers: int, kv_tile: int, stages: int, turns: bool, head_dim: int, causal: bool, queries: int, keys: int
    ) -> bool:
        config = HopperAttentionConfig(consumers, kv_tile, stages, turns)
        return config in hopper_attention_candidates(head_dim, causal, queries, keys)

    return Space(
        "hopper_attention",
        constraints=[is_worth_a_try],
        consumers=list(REGISTERS),
        kv_tile=list(KV_TILES),
        stages=[2, 3],
        turns=[True, False],
    )


def hopper_attention_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles of a configuration; of the default, which is measured first, a little less than the least of all."""
    work = [named[name] for name in ("batch", "heads", "queries", "keys", "head_dim", "causal")]
    chosen = _config(config.to_dict())
    candidates = hopper_attention_candidates(*(named[name] for name in ("head_dim", "causal", "queries", "keys")))
    if chosen == candidates[0]:
        return 0.999 * min(hopper_attention_cycles(one, *work) for one in candidates)
    return hopper_attention_cycles(chosen, *work)


@lru_cache(maxsize=64)
def _built(
    arch: str, dtype: str, head_dim: int, causal: bool, heads_per_kv: int, lse: bool, config: HopperAttentionConfig
) -> Any:
    """One launcher for all lengths; `arch` only distinguishes."""
    return compile_hopper_attention(
        dtype=dtype, head_dim=head_dim, causal=causal, heads_per_kv=heads_per_kv, return_lse=lse, config=config
    )


def hopper_attention_tuner(*, default: bool = False, **search: Any) -> Autotuner:
    """Dense attention forward under the tuner; `hopper_attention_arguments` makes its arguments.

    With `default` a call has the default configuration unless something is known, or FLYDSL_AUTOTUNE=1 asks for a
    search. Offline artifacts have the name "hopper_attention". `search` is passed to `flydsl.autotune.Search`.
    """
    from flydsl.autotune import Config, Search, autotune
    from flydsl.runtime.device import get_rocm_arch

    def hopper_attention(
        out: Any, operands: list[tuple[Any, ...]], dtype: str, batch: int, heads: int, kv_heads: int, queries: int,
        keys: int, head_dim: int, causal: bool, lse: bool, consumers: int, kv_tile: int, stages: int, turns: bool,
        stream: Any = None,
    ) -> None:  # fmt: skip
        config = HopperAttentionConfig(consumers, kv_tile, stages, turns)
        launch = _built(get_rocm_arch(), dtype, head_dim, causal, heads // kv_heads, lse, config)
        launch(*operands_in_turn(operands), stream)

    hopper_attention.source_digest = sources_hash()  # type: ignore[attr-defined]

    def usual(out: Any, operands: Any, *values: Any, stream: Any = None) -> Config:
        named = dict(zip(_NAMES, values, strict=True))
        return Config(**vars(default_hopper_config(named["head_dim"], named["causal"], named["queries"])))

    return autotune(
        Search(hopper_attention_space(), **{"estimate": hopper_attention_estimate, "method": "halving", **search}),
        key=list(_NAMES),
        default=usual if default else None,
        artifact_name="hopper_attention",
    )(hopper_attention)


def hopper_attention_arguments(operands: list[tuple[Any, ...]], causal: bool, lse: bool = False) -> tuple[Any, ...]:
    """What the tuner's function is called with, for (Q, K, V, O, LSE) that take turns; without LSE it may be any."""
    q, k, _, out, _ = operands[0]
    dtype = {"torch.float16": "f16", "torch.bfloat16": "bf16"}[str(q.dtype)]
    batch, queries, heads, head_dim = (int(one) for one in q.shape)
    keys, kv_heads = int(k.shape[1]), int(k.shape[2])
    return out, operands, dtype, batch, heads, kv_heads, queries, keys, head_dim, causal, lse

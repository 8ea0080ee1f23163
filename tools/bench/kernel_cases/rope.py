# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding with the write of keys and values to the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .model import Case, TritonKernel, bytes_of, largest_error, normal

TOKENS, PLACES, PAGE = 32, 64, 16
HEADS = ((8, 1, 64), (32, 8, 128))  # of queries, of keys, elements; the second is the peer's


def cases(arch: str) -> Iterator[Case]:
    """bf16, flash layout."""
    del arch
    for heads in HEADS:
        yield _case(*heads)


def _case(q_heads: int, kv_heads: int, head: int) -> Case:
    from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module

    kind = torch.bfloat16
    q = normal(TOKENS, q_heads, head, dtype=kind)
    k, v = (normal(TOKENS, kv_heads, head, dtype=kind, seed=seed) for seed in (1, 2))
    cosines, sines = (normal(PLACES, head // 2, dtype=kind, seed=seed) for seed in (3, 4))
    generator = torch.Generator().manual_seed(5)
    positions = torch.randint(0, PLACES, (TOKENS,), generator=generator, dtype=torch.int32)
    slots = torch.randperm(2 * TOKENS, generator=generator)[:TOKENS].to(torch.int32)
    key_cache, value_cache = (torch.empty(2 * TOKENS // PAGE, PAGE, kv_heads, head, dtype=kind) for _ in range(2))
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    one = torch.ones(1)

    def turned(x: torch.Tensor) -> torch.Tensor:
        c, s = (table.double()[positions.long()][:, None, :] for table in (cosines, sines))
        low, high = x.double().chunk(2, -1)
        return torch.cat((low * c - high * s, high * c + low * s), -1)

    def error() -> float:
        places = slots.long()
        rows = (cache.view(-1, kv_heads, head)[places] for cache in (key_cache, value_cache))
        pairs = zip((q_out, k_out, *rows), (turned(q), turned(k), turned(k), v), strict=True)
        return max(largest_error(got, expected, 2.0**-7, 2.0**-8) for got, expected in pairs)

    def build() -> Any:
        return build_fused_rope_cache_module(head, -1, q_heads, kv_heads, PAGE)

    inputs = {"q": q, "k": k, "v": v, "positions": positions, "cosines": cosines, "sines": sines, "slots": slots}
    outputs = {"key_cache": key_cache, "value_cache": value_cache, "q_out": q_out, "k_out": k_out}
    return Case(
        operation="rope + cache",
        dtype="bf16",
        shape=f"T{TOKENS} H{q_heads}/{kv_heads} D{head}",
        build=build,
        arguments=(q, k, v, positions, cosines, sines, slots, key_cache, value_cache, q_out, k_out, TOKENS, one, one),
        outputs=tuple(outputs.values()),
        error=error,
        # Of the tables, the rows of each token once.
        least_bytes=bytes_of(q, k, v, positions, slots, q, k, k, v) + 2 * TOKENS * bytes_of(cosines[0]),
        triton=tuple(
            TritonKernel("rope", {**inputs, **outputs},
                         {"Q_HEADS": q_heads, "KV_HEADS": kv_heads, "HEAD": head, "BLOCK_HEADS": heads},
                         ((q_heads + kv_heads) // heads, TOKENS, 1), warps)
            for heads in (1, 2, 4, 8) if kv_heads % heads == 0
            for warps in (1, 2, 4)
        ),
        peer="fused_rope_cache_d128" if head == 128 else None,
    )  # fmt: skip

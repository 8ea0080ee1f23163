# SPDX-License-Identifier: Apache-2.0
"""Flash attention, forward."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from .model import TORCH, Case, TritonKernel, bytes_of, largest_error, normal

# batch, queries, keys, heads, heads of keys, head size
SHAPES = ((1, 512, 512, 2, 1, 128), (1, 512, 512, 1, 1, 64), (1, 256, 1000, 1, 1, 128))
TOLERANCE = {"f16": 2e-3, "bf16": 1.2e-2}
BLOCKS = ((128, 64, 4), (128, 32, 4), (64, 64, 4), (256, 64, 8))  # queries, keys, warps: of Triton's candidates
_PEER = {"gfx942": "flash_generic_d128_{}", "gfx950": "flash_dualwave_d128_{}"}


def cases(arch: str) -> Iterator[Case]:
    """Causal and not; the peer's figures are for 64 heads of 128 elements, bf16, in workgroups of 256 queries."""
    for shape in SHAPES:
        for dtype in ("bf16", "f16") if shape is SHAPES[0] else ("bf16",):
            for causal in (False, True):
                yield _case(arch, shape, dtype, causal)


def _case(arch: str, shape: tuple[int, ...], dtype: str, causal: bool) -> Case:
    from flydsl.kernels.attention.config import default_config
    from flydsl.kernels.attention.flash_attn_kernel import build_dense

    batch, queries, keys, heads, kv_heads, head = shape
    kind = TORCH[dtype]
    q = normal(batch, queries, heads, head, dtype=kind)
    k, v = (normal(batch, keys, kv_heads, head, dtype=kind, seed=seed) for seed in (1, 2))
    out, lse = torch.empty_like(q), torch.empty(batch, heads, queries)
    expected = _expected(q, k, v, causal)
    # What a launch with much more of the same takes.
    config = default_config(head, 128 if queries <= 256 else 512 if head == 64 else 256)

    def build(heads: int = heads, kv_heads: int = kv_heads) -> Any:
        return build_dense(heads, kv_heads, head, dtype, causal, True, None, config)

    def peer_build() -> tuple[Any, tuple[Any, ...]]:
        wide = default_config(128, 256)
        launch = build_dense(64, 64, 128, "bf16", causal, False, None, wide)
        one = torch.empty(256, 64, 128, dtype=torch.bfloat16)
        return launch, (one, one, one, one, one, 1, 256, 256)

    arguments = {"q": q, "k": k, "v": v, "out": out, "lse": lse, "queries": queries, "keys": keys, "scale": head**-0.5}
    constants = {"HEADS": heads, "KV_HEADS": kv_heads, "HEAD": head, "CAUSAL": causal}
    with_peer = shape is SHAPES[0] and dtype == "bf16"
    return Case(
        operation="attention " + ("causal" if causal else "full"),
        dtype=dtype,
        shape=f"B{batch} Sq{queries} Skv{keys} H{heads}/{kv_heads} D{head}",
        build=build,
        arguments=(q, k, v, out, lse, batch, queries, keys),
        outputs=(out, lse),
        error=lambda: largest_error(out, expected, TOLERANCE[dtype]),
        least_bytes=bytes_of(q, k, v, out, lse),
        triton=tuple(
            TritonKernel("attention", arguments, {**constants, "BLOCK_M": m, "BLOCK_N": n},
                         (-(-queries // m), batch * heads, 1), warps)
            for m, n, warps in BLOCKS
        ),
        peer=_PEER[arch].format("causal" if causal else "full") if with_peer else None,
        peer_build=peer_build if with_peer else None,
    )  # fmt: skip


def _expected(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    group = q.shape[2] // k.shape[2]
    q, k, v = q.double().transpose(1, 2), k.double().transpose(1, 2), v.double().transpose(1, 2)
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
        scores = scores.masked_fill(~seen, -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2)

# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding (NeoX halves) of queries and keys, and the write of keys and values to a paged cache."""

import triton
import triton.language as tl


@triton.jit
def rope(
    q, k, v, positions, cosines, sines, slots, key_cache, value_cache, q_out, k_out,
    Q_HEADS: tl.constexpr, KV_HEADS: tl.constexpr, HEAD: tl.constexpr, BLOCK_HEADS: tl.constexpr,
):  # fmt: skip
    """BLOCK_HEADS heads of a token a program: of queries, and behind those of keys with their values.

    Caches are (slots, KV_HEADS, HEAD), cosines and sines (positions, HEAD / 2). BLOCK_HEADS divides the numbers of
    heads of queries and of keys.
    """
    part = tl.program_id(0)
    token = tl.program_id(1)
    half: tl.constexpr = HEAD // 2
    places = tl.arange(0, half)[None, :]
    heads = part * BLOCK_HEADS + tl.arange(0, BLOCK_HEADS)[:, None]
    position = tl.load(positions + token)
    c = tl.load(cosines + position * half + places).to(tl.float32)
    s = tl.load(sines + position * half + places).to(tl.float32)
    if part * BLOCK_HEADS < Q_HEADS:
        at = (token * Q_HEADS + heads) * HEAD + places
        low = tl.load(q + at).to(tl.float32)
        high = tl.load(q + at + half).to(tl.float32)
        tl.store(q_out + at, low * c - high * s)
        tl.store(q_out + at + half, high * c + low * s)
    else:
        heads = heads - Q_HEADS
        at = (token * KV_HEADS + heads) * HEAD + places
        low = tl.load(k + at).to(tl.float32)
        high = tl.load(k + at + half).to(tl.float32)
        first = low * c - high * s
        second = high * c + low * s
        tl.store(k_out + at, first)
        tl.store(k_out + at + half, second)
        slot = tl.load(slots + token)
        if slot >= 0:
            to = (slot * KV_HEADS + heads) * HEAD + places
            tl.store(key_cache + to, first)
            tl.store(key_cache + to + half, second)
            tl.store(value_cache + to, tl.load(v + at))
            tl.store(value_cache + to + half, tl.load(v + at + half))

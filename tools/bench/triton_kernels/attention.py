# SPDX-License-Identifier: Apache-2.0
"""Flash attention, forward: one program for BLOCK_M queries of one head."""

import triton
import triton.language as tl


@triton.jit
def attention(
    q, k, v, out, lse, queries, keys, scale,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """q, out (batch, queries, HEADS, HEAD), k, v (batch, keys, KV_HEADS, HEAD), lse (batch, HEADS, queries)."""
    head = tl.program_id(1) % HEADS
    batch = tl.program_id(1) // HEADS
    kv_head = head // (HEADS // KV_HEADS)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    along = tl.arange(0, HEAD)
    q_at = ((batch * queries + rows)[:, None] * HEADS + head) * HEAD + along[None, :]
    query = tl.load(q + q_at, mask=(rows < queries)[:, None], other=0.0)
    k_at = k + ((batch * keys + columns)[None, :] * KV_HEADS + kv_head) * HEAD + along[:, None]
    v_at = v + ((batch * keys + columns)[:, None] * KV_HEADS + kv_head) * HEAD + along[None, :]
    highest = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    sums = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    factor = scale * 1.4426950408889634
    end = keys
    plain = keys // BLOCK_N * BLOCK_N
    if CAUSAL:
        first = tl.program_id(0) * BLOCK_M + keys - queries
        end = tl.minimum(keys, first + BLOCK_M)
        plain = tl.minimum(plain, tl.maximum(first + 1, 0) // BLOCK_N * BLOCK_N)
    for start in range(0, plain, BLOCK_N):
        scores = tl.dot(query, tl.load(k_at + start * KV_HEADS * HEAD)) * factor
        new = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(highest - new)
        total = total * shrink + tl.sum(powers, axis=1)
        value = tl.load(v_at + start * KV_HEADS * HEAD)
        sums = tl.dot(powers.to(value.dtype), value, sums * shrink[:, None])
        highest = new
    for start in range(plain, end, BLOCK_N):
        inside = start + columns < keys
        key = tl.load(k_at + start * KV_HEADS * HEAD, mask=inside[None, :], other=0.0)
        scores = tl.dot(query, key) * factor
        seen = inside[None, :] & (rows >= 0)[:, None]
        if CAUSAL:
            seen = seen & ((start + columns)[None, :] <= (rows + keys - queries)[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        new = tl.maximum(highest, tl.max(scores, axis=1))
        safe = tl.where(new == float("-inf"), 0.0, new)
        powers = tl.exp2(scores - safe[:, None])
        shrink = tl.exp2(highest - safe)
        total = total * shrink + tl.sum(powers, axis=1)
        value = tl.load(v_at + start * KV_HEADS * HEAD, mask=inside[:, None], other=0.0)
        sums = tl.dot(powers.to(value.dtype), value, sums * shrink[:, None])
        highest = new
    result = sums * tl.where(total > 0.0, 1.0 / total, 0.0)[:, None]
    tl.store(out + q_at, result.to(out.dtype.element_ty), mask=(rows < queries)[:, None])
    natural = (highest + tl.log2(total)) * 0.6931471805599453
    tl.store(lse + (batch * HEADS + head) * queries + rows, natural, mask=rows < queries)

# SPDX-License-Identifier: Apache-2.0
"""Flash attention, step 1: O = softmax(Q K^T / sqrt(D)) V with scores and weights in registers only.

What this shows

- two products in a chain: S^T = K Q^T, then O^T += V^T P^T. The accumulator of the first is, converted to 16 bits, the
  operand of the second, in the registers where it lies (`retile_B`): neither scores nor weights touch LDS;
- online softmax: the maximum and the sum of a query row so far, and a factor for what was added under an older maximum.
  Which lanes hold a row's scores is read from the layout of the accumulator (`fx.coop.tiled_reduce`).

Each wave reads keys and values from memory itself, values one by one, since it needs them transposed. That is what the
next step is about. Q, K, V and O are (tokens, D); one head.

Run it:  ARCH=gfx950 python 07_attention_in_registers.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import torch

# The line that each example prints is written once, beside the language's own examples.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fly-compiler" / "examples"))
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

ROWS, KEYS, WAVE = 32, 64, 64  # query rows of a wave, keys of a tile, lanes


@flyc.kernel(known_block_size=(WAVE, 1, 1))
def attention_rows(
    q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, o: fx.Tensor, keys: fx.Constexpr[int], d: fx.Constexpr[int]
):
    """Each wave computes 32 rows of O."""
    lane, scale = fx.thread_idx.x, math.log2(math.e) / math.sqrt(d)

    # One instruction multiplies 32 x 32 x 8. A lane holds one column of the result: one query row, and half its keys.
    tiled = fx.make_tiled_mma(fx.make_mma_atom(fx.rocdl.MFMA(32, 32, 8, fx.Float16)))
    mine = tiled.get_slice(lane)

    transposed = fx.make_view(fx.get_iter(v), fx.make_layout((d, keys), (1, d)))
    o_transposed = fx.make_view(fx.get_iter(o), fx.make_layout((d, o.shape[0]), (1, d)))
    q_tile = fx.flat_divide(q, (ROWS, d))[None, None, fx.block_idx.x, 0]
    o_tile = fx.flat_divide(o_transposed, (d, ROWS))[None, None, 0, fx.block_idx.x]
    k_tiles = fx.flat_divide(k, (KEYS, d))[None, None, None, 0]
    v_tiles = fx.flat_divide(transposed, (d, KEYS))[None, None, 0, None]

    four, one = (fx.make_copy_atom(fx.UniversalCopy(bits), fx.Float16) for bits in (64, 16))
    load_q, load_k = (make(four, tiled).get_slice(lane) for make in (fx.make_tiled_copy_B, fx.make_tiled_copy_A))
    load_v = fx.make_tiled_copy_A(one, tiled).get_slice(lane)
    fragment_q, fragment_k = mine.make_fragment_B(q_tile), mine.make_fragment_A(k_tiles[None, None, 0])
    fragment_v, output = mine.make_fragment_A(v_tiles[None, None, 0]), mine.make_fragment_C(o_tile)
    fx.copy(four, load_q.partition_S(q_tile), load_q.retile(fragment_q))

    scores = fx.make_rmem_tensor(((4, 4), KEYS // 32, ROWS // 32), fx.Float32)  # S^T: 64 keys by 32 rows
    weights = fx.make_fragment_like(scores, fx.Float16)
    output.fill(0.0)
    highest, total = fx.Float32(-(2.0**100)), fx.Float32(0.0)
    for tile in range(keys // KEYS):
        fx.copy(four, load_k.partition_S(k_tiles[None, None, tile]), load_k.retile(fragment_k))
        scores.fill(0.0)
        fx.gemm(tiled, scores, fragment_k, fragment_q, scores)

        # 2^(s c - m) with the row's maximum m so far. What was added under a smaller one shrinks by a factor.
        raised = fx.maxnumf(highest, fx.coop.tiled_reduce(scores, fx.maxnumf, mine, 0) * scale)
        factor, highest = fx.exp2(highest - raised), raised
        powers = fx.exp2(scores.load().reshape(32) * scale - raised)
        total = total * factor + fx.coop.tiled_reduce(powers.reduce("add"), "add", mine, 0)
        output.store(output.load() * factor)
        weights.store(powers.to(fx.Float16))

        fx.copy(one, load_v.partition_S(v_tiles[None, None, tile]), load_v.retile(fragment_v))
        fx.gemm(tiled, output, fragment_v, mine.retile_B(weights, mine), output)

    result = fx.make_fragment_like(output, fx.Float16)
    result.store((output.load() / total).to(fx.Float16))
    store = fx.make_tiled_copy_C(four, tiled).get_slice(lane)
    fx.copy(four, store.retile(result), store.partition_D(o_tile))


@flyc.jit
def attention(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, o: fx.Tensor):
    """O = softmax(Q K^T / sqrt(D)) V; queries a multiple of 32, keys of 64, D of 32, all known at compile time."""
    d = q.shape[1].unpack()
    for name, tensor, rows in (("q", q, ROWS), ("k", k, KEYS), ("v", v, KEYS), ("o", o, ROWS)):
        expect(name, tensor, fx.Float16, rank=2, tile=(rows, 32))
        if tensor.shape[1].unpack() != d:
            raise ValueError(f"argument {name!r}: expected {d} columns, as 'q' has, got {tensor.shape[1].unpack()}")
    if k.shape.unpack() != v.shape.unpack() or q.shape.unpack() != o.shape.unpack():
        raise ValueError("'v' must have the shape of 'k', and 'o' that of 'q'")
    attention_rows(q, k, v, o, k.shape[0].unpack(), d).launch(grid=(q.shape[0].unpack() // ROWS,), block=(WAVE,))


CASES = [(32, 64, 64), (96, 192, 64), (64, 256, 128)]


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Run one shape and compare with torch in double precision; the result's memory is full of NaN before."""
    rows, keys, d = case
    generator = torch.Generator().manual_seed(rows + keys)
    q, k, v = (torch.randn(count, d, generator=generator).half() for count in (rows, keys, keys))
    o = torch.full_like(q, float("nan"))
    attention(*(flyc.from_dlpack(one, assumed_align=16) for one in (q, k, v, o)))
    expected = torch.softmax(q.double() @ k.double().t() / math.sqrt(d), -1) @ v.double()
    # A mean of values below 5, of weights rounded to 11 bits once, and the result rounded to 11 bits.
    return report("attention, registers", f"{rows}x{keys}x{d}", o, expected, 2e-3)


if __name__ == "__main__":
    main(CASES, run_case)

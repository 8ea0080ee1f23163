# SPDX-License-Identifier: Apache-2.0
"""Flash attention, step 2: four waves share tiles of keys and values in LDS, loaded one tile ahead.

What this adds to step 1

- keys and values are read from memory once for 128 query rows, 16 and 8 bytes a lane; the loads of the next tile are in
  flight while this one is multiplied;
- values are transposed on the way: two tiled copies of the same threads, in which a thread holds 4 x 4 elements, once
  along the head and once along the keys. In between it turns them in its registers;
- rows of LDS are 16 bytes longer than they need to be, so that lanes that read one column hit different banks;
- buffer resources, so that loads past the last tile give zero instead of needing a branch.

Run it:  ARCH=gfx950 python 08_attention_through_lds.py
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

ROWS, KEYS, WAVES, PAD = 32, 64, 4, 8  # query rows of a wave, keys of a tile, waves, elements behind a row of LDS
THREADS = 64 * WAVES


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def attention_rows(
    q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, o: fx.Tensor, keys: fx.Constexpr[int], d: fx.Constexpr[int]
):
    """Each workgroup computes 128 rows of O, each of its waves 32 of them."""
    thread, scale = fx.thread_idx.x, math.log2(math.e) / math.sqrt(d)
    lane, wave_tile = thread % 64, fx.block_idx.x * WAVES + thread // 64
    tiled = fx.make_tiled_mma(fx.make_mma_atom(fx.rocdl.MFMA(32, 32, 8, fx.Float16)))
    mine = tiled.get_slice(lane)

    o_transposed = fx.make_view(fx.get_iter(o), fx.make_layout((d, o.shape[0]), (1, d)))
    q_tile = fx.flat_divide(q, (ROWS, d))[None, None, wave_tile, 0]
    o_tile = fx.flat_divide(o_transposed, (d, ROWS))[None, None, 0, wave_tile]
    k_tiles, v_tiles = (
        fx.flat_divide(fx.rocdl.make_buffer_tensor(one, max_size=False), (KEYS, d))[None, None, None, 0]
        for one in (k, v)
    )

    # A tile of keys as it is, and one of values transposed: both (keys, d), in LDS the other way round.
    lds = fx.SharedAllocator()
    k_room = lds.allocate(fx.Array[fx.Float16, KEYS * (d + PAD), 16]).ptr
    v_room = lds.allocate(fx.Array[fx.Float16, d * (KEYS + PAD), 16]).ptr
    k_staged = fx.make_view(k_room, fx.make_layout((KEYS, d), (d + PAD, 1)))
    v_staged = fx.make_view(v_room, fx.make_layout((KEYS, d), (1, KEYS + PAD)))
    v_transposed = fx.make_view(v_room, fx.make_layout((d, KEYS), (KEYS + PAD, 1)))

    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float16)
    to_lds = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    across = fx.make_layout((THREADS // (d // 8), d // 8), (d // 8, 1)), fx.make_layout((1, 8), (1, 1))
    fetch_k, put_k = (fx.make_tiled_copy_tv(one, *across).get_slice(thread) for one in (from_memory, to_lds))
    # A square of 4 keys by 4 elements a thread: 16 threads along the keys, the others along the head.
    threads = (KEYS // 4, THREADS * 4 // KEYS), (4, 4 * KEYS)
    tile, along_d, along_keys = (KEYS, THREADS * 16 // KEYS), (4, KEYS), (4, 1)

    def squares(operation: Any, first: tuple[int, int], then: tuple[int, int]) -> Any:
        layout = fx.make_layout((threads[0], (first[0], then[0])), (threads[1], (first[1], then[1])))
        return fx.make_tiled_copy(fx.make_copy_atom(operation, fx.Float16), layout, tile).get_slice(thread)

    fetch_v = squares(fx.rocdl.BufferCopy64b(), along_d, along_keys)
    put_v = squares(fx.UniversalCopy64b(), along_keys, along_d)
    source_k, source_v = fetch_k.partition_S(k_tiles), fetch_v.partition_S(v_tiles)
    target_k, target_v = put_k.partition_D(k_staged), put_v.partition_D(v_staged)
    next_k, next_v, turned = (fx.make_fragment_like(one) for one in (target_k, target_v, target_v))
    repeats = d // tile[1]
    exchanged = fx.make_layout(((4, 4), 1, repeats), ((4, 1), 0, 16))
    squares_turned = fx.make_view(next_v.iter, fx.composition(next_v.layout, exchanged))

    four = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
    load_q, read_k, read_v = (
        make(four, tiled).get_slice(lane) for make in (fx.make_tiled_copy_B, fx.make_tiled_copy_A, fx.make_tiled_copy_A)
    )
    fragment_q, fragment_k = mine.make_fragment_B(q_tile), mine.make_fragment_A(k_staged)
    fragment_v, output = mine.make_fragment_A(v_transposed), mine.make_fragment_C(o_tile)
    fx.copy(four, load_q.partition_S(q_tile), load_q.retile(fragment_q))

    scores = fx.make_rmem_tensor(((4, 4), KEYS // 32, ROWS // 32), fx.Float32)
    weights = fx.make_fragment_like(scores, fx.Float16)
    output.fill(0.0)
    highest, total = fx.Float32(-(2.0**100)), fx.Float32(0.0)
    fx.copy(from_memory, source_k[None, None, None, 0], next_k)
    fx.copy(fetch_v.tiled_copy, source_v[None, None, None, 0], next_v)
    for tile_number in range(keys // KEYS):
        fx.barrier()  # all waves have read the last tile
        fx.copy(to_lds, next_k, target_k)
        turned.store(squares_turned.load())
        fx.copy(put_v.tiled_copy, turned, target_v)
        fx.copy(from_memory, source_k[None, None, None, tile_number + 1], next_k)
        fx.copy(fetch_v.tiled_copy, source_v[None, None, None, tile_number + 1], next_v)
        fx.barrier()

        fx.copy(four, read_k.partition_S(k_staged), read_k.retile(fragment_k))
        scores.fill(0.0)
        fx.gemm(tiled, scores, fragment_k, fragment_q, scores)
        raised = fx.maxnumf(highest, fx.coop.tiled_reduce(scores, fx.maxnumf, mine, 0) * scale)
        factor, highest = fx.exp2(highest - raised), raised
        powers = fx.exp2(scores.load().reshape(32) * scale - raised)
        total = total * factor + fx.coop.tiled_reduce(powers.reduce("add"), "add", mine, 0)
        output.store(output.load() * factor)
        weights.store(powers.to(fx.Float16))
        fx.copy(four, read_v.partition_S(v_transposed), read_v.retile(fragment_v))
        fx.gemm(tiled, output, fragment_v, mine.retile_B(weights, mine), output)

    result = fx.make_fragment_like(output, fx.Float16)
    result.store((output.load() / total).to(fx.Float16))
    store = fx.make_tiled_copy_C(four, tiled).get_slice(lane)
    fx.copy(four, store.retile(result), store.partition_D(o_tile))


@flyc.jit
def attention(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, o: fx.Tensor):
    """O = softmax(Q K^T / sqrt(D)) V; queries a multiple of 128, keys of 64, D 64 or 128, all known at compile time."""
    d = q.shape[1].unpack()
    for name, tensor, rows in (("q", q, ROWS * WAVES), ("k", k, KEYS), ("v", v, KEYS), ("o", o, ROWS * WAVES)):
        expect(name, tensor, fx.Float16, rank=2, tile=(rows, 64))
        if tensor.shape[1].unpack() != d:
            raise ValueError(f"argument {name!r}: expected {d} columns, as 'q' has, got {tensor.shape[1].unpack()}")
    if d not in (64, 128):
        raise ValueError(f"argument 'q': expected 64 or 128 columns, got {d}")
    if k.shape.unpack() != v.shape.unpack() or q.shape.unpack() != o.shape.unpack():
        raise ValueError("'v' must have the shape of 'k', and 'o' that of 'q'")
    grid = q.shape[0].unpack() // (ROWS * WAVES)
    attention_rows(q, k, v, o, k.shape[0].unpack(), d).launch(grid=(grid,), block=(THREADS,))


CASES = [(128, 64, 64), (256, 192, 64), (128, 256, 128)]


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Run one shape and compare with torch in double precision; the result's memory is full of NaN before."""
    rows, keys, d = case
    generator = torch.Generator().manual_seed(rows + keys)
    q, k, v = (torch.randn(count, d, generator=generator).half() for count in (rows, keys, keys))
    o = torch.full_like(q, float("nan"))
    attention(*(flyc.from_dlpack(one, assumed_align=16) for one in (q, k, v, o)))
    expected = torch.softmax(q.double() @ k.double().t() / math.sqrt(d), -1) @ v.double()
    # A mean of values below 5, of weights rounded to 11 bits once, and the result rounded to 11 bits.
    return report("attention, LDS", f"{rows}x{keys}x{d}", o, expected, 2e-3)


if __name__ == "__main__":
    main(CASES, run_case)

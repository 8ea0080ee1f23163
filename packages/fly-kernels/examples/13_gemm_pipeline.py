# SPDX-License-Identifier: Apache-2.0
"""How the GEMM is made, step 4: a software pipeline. The next tiles are on their way while these are multiplied.

The loop of step 3 waits for memory in every turn. Here it is a `fx.Pipeline` of depth 1 with two buffers in LDS: a turn
starts the loads of the next step, multiplies its own, and only then needs what it has loaded. One barrier a step is
left instead of two, because what is written is not what others still read.

Run it:  ARCH=gfx950 python 13_gemm_pipeline.py
"""

from __future__ import annotations

from typing import Any

from _gemm_steps import CASES, THREADS, TILE_K, TILE_M, TILE_N, WAVES, buffers, launcher, main
from _gemm_steps import run_case as run

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def gemm_tiles(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    """Each workgroup computes one 128 x 128 tile of C; its waves lie side by side along N."""
    thread, k = fx.thread_idx.x, a.shape[1].unpack()
    a, b, c = buffers(a, b, c)
    tiles_a = fx.flat_divide(a, (TILE_M, TILE_K))[None, None, fx.block_idx.x, None]
    tiles_b = fx.flat_divide(b, (TILE_N, TILE_K))[None, None, fx.block_idx.y, None]
    tile_c = fx.flat_divide(c, (TILE_M, TILE_N))[None, None, fx.block_idx.x, fx.block_idx.y]

    atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
    pairs_along_k = fx.make_layout((4, 4, 2), (1, 8, 4))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((1, WAVES, 1), (0, 1, 0)), (None, None, pairs_along_k))
    mine = tiled.get_slice(thread)

    # Two buffers of row-major tiles in LDS, whose groups of 16 bytes change places by the number of the row.
    room = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 2 * (TILE_M + TILE_N) * TILE_K, 16]).peek().ptr
    swizzle = fx.static(fx.SwizzleType.get(3, 4, 3))
    rooms = [fx.apply_swizzle(one, swizzle) for one in (room, room + 2 * TILE_M * TILE_K)]
    staged_a = fx.make_view(rooms[0], fx.make_layout((TILE_M, TILE_K, 2), (TILE_K, 1, TILE_M * TILE_K)))
    staged_b = fx.make_view(rooms[1], fx.make_layout((TILE_N, TILE_K, 2), (TILE_K, 1, TILE_N * TILE_K)))

    # Memory -> registers -> LDS: 8 neighbours a thread, 8 threads a row.
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float16)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    rows, packs = fx.make_layout((THREADS // 8, 8), (8, 1)), fx.make_layout((1, 8), (1, 1))
    fetch = fx.make_tiled_copy_tv(from_memory, rows, packs).get_slice(thread)
    put = fx.make_tiled_copy_tv(through_lds, rows, packs).get_slice(thread)
    memory_a, memory_b = fetch.partition_S(tiles_a), fetch.partition_S(tiles_b)
    fetched_a, fetched_b = (fx.make_fragment_like(one[None, None, None, 0]) for one in (memory_a, memory_b))
    to_a, to_b = put.partition_D(staged_a), put.partition_D(staged_b)

    # LDS -> fragments.
    read_a = fx.make_tiled_copy_A(through_lds, tiled).get_slice(thread)
    read_b = fx.make_tiled_copy_B(through_lds, tiled).get_slice(thread)
    fragment_a = mine.make_fragment_A(staged_a[None, None, 0])
    fragment_b = mine.make_fragment_B(staged_b[None, None, 0])
    sums = mine.make_fragment_C(tile_c)
    sums.fill(0.0)

    source_a, target_a = read_a.partition_S(staged_a), read_a.retile(fragment_a)
    source_b, target_b = read_b.partition_S(staged_b), read_b.retile(fragment_b)

    def step(now: Any) -> None:
        if fx.const_expr(now.has(1)):  # on its way while this step is multiplied
            fx.copy(from_memory, memory_a[None, None, None, now.index(1)], fetched_a)
            fx.copy(from_memory, memory_b[None, None, None, now.index(1)], fetched_b)
        if fx.const_expr(now.has(0)):
            fx.copy(through_lds, source_a[None, None, None, now.buffer(0, 2)], target_a)
            fx.copy(through_lds, source_b[None, None, None, now.buffer(0, 2)], target_b)
            fx.gemm(tiled, sums, fragment_a, fragment_b, sums)
        if fx.const_expr(now.has(1)):
            fx.copy(through_lds, fetched_a, to_a[None, None, None, now.buffer(1, 2)])
            fx.copy(through_lds, fetched_b, to_b[None, None, None, now.buffer(1, 2)])
            fx.barrier()  # the next step is there, and nobody reads this one any more

    fx.Pipeline(k // TILE_K, ahead=1, unroll=2).run(step)

    store = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
    to_c = fx.make_tiled_copy_C(store, tiled).get_slice(thread)
    fx.copy(store, to_c.retile(sums), to_c.partition_D(tile_c))


gemm = launcher(gemm_tiles)


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Run one shape and compare with float64."""
    return run(gemm, "pipeline", case)


if __name__ == "__main__":
    main(CASES, run_case)

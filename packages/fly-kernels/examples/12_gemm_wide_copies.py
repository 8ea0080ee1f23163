# SPDX-License-Identifier: Apache-2.0
"""How the GEMM is made, step 3: 128 bits an access, by permuting K.

An instruction takes 4 neighbours along K from each lane, 64 bits. The order of K in a sum does not matter as long as A
and B have the same: so each lane takes 8 neighbours, the first 4 for one instruction and the others for the next. That
is one layout, the permutation of the tiled MMA; every copy then moves twice as much.

Run it:  ARCH=gfx950 python 12_gemm_wide_copies.py
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

    # Row-major tiles in LDS, whose groups of 16 bytes change places by the number of the row (of 8 groups and rows).
    rooms = [fx.SharedAllocator().allocate(fx.Array[fx.Float16, (TILE_M + TILE_N) * TILE_K, 16]).peek().ptr]
    rooms.append(rooms[0] + TILE_M * TILE_K)
    rooms = [fx.apply_swizzle(one, fx.static(fx.SwizzleType.get(3, 4, 3))) for one in rooms]
    staged_a = fx.make_view(rooms[0], fx.make_layout((TILE_M, TILE_K), (TILE_K, 1)))
    staged_b = fx.make_view(rooms[1], fx.make_layout((TILE_N, TILE_K), (TILE_K, 1)))

    # Memory -> registers -> LDS: 8 neighbours a thread, 8 threads a row.
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float16)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    rows, packs = fx.make_layout((THREADS // 8, 8), (8, 1)), fx.make_layout((1, 8), (1, 1))
    fetch = fx.make_tiled_copy_tv(from_memory, rows, packs).get_slice(thread)
    put = fx.make_tiled_copy_tv(through_lds, rows, packs).get_slice(thread)
    fetched_a = fx.make_fragment_like(fetch.partition_S(tiles_a[None, None, 0]))
    fetched_b = fx.make_fragment_like(fetch.partition_S(tiles_b[None, None, 0]))

    # LDS -> fragments.
    read_a = fx.make_tiled_copy_A(through_lds, tiled).get_slice(thread)
    read_b = fx.make_tiled_copy_B(through_lds, tiled).get_slice(thread)
    fragment_a, fragment_b = mine.make_fragment_A(staged_a), mine.make_fragment_B(staged_b)
    sums = mine.make_fragment_C(tile_c)
    sums.fill(0.0)

    for step in range(k // TILE_K):
        fx.copy(from_memory, fetch.partition_S(tiles_a[None, None, step]), fetched_a)
        fx.copy(from_memory, fetch.partition_S(tiles_b[None, None, step]), fetched_b)
        fx.barrier()  # the reads of the last step are over
        fx.copy(through_lds, fetched_a, put.partition_D(staged_a))
        fx.copy(through_lds, fetched_b, put.partition_D(staged_b))
        fx.barrier()
        fx.copy(through_lds, read_a.partition_S(staged_a), read_a.retile(fragment_a))
        fx.copy(through_lds, read_b.partition_S(staged_b), read_b.retile(fragment_b))
        fx.gemm(tiled, sums, fragment_a, fragment_b, sums)

    store = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
    to_c = fx.make_tiled_copy_C(store, tiled).get_slice(thread)
    fx.copy(store, to_c.retile(sums), to_c.partition_D(tile_c))


gemm = launcher(gemm_tiles)


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Run one shape and compare with float64."""
    return run(gemm, "wide copies", case)


if __name__ == "__main__":
    main(CASES, run_case)

# SPDX-License-Identifier: Apache-2.0
"""How the GEMM is made, step 1: tiles of A and B go to LDS, so that each element is read from memory once.

In `03_tiled_mma.py` of the language's examples each wave loads what it multiplies, so rows of A are loaded by every
wave of the workgroup. Here the workgroup loads a tile of both operands together, and waves read their fragments there.

Run it:  ARCH=gfx950 python 10_gemm_lds.py
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
    tiled = fx.make_tiled_mma(atom, fx.make_layout((1, WAVES, 1), (0, 1, 0)))
    mine = tiled.get_slice(thread)

    # Row-major tiles in LDS.
    rooms = [fx.SharedAllocator().allocate(fx.Array[fx.Float16, (TILE_M + TILE_N) * TILE_K, 16]).peek().ptr]
    rooms.append(rooms[0] + TILE_M * TILE_K)
    staged_a = fx.make_view(rooms[0], fx.make_layout((TILE_M, TILE_K), (TILE_K, 1)))
    staged_b = fx.make_view(rooms[1], fx.make_layout((TILE_N, TILE_K), (TILE_K, 1)))

    # Memory -> registers -> LDS: 4 neighbours a thread, 16 threads a row.
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy64b(), fx.Float16)
    through_lds = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
    rows, packs = fx.make_layout((THREADS // 16, 16), (16, 1)), fx.make_layout((1, 4), (1, 1))
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
    return run(gemm, "LDS", case)


if __name__ == "__main__":
    main(CASES, run_case)

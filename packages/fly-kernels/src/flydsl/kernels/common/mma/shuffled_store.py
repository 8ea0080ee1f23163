# SPDX-License-Identifier: Apache-2.0
"""The store of a tile by way of LDS ("C-shuffle"): whole rows of it leave in 16-byte pieces, side by side.

Waves write the results of some row blocks to LDS, 4 neighbouring columns at once as the matrix instructions leave them,
and then all threads together read and store these rows. Pieces of 16 bytes are xor-swizzled by pairs of rows, and in
odd rows their halves change places: so the 16 rows that the lanes of a write go to lie in different banks, and a read
finds what it finds in one row in as many banks as without.
"""

from __future__ import annotations

from typing import Any

from ..language import fx
from .mfma_epilogues import Epilogue, OutputTile, finished_columns
from .tile_plan import TilePlan

__all__ = ["store_shuffled"]


def store_shuffled(
    tile: OutputTile, plan: TilePlan, epilogue: Epilogue, sums: dict[tuple[int, int], Any], lds: Any, thread: Any
) -> None:
    """Finish and store the sums of `wave_sum.sum_over_waves`, which have 16-bit results.

    Args:
        tile: as for `mfma_epilogues.store_columns`; it lies within the columns of the output.
        plan: the geometry.
        epilogue: what to do with a sum.
        sums: of this wave.
        lds: pointer to `plan.store_chunks` chunks of 16 bytes that nobody else needs.
        thread: index in the workgroup.
    """
    halves = fx.recast_iter(fx.Int64, lds)
    pieces = plan.tile_n // 8  # of 16 bytes
    lane = thread % 64
    wave_row = tile.row // (16 * plan.row_blocks)
    results = {(m, n): value for m, n, value in finished_columns(tile, epilogue, sums, lane)}
    at_once = plan.stored_blocks
    for start in range(0, plan.row_blocks, at_once):
        count = min(at_once, plan.row_blocks - start)
        fx.barrier()
        for m in range(count):
            row = (wave_row * count + m) * 16 + lane % 16
            for n in sorted({n for _, n in results}):
                column = tile.column + n * tile.apart[1] + lane // 16 * 4
                halves[(row * pieces + _swizzled(column // 8, row)) * 2 + (column // 4 + row) % 2] = results[
                    start + m, n
                ].bitcast(fx.Int32)
        fx.barrier()
        rows = 16 * count
        total = rows * plan.waves[0] * pieces
        for one in range(-(-total // plan.threads)):
            index = thread + one * plan.threads
            row, piece = fx.min(index // pieces, rows * plan.waves[0] - 1), index % pieces
            read = (lds + (row * pieces + _swizzled(piece, row))).load(fx.Int32x4)
            value = (row % 2 == 0).select(read, read.shuffle(read, [2, 3, 0, 1]))
            first = row // rows * (16 * plan.row_blocks) + start * 16
            offset = ((first + row % rows) * tile.c_stride + piece * 8) * 2
            inside = offset if total % plan.threads == 0 else (index < total).select(offset, -1)
            fx.rocdl.raw_ptr_buffer_store(value, tile.c, inside)


def _swizzled(piece: Any, row: Any) -> Any:
    return piece ^ (row // 2 % 8)

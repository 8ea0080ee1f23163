# SPDX-License-Identifier: Apache-2.0
"""The store of a tile by way of LDS ("C-shuffle"): whole rows of it leave in 16-byte pieces, side by side.

Waves write the results of some row blocks to LDS, 4 neighbouring columns at once as the matrix instructions leave them,
and then all threads together read and store these rows. Pieces of 16 bytes are xor-swizzled by pairs of rows, and in
odd rows their halves change places: so the 16 rows that the lanes of a write go to lie in different banks, and a read
finds what it finds in one row in as many banks as without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..language import fx
from .tile_plan import TilePlan

__all__ = ["store_shuffled"]

_PIECE = 8  # elements


def store_shuffled(
    chain: Any, mine: Any, sums: Sequence[Any], target: Any, plan: TilePlan, lds: Any, thread: fx.Numeric | int
) -> None:
    """Finish and store the sums of a thread, which have 16-bit results.

    Args:
        chain: a `fx.Epilogue`.
        mine: slice of the tiled copy of the results, see `output_tile.output_copy`.
        sums: of each access, column blocks first.
        target: buffer tensor (tile_n, tile_m) of the output, all of whose columns are there.
        plan: the geometry.
        lds: pointer to `plan.store_chunks` chunks of 16 bytes that nobody else needs.
        thread: index in the workgroup.
    """
    halves = fx.recast_iter(fx.Int64, lds)
    pieces = plan.tile_n // _PIECE
    columns = len(sums) // plan.row_blocks
    coordinates = fx.make_view(fx.make_int_tuple((0, 0)), fx.make_identity_layout(fx.get_shape(target)))
    places = mine.partition_D(coordinates)
    wave_row = places[(0, 0), 0, 0].unpack()[1] // 16  # waves take turns in blocks of 16 rows
    divided = fx.flat_divide(target, (_PIECE, 1))
    store = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), target.element_type)
    results = dict(chain.finished(mine, sums))
    at_once = plan.stored_blocks
    for start in range(0, plan.row_blocks, at_once):
        count = min(at_once, plan.row_blocks - start)
        fx.barrier()
        for m in range(count):
            row = (m * plan.waves[0] + wave_row) * 16 + thread % 16
            for n in range(columns):
                column = places[(0, n), 0, 0].unpack()[0]
                halves[(row * pieces + _swizzled(column // 8, row)) * 2 + (column // 4 + row) % 2] = results[
                    (start + m) * columns + n
                ].bitcast(fx.Int32)
        fx.barrier()
        rows = 16 * count * plan.waves[0]
        total = rows * pieces
        for one in range(-(-total // plan.threads)):
            index = thread + one * plan.threads
            row, piece = fx.min(index // pieces, rows - 1), index % pieces
            read = (lds + (row * pieces + _swizzled(piece, row))).load(fx.Int32x4)
            held = fx.make_rmem_tensor((_PIECE, 1), target.element_type)
            held.store((row % 2 == 0).select(read, read.shuffle(read, [2, 3, 0, 1])).bitcast(target.element_type))
            inside = None
            if total % plan.threads:
                inside = fx.make_rmem_tensor(1, fx.Boolean)
                inside.fill(index < total)
            fx.copy(store, held, divided[None, None, piece, start * 16 * plan.waves[0] + row], pred=inside)


def _swizzled(piece: Any, row: Any) -> Any:
    return piece ^ (row // 2 % 8)

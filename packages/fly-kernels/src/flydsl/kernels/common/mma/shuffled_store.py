# SPDX-License-Identifier: Apache-2.0
"""The store of a tile by way of LDS ("C-shuffle"): whole rows of it leave in 16-byte pieces, side by side.

Waves write the results of some row blocks to LDS, 4 neighbouring columns at once as the matrix instructions leave them,
and then all threads together read and store these rows. Pieces of 16 bytes are xor-swizzled by pairs of rows, and in
odd rows their halves change places: so the 16 rows that the lanes of a write go to lie in different banks, and a read
finds what it finds in one row in as many banks as without.

The sums of `quadrant_loop` are such pieces already, of 32 rows and 2 pieces of them at once. They go by way of LDS in
blocks of 32 rows of each wave and half of the columns, through the rooms of the loop in turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..language import fx
from .output_tile import places_of
from .quadrants import HALVES, ROWS
from .tile_plan import TilePlan

__all__ = ["store_shuffled", "store_shuffled_quadrants"]

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
    places = places_of(plan, mine, columns)
    wave_row = places[0][1] // 16  # waves take turns in blocks of 16 rows
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
                column = places[n][0]
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


def store_shuffled_quadrants(
    chain: fx.Epilogue,
    mine: fx.ThrCopy,
    sums: Sequence[fx.Vector],
    target: fx.Tensor,
    plan: TilePlan,
    rooms: Sequence[fx.Pointer],
    thread: fx.Int32,
    *,
    small: bool,
) -> None:
    """Finish and store the sums of a loop in quadrants, which have 16-bit results.

    Args:
        rooms: two pointers or more, each to LDS for 32 rows of each wave and half of the columns of the tile, which
            nobody writes any more.
        small: the sums are of instructions of 16 rows, see `output_tile.output_copy`.

    Others as those of `store_shuffled`.
    """
    (along_m, along_n), blocks = plan.waves, plan.row_blocks // (2 * HALVES)
    rows, pieces = ROWS * along_m, plan.tile_n // HALVES // _PIECE
    lines = 2 if small else 1  # of a lane in a block
    of_line = len(sums) // (HALVES * blocks * lines)  # accesses of a lane
    swizzle = min(_PIECE, pieces)
    places = places_of(plan, mine, len(sums))
    divided = fx.flat_divide(target, (_PIECE, 1))
    store = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), target.element_type)
    results = dict(chain.finished(mine, sums))
    # Of a lane in a block: those of the waves above it lie between, `blocks` of them each.
    down = thread // plan.wave // along_n * (ROWS * (blocks - 1))
    fx.barrier()  # the rooms were read by all waves
    batches = itertools.product(range(HALVES), range(blocks), range(HALVES))
    for number, (upper, block, half) in enumerate(batches):
        room = rooms[number % len(rooms)]
        first_row, first_piece = upper * (plan.tile_m // HALVES) + block * ROWS, half * pieces
        first = (upper * blocks + block) * lines * of_line + half * (of_line // HALVES)
        for one, line in itertools.product(range(of_line // HALVES), range(lines)):
            access = first + line * of_line + one
            column, row = places[access]
            row, piece = row - first_row - down, column // _PIECE - first_piece
            held = fx.recast_iter(fx.Int32, room + (row * pieces + (piece ^ row % swizzle)))
            fx.make_view(held, fx.make_layout(4, 1)).store(results[access].bitcast(fx.Int32))
        fx.barrier()  # behind it all have read what the batch before this one wrote: two rooms will do
        for one in range(-(-rows * pieces // plan.threads)):
            index = thread + one * plan.threads
            row, piece = index // pieces, index % pieces
            read = (room + (row * pieces + (piece ^ row % swizzle))).load(fx.Int32x4)
            moved = fx.make_rmem_tensor((_PIECE, 1), target.element_type)
            moved.store(read.bitcast(target.element_type))
            line = row // ROWS * (ROWS * blocks) + row % ROWS + first_row
            fx.copy(store, moved, divided[None, None, piece + first_piece, line])


def _swizzled(piece: Any, row: Any) -> Any:
    return piece ^ (row // 2 % 8)

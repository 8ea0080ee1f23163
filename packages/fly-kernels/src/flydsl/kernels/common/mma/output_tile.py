# SPDX-License-Identifier: Apache-2.0
"""The tile of results of a GEMM: which thread holds which of its elements, as a tiled copy."""

from __future__ import annotations

from ..language import fx
from .tile_plan import TilePlan

__all__ = ["output_copy", "places_of"]


def output_copy(plan: TilePlan, element: type[fx.Numeric], access: int, *, in_turns: bool) -> fx.TiledCopy:
    """The tiled copy of the (tile_n, tile_m) results of type `element`.

    A lane has `TilePlan.run` neighbouring columns of a block, in accesses of `access` of them. Accesses are numbered
    by those of a block, column blocks and then row blocks. Once the waves along K have exchanged their sums
    (`wave_sum`), each has a part of the columns; where there are fewer parts than such waves, several have the same.

    Args:
        plan: the geometry.
        element: a type of 16 or 32 bits.
        access: columns of an access, which have up to 16 bytes.
        in_turns: waves take turns in blocks of 16 rows and 16 columns (`tiled_loop`); else each has its blocks side by
            side (`mx_square_loop`).
    """
    (along_m, along_n), parts = plan.waves, plan.column_parts
    own, rows, down = plan.column_blocks // parts, plan.row_blocks, plan.tile_n
    # From one block of a wave to its next, and from a wave to its neighbour.
    block_n, wave_n = (16 * along_n, 16) if in_turns else (16, 16 * plan.column_blocks)
    block_m, wave_m = (16 * along_m, 16) if in_turns else (16, 16 * rows)
    run = plan.run
    threads = 16, plan.wave // 16, parts, plan.k_waves // parts, along_n, along_m
    steps = down, run, own * block_n, 0, wave_n, wave_m * down
    layout = fx.make_layout((threads, (run, (own, rows))), (steps, (1, (block_n, block_m * down))))
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy(access * element.width), element)
    return fx.make_tiled_copy(atom, layout, (plan.tile_n, plan.tile_m))


def places_of(plan: TilePlan, access: int, thread: fx.Int32, *, in_turns: bool) -> list[tuple[fx.Int32, fx.Int32]]:
    """(column, row) in the tile where each access of `output_copy` begins, of a thread."""
    (along_m, along_n), parts = plan.waves, plan.column_parts
    own, rows = plan.column_blocks // parts, plan.row_blocks
    block_n, wave_n = (16 * along_n, 16) if in_turns else (16, 16 * plan.column_blocks)
    block_m, wave_m = (16 * along_m, 16) if in_turns else (16, 16 * rows)
    lane, wave = thread % plan.wave, thread // plan.wave
    part, wave = wave % plan.k_waves % parts, wave // plan.k_waves
    column = lane // 16 * plan.run + part * (own * block_n) + wave % along_n * wave_n
    row = lane % 16 + wave // along_n * wave_m
    return [
        (column + (block * block_n + first), row + down * block_m)
        for down in range(rows)
        for block in range(own)
        for first in range(0, plan.run, access)
    ]

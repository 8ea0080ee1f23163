# SPDX-License-Identifier: Apache-2.0
"""The tile of results of a GEMM: which thread holds which of its elements, as a tiled copy."""

from __future__ import annotations

from typing import Any

from ..language import fx
from .tile_plan import TilePlan

__all__ = ["output_copy", "places_of"]


def output_copy(
    plan: TilePlan,
    element: type[fx.Numeric],
    access: int,
    *,
    large_tile: bool = False,
    quadrants: bool = False,
    small: bool = False,
) -> fx.TiledCopy:
    """The tiled copy of the (tile_n, tile_m) results of type `element`.

    A lane has `TilePlan.run` neighbouring columns of a block, in accesses of `access` of them. Accesses are numbered
    by those of a block, column blocks and then row blocks. Once the waves along K have exchanged their sums
    (`wave_sum`), each has a part of the columns; where there are fewer parts than such waves, several have the same.

    Args:
        plan: the geometry.
        element: a type of 16 or 32 bits.
        access: columns of an access, which have up to 16 bytes.
        large_tile: the results are those of `mx_large_tile_loop`, whose waves have 64 rows and columns, or more, side
            by side; else waves take turns in blocks of 16 rows and 16 columns.
        quadrants: the results are those of `quadrant_loop`, whose waves have blocks of 32 x 32 in each quarter.
        small: with `quadrants`, they are of instructions of 16 rows, two and two of them in a block.
    """
    (along_m, along_n), parts, down = plan.waves, plan.column_parts, plan.tile_n
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy(access * element.width), element)
    own, rows = plan.column_blocks // parts, plan.row_blocks
    if large_tile:
        # An instruction has the rows 0..15 and 32..47, or 16..31 and 48..63, of 64, and such columns, 8 a lane.
        values = 8, ((2, 2, own // 4), (2, rows // 4))
        value_steps = 1, ((32, 16, 64), (16 * down, 64 * down))
        lanes = ((16, 2), 2, along_n, along_m), ((down, 32 * down), 8, 16 * own, 16 * rows * down)
        layout = fx.make_layout((lanes[0], values), (lanes[1], value_steps))
        return fx.make_tiled_copy(atom, layout, (plan.tile_n, plan.tile_m))
    if quadrants:
        m, n = rows // 4, own // 4  # blocks of 32 of a quarter
        if small:
            places = (16, 4, along_n, along_m), (8, ((n, 2), (2, m, 2)))
            of_lanes, half = (down, 8, 32 * n, 32 * m * down), plan.tile_m // 2 * down
            layout = fx.make_layout(places, (of_lanes, (1, ((32, down // 2), (16 * down, 32 * down, half)))))
            return fx.make_tiled_copy(atom, layout, (plan.tile_n, plan.tile_m))
        shape = (32, 2, along_n, along_m), (8, ((2, n, 2), (m, 2)))
        lane_steps = down, 8, 32 * n, 32 * m * down
        steps_of_values = 1, ((16, 32, down // 2), (32 * down, plan.tile_m // 2 * down))
        return fx.make_tiled_copy(
            atom, fx.make_layout(shape, (lane_steps, steps_of_values)), (plan.tile_n, plan.tile_m)
        )
    threads = 16, plan.wave // 16, parts, plan.k_waves // parts, along_n, along_m
    run = plan.run
    steps = down, run, own * 16 * along_n, 0, 16, 16 * down
    layout = fx.make_layout((threads, (run, (own, rows))), (steps, (1, (16 * along_n, 16 * along_m * down))))
    return fx.make_tiled_copy(atom, layout, (plan.tile_n, plan.tile_m))


def places_of(plan: TilePlan, mine: fx.ThrCopy, accesses: int) -> list[tuple[fx.Int32, fx.Int32]]:
    """(column, row) in the tile where each access of a thread begins, `mine` being its slice of `output_copy`."""
    tile = fx.make_identity_layout((plan.tile_n, plan.tile_m))
    places: Any = mine.partition_D(fx.make_view(fx.make_int_tuple((0, 0)), tile))
    return [places[(0, access), 0, 0].unpack() for access in range(accesses)]

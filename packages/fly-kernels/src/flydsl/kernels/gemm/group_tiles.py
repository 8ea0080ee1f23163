# SPDX-License-Identifier: Apache-2.0
"""Which rows of A a workgroup has where groups of rows have weights of their own, found from the offsets in memory.

Group g has the rows offsets[g] to offsets[g + 1]. A grid of ceil(rows / tile_m) + groups row tiles is enough whatever
these are: the tiles of group g begin at number offsets[g] // tile_m + g, which is as far from that of the next group as
it has tiles, or further. So a workgroup needs no sum over the groups before its own: the last group that begins at its
number or before is the one, and the lanes of a wave look at 64 of them at a time. What is left over has no rows.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from ..common.views import load_number

__all__ = ["tile_of_group"]

_WAVE = 64


def tile_of_group(
    offsets: fx.Tensor | fx.Pointer, groups: int, tile_m: int, number: fx.Int32, M: fx.Int32
) -> tuple[fx.Int32, fx.Int32, fx.Int32]:
    """(group, first row, how many rows) of row tile `number`, in scalar registers; there are 0 to tile_m rows.

    Args:
        offsets: tensor of groups + 1 Int64, which do not fall. Whatever they are, no row from M on belongs to a tile.
        groups: how many.
        tile_m: rows of a tile.
        number: of the tile, the same for the whole workgroup.
        M: rows of A.
    """
    found = fx.Int32(0)
    for first in range(0, groups, _WAVE):
        lane = fx.thread_idx.x % _WAVE + first
        there = lane < groups
        begins = _tiles_before(_offset(offsets, lane, there, M), tile_m) + lane <= number
        found = found + fx.ctpop(fx.Int64(fx.rocdl.ballot(fx.Int64, there & begins))).to(fx.Int32)
    group = _uniform(fx.max(found - 1, 0))
    begin, end = (_uniform(_offset(offsets, group + one, fx.Boolean(True), M)) for one in (0, 1))
    first_row = begin + (number - group - _tiles_before(begin, tile_m)) * tile_m
    rows = fx.max(fx.min(end - first_row, tile_m), 0)
    return group, first_row, (found > 0).select(rows, fx.Int32(0))


def _offset(offsets: Any, index: Any, there: Any, M: Any) -> Any:
    """An offset as Int32, from 0 to M."""
    return fx.max(fx.min(load_number(offsets, index, there), fx.Int64(M)), fx.Int64(0)).to(fx.Int32)


def _tiles_before(row: Any, tile_m: int) -> Any:
    return (row.to(fx.Uint32) // tile_m).to(fx.Int32)


def _uniform(value: Any) -> Any:
    return fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, value))

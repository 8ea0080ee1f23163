# SPDX-License-Identifier: Apache-2.0
"""Which rows of A a workgroup has where groups of rows have weights of their own, found from the offsets in memory.

Group g has the rows offsets[g] to offsets[g + 1], and as many tiles as they need, which are numbered group by group.
The lanes of a wave look at 64 groups at a time and add up their tiles, so that the numbers have no gaps. A grid
of ceil(rows / tile_m) + groups row tiles has room for all, however the rows are divided.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from ..common.utils import cdiv
from ..common.views import load_number

__all__ = ["GroupTiles"]

_WAVE = 64


class GroupTiles:
    """The row tiles of all groups; numbers are in scalar registers, the same for the whole wave.

    Args:
        offsets: tensor of groups + 1 Int64, which do not fall. Whatever they are, no row from M on belongs to a tile.
        groups: how many.
        tile_m: rows of a tile.
        M: rows of A.
    """

    def __init__(self, offsets: fx.Tensor | fx.Pointer, groups: int, tile_m: int, M: fx.Int32) -> None:
        self._offsets, self._tile_m, self._M = offsets, tile_m, M
        self._ends: list[tuple[Any, Any]] = []  # of each lane's group: its tiles, and the number behind the last one
        self.count = fx.Int32(0)
        """Tiles of all groups."""
        for first in range(0, groups, _WAVE):
            group = fx.thread_idx.x % _WAVE + first
            there = group < groups
            rows = fx.max(self._offset(group + 1, there) - self._offset(group, there), 0)
            tiles = there.select(fx.Int32(cdiv(fx.Uint32(rows), tile_m)), fx.Int32(0))
            upto, _, total = fx.coop.warp_scan_with_aggregate(tiles, "add", width=_WAVE)
            self._ends.append((tiles, upto + self.count))
            self.count = _uniform(self.count + total)

    def __call__(self, number: fx.Int32) -> tuple[fx.Int32, fx.Int32, fx.Int32]:
        """(group, first row, how many rows) of row tile `number`, one of `count`; there are 1 to tile_m rows."""
        group, first = fx.Int32(0), fx.Int32(0)
        for index, (tiles, end) in enumerate(self._ends):
            votes = fx.Int64(fx.rocdl.ballot(fx.Int64, (end - tiles <= number) & (number < end)))
            lane = fx.cttz(votes).to(fx.Int32) % _WAVE
            group = (votes != 0).select(lane + index * _WAVE, group)
            first = (votes != 0).select(fx.coop.warp_broadcast(end - tiles, lane, width=_WAVE), first)
        group, first = _uniform(group), _uniform(first)
        begin, end = (_uniform(self._offset(group + one, fx.Boolean(True))) for one in (0, 1))
        first_row = begin + (number - first) * self._tile_m
        return group, first_row, fx.min(end - first_row, self._tile_m)

    def _offset(self, index: Any, there: Any) -> Any:
        """An offset as Int32, from 0 to M."""
        number = load_number(self._offsets, index, there)
        return fx.max(fx.min(number, fx.Int64(self._M)), fx.Int64(0)).to(fx.Int32)


def _uniform(value: Any) -> Any:
    return fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, value))

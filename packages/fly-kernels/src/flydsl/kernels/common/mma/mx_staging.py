# SPDX-License-Identifier: Apache-2.0
"""How A with scales of parts of K lies in LDS, and what a thread writes and reads of it.

Rows lie one after the other, and in a row its packs of 16 bytes, of which that with number c stands at c xor row: then
the 16 rows that a wave reads at once are in different banks. The exchange is made of the thread's own coordinates, once
for each block of K; what a thread moves beyond that is rows a multiple of 16 apart, which it does not change. So the
address of an access is one of a few registers and a constant, where a swizzle of addresses would leave one register for
each of them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..language import fx
from .lds_ways import Access, DirectWay, Way
from .operand_scales import BLOCK

if TYPE_CHECKING:
    from .loop_plan import TiledLoop
    from .operand_scales import MxFormat

__all__ = ["MxDirectWay", "MxStaging", "MxWay"]

_PACK = 16
_ROWS = 16  # of a block


class MxStaging:
    """A thread's parts of the LDS buffers of A.

    Args:
        loop: the geometry.
        mx: the format of A, by which its packs are those of a lane.
        lds: pointers to room for a step of A, for each buffer.
        thread: index in the workgroup.
    """

    def __init__(self, loop: TiledLoop, mx: MxFormat, lds: Sequence[fx.Pointer], thread: fx.Int32) -> None:
        self._row = loop.units(loop.tile[2])
        self._rooms = [fx.recast_iter(loop.element, one) for one in lds]
        self._chunks, self._size = self._row // _PACK, loop.tile[0] * self._row
        self._threads, self._thread = loop.threads, thread
        self._mask = min(self._chunks, _ROWS) - 1
        self._atom = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        # Packs of a lane of one block of K: the first, and how far it is to the next.
        lane_step = mx.runs[-1][1] // _PACK
        packs = [one * mx.runs[1][1] // _PACK for one in range(mx.runs[1][0])] if len(mx.runs) > 2 else [0]
        lane, wave = thread % 64, thread // 64 // loop.k_waves // loop.waves[1]
        lane_row, lane_group = lane % _ROWS, lane // _ROWS
        along_m, blocks = loop.waves[0], loop.wave_blocks[0]
        shape = (_PACK, self._chunks), (_ROWS, along_m, blocks)
        steps = (1, _PACK), (self._row, _ROWS * self._row, _ROWS * along_m * self._row)
        # By buffer, block of K and pack: (bytes, blocks of rows).
        self._sources: list[list[list[fx.Tensor]]] = []
        for room in self._rooms:
            staged = fx.make_view(room, fx.make_layout(shape, steps))
            self._sources.append([])
            for block in range(loop.blocks):
                first = lane_group * lane_step + block * (BLOCK * mx.bits // 8 // _PACK)
                places = [(first + one) ^ (lane_row & self._mask) for one in packs]
                each = [staged[(None, place), (lane_row, wave, None)] for place in places]
                self._sources[-1].append(each)

    def put(self, fetched: fx.Tensor, buffer: int) -> None:
        """Write what the thread loaded of a step: a pack of every `threads * 16 / row`-th row."""
        rows = self._threads // self._chunks
        moves = self._size // (self._threads * _PACK)
        row, chunk = self._thread // self._chunks, self._thread % self._chunks
        shape, steps = ((_PACK, self._chunks), (rows, moves)), ((1, _PACK), (self._row, self._row * rows))
        staged = fx.make_view(self._rooms[buffer], fx.make_layout(shape, steps))
        mine = staged[(None, chunk ^ (row & self._mask)), (row, None)]
        fx.copy(self._atom, fx.make_view(fx.get_iter(fetched), fx.make_layout((_PACK, moves), (1, _PACK))), mine)

    def read(self, fragments: Sequence[fx.Tensor], block: int, buffer: int, rows: Sequence[int]) -> None:
        """Read a block of K of some of the wave's blocks of rows to their fragments (bytes of a lane, blocks of K)."""
        targets = [
            fx.logical_divide(fx.coalesce(fragments[row][None, block]), fx.make_layout(_PACK, 1)) for row in rows
        ]
        for number, source in enumerate(self._sources[buffer][block]):
            for row, target in zip(rows, targets, strict=True):
                fx.copy(self._atom, source[None, row], target[None, number])


class MxWay(Way):
    """The way of A whose packs lie in LDS by coordinates, see `MxStaging`."""

    def __init__(
        self,
        loop: TiledLoop,
        mx: MxFormat,
        tiles: fx.Tensor,
        tiled: fx.TiledMma,
        fragment: fx.Tensor,
        lds: Any,
        thread: fx.Int32,
        rows: Sequence[fx.Tensor] | None = None,
    ) -> None:
        """`rows`: fragments of their own of the blocks of rows, where they are not parts of `fragment`."""
        super().__init__(loop, 0, tiles, tiled, fragment, lds, thread)
        self._staging = MxStaging(loop, mx, lds, thread)
        self._rows = [fragment[None, row, None] for row in range(loop.wave_blocks[0])] if rows is None else rows

    def puts(self, now: fx.PipelineStep) -> list[Access]:
        """Write A of the next step to LDS."""
        source, buffer = self._fetched[now.buffer(1, 2)], now.buffer(1, self.loop.buffers)
        return [Access("ds_write", lambda: self._staging.put(source, buffer), self.moves)]

    def reads_of(self, now: fx.PipelineStep, group: int, ahead: int, rows: Sequence[int | None]) -> list[Access]:
        """Read a group of blocks of K, of some blocks of rows, of this step or of the next."""
        loop, buffer = self.loop, now.buffer(ahead, self.loop.buffers)
        count = max(1, loop.units(BLOCK) // loop.lane_pack)
        each = [range(loop.wave_blocks[0]) if row is None else [row] for row in rows]
        return [
            Access("ds_read", functools.partial(self._staging.read, self._rows, group, buffer, one), count)
            for one in each
        ]


class MxDirectWay(MxWay, DirectWay):
    """`MxWay` without registers; rows of 8 or 16 packs lie as loads to LDS leave them."""

    def puts(self, now: fx.PipelineStep) -> list[Access]:
        """Nothing: what was fetched is in LDS."""
        return []

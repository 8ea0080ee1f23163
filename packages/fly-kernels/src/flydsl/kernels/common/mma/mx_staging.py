# SPDX-License-Identifier: Apache-2.0
"""How A with scales of parts of K lies in LDS, and what a thread writes and reads of it.

Rows lie one after the other, and in a row its packs of 16 bytes, of which that with number c stands at c xor row: then
the 16 rows that a wave reads at once are in different banks. The exchange is made of the thread's own coordinates, once
for each block of K; what a thread moves beyond that is rows a multiple of 16 apart, which it does not change. So the
address of an access is one of a few registers and a constant, where a swizzle of addresses would leave one register for
each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..language import fx
from .lds_ways import BUFFERS, Access, Way

if TYPE_CHECKING:
    from .operand_scales import MxFormat
    from .tiled_loop import TiledLoop

__all__ = ["MxStaging", "MxWay"]

_PACK = 16
_ROWS = 16  # of a block


class MxStaging:
    """A thread's parts of the LDS buffers of A.

    Args:
        loop: the geometry.
        mx: the format of A, by which its packs are those of a lane.
        lds: pointer to room for `buffers` steps of A.
        buffers: how many.
        thread: index in the workgroup.
    """

    def __init__(self, loop: TiledLoop, mx: MxFormat, lds: fx.Pointer, buffers: int, thread: fx.Int32) -> None:
        row_bytes = loop.units(loop.tile[2])
        self._room = fx.recast_iter(loop.element, lds)
        self._chunks, self._size = row_bytes // _PACK, loop.tile[0] * row_bytes
        self._row, self._buffers, self._threads, self._loop = row_bytes, buffers, loop.threads, loop
        self._mask = min(self._chunks, _ROWS) - 1
        # Packs of a lane of one block of K: the first, and how far it is to the next.
        self._lane_step = mx.runs[-1][1] // _PACK
        self._packs = [one * mx.runs[1][1] // _PACK for one in range(mx.runs[1][0])] if len(mx.runs) > 2 else [0]
        self._block_step = 128 * mx.bits // 8 // _PACK
        self._atom = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        lane, wave = thread % 64, thread // 64 // loop.k_waves
        self._lane_row, self._lane_group, self._wave = lane % _ROWS, lane // _ROWS, wave // loop.waves[1]
        self._thread = thread

    def put(self, fetched: fx.Tensor, buffer: int) -> None:
        """Write what the thread loaded of a step: a pack of every `threads * 16 / row`-th row."""
        rows = self._threads // self._chunks
        moves = self._size // (self._threads * _PACK)
        row, chunk = self._thread // self._chunks, self._thread % self._chunks
        shape = (_PACK, self._chunks), (rows, moves), self._buffers
        steps = (1, _PACK), (self._row, self._row * rows), self._size
        staged = fx.make_view(self._room, fx.make_layout(shape, steps))
        mine = staged[(None, chunk ^ (row & self._mask)), (row, None), buffer]
        fx.copy(self._atom, fx.make_view(fx.get_iter(fetched), fx.make_layout((_PACK, moves), (1, _PACK))), mine)

    def read(self, fragment: fx.Tensor, block: int, buffer: int) -> None:
        """Read a block of K of all rows of the wave to a fragment (bytes of a lane, blocks of 16 rows, blocks of K)."""
        along_m, blocks = self._loop.waves[0], self._loop.wave_blocks[0]
        shape = (_PACK, self._chunks), (_ROWS, along_m, blocks), self._buffers
        steps = (1, _PACK), (self._row, _ROWS * self._row, _ROWS * along_m * self._row), self._size
        staged = fx.make_view(self._room, fx.make_layout(shape, steps))
        for number, first in enumerate(self._packs):
            chunk = self._lane_group * self._lane_step + (first + block * self._block_step)
            at = (None, chunk ^ (self._lane_row & self._mask)), (self._lane_row, self._wave, None), buffer
            source = staged[at]
            for row in range(blocks):
                target = fx.logical_divide(fx.coalesce(fragment[None, row, block]), fx.make_layout(_PACK, 1))
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
    ) -> None:
        super().__init__(loop, 0, tiles, tiled, fragment, lds, thread)
        self._fragment, self._staging = fragment, MxStaging(loop, mx, lds[0], BUFFERS, thread)

    def puts(self, now: fx.PipelineStep) -> list[Access]:
        """Write A of the next step to LDS."""
        source, buffer = self._fetched[now.buffer(1, 2)], now.buffer(1, BUFFERS)
        return [Access("ds_write", lambda: self._staging.put(source, buffer), self.moves)]

    def reads_of(self, now: fx.PipelineStep, group: int, ahead: int, rows: Sequence[int | None]) -> list[Access]:
        """Read a group of blocks of K, of this step or of the next."""
        buffer = now.buffer(ahead, BUFFERS)
        return [Access("ds_read", lambda: self._staging.read(self._fragment, group, buffer))]

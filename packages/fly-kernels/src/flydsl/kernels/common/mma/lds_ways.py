# SPDX-License-Identifier: Apache-2.0
"""How an operand of a GEMM comes from memory to LDS, through registers or past them, and from there to fragments.

What is moved and read is a list of accesses that the main loop traces where they are to lie between its products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..language import fx
from .lds_swizzle import chunk_swizzle

__all__ = ["BUFFERS", "Access", "DirectWay", "Way", "issue_all", "load_step"]

BUFFERS = 2
"""Of an operand in LDS, usually."""


@dataclass(frozen=True)
class Access:
    """An access to memory that is still to be traced.

    Attributes:
        name: the class of its instructions, as schedules have it.
        issue: traces it.
        count: instructions.
    """

    name: str
    issue: Callable[[], None]
    count: int = 1

    @staticmethod
    def copy(name: str, atom: Any, source: Any, target: Any, count: int = 1) -> Access:
        """A copy, of views that are divided now."""
        return Access(name, lambda: fx.copy(atom, source, target), count)


def issue_all(accesses: list[Access]) -> None:
    """Trace them."""
    for one in accesses:
        one.issue()


def load_step(
    atom: Any, source: fx.Tensor, target: fx.Tensor, now: fx.PipelineStep, ahead: int, row: int | None, block: int
) -> None:
    """Load a row of tiles, or all of them, of a block of K of the step `ahead`, of (values, rows, blocks, steps).

    In the loop the step and the block, which all lanes share, are a scalar offset: in the lanes' own ones they took an
    addition and a register for each load. Rows past the end of an operand read as zeros whether scalar offsets count
    there or not: they are as long as K.
    """
    if now.steady:
        apart = fx.crd2idx((0, 0, block, now.index(ahead)), fx.get_layout(source)).unpack()
        fx.copy(atom, source[None, row, 0, 0], target, soffset=apart)
    else:
        fx.copy(atom, source[None, row, block, now.index(ahead)], target)


class Way:
    """The way of A (operand 0) or B (1) through registers and LDS to fragments."""

    def __init__(
        self, loop: Any, operand: int, tiles: fx.Tensor, tiled: fx.TiledMma, fragment: fx.Tensor, lds: Any,
        thread: Any,
    ) -> None:  # fmt: skip
        self.loop, self.moves = loop, loop.moves_of(operand)
        rows, tile_k, staged = loop.tile[operand], loop.tile[2], loop.rows_staged(operand)
        row, chunks = loop.units(tile_k), loop.chunks
        through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        bits, shift = chunk_swizzle(loop.chunks)
        swizzle = fx.static(fx.SwizzleType.get(bits, 4, shift))
        rooms = [fx.recast_iter(loop.element, one) for one in lds]
        self.linear = [fx.make_view(one, fx.make_layout((staged, row), (row, 1))) for one in rooms]
        rooms = [fx.apply_swizzle(one, swizzle) for one in rooms]
        self.staged = [fx.make_view(one, fx.make_layout((staged, row), (row, 1))) for one in rooms]
        layout = fx.make_layout((rows, row), (row, 1))
        if loop.formats is not None:
            modes = loop.modes_of_k(tile_k, mx=loop.formats[0])
            extents, strides = (tuple(one[which] for one in modes) for which in (0, 1))
            layout = fx.make_layout((rows, extents), (row, strides))

        # LDS -> fragment; B is the matrix instruction's rows.
        read = (fx.make_tiled_copy_A if operand else fx.make_tiled_copy_B)(through_lds, tiled).get_slice(thread)
        self._through_lds = through_lds
        self._sources = [read.partition_S(fx.make_view(one, layout)) for one in rooms]
        self._target = read.retile(fragment)

        # A pack a thread, threads along a row.
        self.across = fx.make_layout((loop.threads // chunks, chunks), (chunks, 1))
        self.packs = fx.make_layout((1, loop.pack), (1, 1))
        self.begin(tiles, thread)

    def begin(self, tiles: fx.Tensor, thread: fx.Numeric | int) -> None:
        """Divide what is moved to LDS among the threads."""
        self._from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), self.loop.element)
        across, packs = self.across, self.packs
        self._fetch = fx.make_tiled_copy_tv(self._from_memory, across, packs).get_slice(thread).partition_S(tiles)
        put = fx.make_tiled_copy_tv(self._through_lds, across, packs).get_slice(thread)
        self._put = [put.partition_D(one) for one in self.staged]
        self._fetched = [fx.make_fragment_like(self._fetch[None, None, None, 0]) for _ in range(2)]

    def fetches(self, now: fx.PipelineStep) -> list[Access]:
        """Load A of two steps later."""
        target = self._fetched[now.buffer(2, 2)]

        def fetch(row: int) -> None:
            load_step(self._from_memory, self._fetch, target[None, row, 0], now, 2, row, 0)

        return [Access("vmem_read", partial(fetch, row)) for row in range(self.moves)]

    def puts(self, now: fx.PipelineStep) -> list[Access]:
        """Write A of the next step to LDS."""
        source, target = self._fetched[now.buffer(1, 2)], self._put[now.buffer(1, self.loop.buffers)]
        return [
            Access.copy("ds_write", self._through_lds, source[None, one, None], target[None, one, None])
            for one in range(self.moves)
        ]

    def reads(self, now: fx.PipelineStep, phase: int, ahead: int) -> list[Access]:
        """Read what a phase of this step, or of the next, multiplies."""
        group, part = self.loop.phases[phase]
        return self.reads_of(now, group, ahead, self.loop.rows_of(part) if self.loop.by_columns else [None])

    def reads_of(self, now: fx.PipelineStep, group: int, ahead: int, rows: Sequence[int | None]) -> list[Access]:
        """Read a group of blocks of K, of some blocks of rows (None: all), of this step or of the next."""
        source, target = self._sources[now.buffer(ahead, self.loop.buffers)], self._target
        count = max(1, self.loop.units(self.loop.depth) // self.loop.lane_pack)
        return [
            Access.copy("ds_read", self._through_lds, source[None, m, block], target[None, m, block], count)
            for block in self.loop.blocks_of(group)
            for m in rows
        ]


class DirectWay(Way):
    """The way of A from memory to LDS without registers, and to fragments.

    Lanes write LDS in their own order, a pack each from the first lane's on. So each takes the place of the lane that
    would write there through the swizzle.
    """

    def begin(self, tiles: fx.Tensor, thread: fx.Numeric | int) -> None:
        """Divide what is moved to LDS among the threads."""
        loop = self.loop
        self._from_memory = fx.make_copy_atom(fx.rocdl.BufferCopyLDS128b(), loop.element)
        copy = fx.make_tiled_copy_tv(self._from_memory, self.across, self.packs)
        bits, shift = chunk_swizzle(loop.chunks)
        mask = (1 << bits) - 1
        turned = thread ^ (thread >> shift & mask)
        # A move begins so many rows later than the one before; by these its packs change places, too.
        places = [one * loop.rows_at_once * loop.chunks >> shift & mask for one in range(self.moves)]
        sources = {place: copy.get_slice(turned ^ place).partition_S(tiles) for place in sorted(set(places))}
        self._turned = [sources[place] for place in places]
        first_lane = fx.rocdl.readfirstlane(thread // loop.atom.wave * loop.atom.wave)
        self._put = [copy.get_slice(first_lane).partition_D(one) for one in self.linear]

    def fetches(self, now: fx.PipelineStep) -> list[Access]:
        """Copy A, as many steps ahead as there are buffers, to the one that has become free."""
        ahead = self.loop.pipeline.ahead
        step, target = now.index(ahead), self._put[now.buffer(ahead, self.loop.buffers)]
        return [
            Access.copy("vmem_read", self._from_memory, source[None, one, None, step], target[None, one, None])
            for one, source in enumerate(self._turned)
        ]

    def puts(self, now: fx.PipelineStep) -> list[Access]:
        """Nothing: what was fetched is in LDS."""
        return []

# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts whose operands both go through LDS, shared by waves along M and along N.

Each of two LDS buffers holds a step of K of both operands. While a wave multiplies step t it writes step t + 1 from
registers to the other buffer and loads step t + 2 to registers. A fragment is read from LDS again for the next block of
K as soon as its last product with this one is issued: so there is one set of fragments, and a row of products between
a read and its first use. One barrier a step, in its last block, before the first read of step t + 1.

That is for chips whose waves have few registers for what their sums take: 128 of 256 for 64 x 64 results of 32 lanes,
and on gfx1100, where both halves of a wave hold the same operands, 64 for one set of fragments.
"""

from __future__ import annotations

from typing import Any

from ..language import fx
from .lds_ways import BUFFERS
from .loop_plan import TiledLoop
from .tiled_loop import LoopOperands

__all__ = ["staged_loop"]


class _Way:
    """The way of one operand: memory -> registers -> LDS -> fragments."""

    def __init__(
        self, loop: TiledLoop, rows: int, tiles: Any, staged: Any, read: Any, fragment: Any, thread: Any
    ) -> None:
        self._from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
        self._through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        chunks = loop.tile[2] // loop.pack
        across = fx.make_layout((loop.threads // chunks, chunks), (chunks, 1))  # threads along a row, a pack each
        packs = fx.make_layout((1, loop.pack), (1, 1))
        self._fetch = fx.make_tiled_copy_tv(self._from_memory, across, packs).get_slice(thread).partition_S(tiles)
        self._put = fx.make_tiled_copy_tv(self._through_lds, across, packs).get_slice(thread).partition_D(staged)
        self._first, self._scheduled = self._fetch[None, None, None, 0], loop.scheduled
        self._fetched = fx.make_fragment_like(self._first)
        self.pieces = rows * chunks // loop.threads
        self._source, self._target = read.partition_S(staged), read.retile(fragment)

    def fetch(self, piece: int, step: int | fx.Int32) -> None:
        """Load a piece of a step to registers.

        How far it begins along K is the same for all threads: a scalar offset. Rows past the end of the operand read as
        zeros whether scalar offsets count there or not: they are as long as K. Where the compiler orders loads it has
        an addition in front of each instead, which keeps them apart: one after the other they take 9 % more of the
        predicted time (bf16, 128 x 128 on gfx1100).
        """
        target = self._fetched[None, piece, None]
        if fx.const_expr(not self._scheduled):
            fx.copy(self._from_memory, self._fetch[None, piece, None, step], target)
            return
        along = fx.crd2idx((0, 0, 0, step), fx.get_layout(self._fetch)).unpack()
        fx.copy(self._from_memory, self._first[None, piece, None], target, soffset=along)

    def put(self, piece: int, buffer: int) -> None:
        """Write what was loaded to LDS."""
        fx.copy(self._through_lds, self._fetched[None, piece, None], self._put[None, piece, None, buffer])

    def read(self, rows: int | None, block: int, buffer: int) -> None:
        """Read a block of K of some rows (None: all) to their fragments."""
        fx.copy(self._through_lds, self._source[None, rows, block, buffer], self._target[None, rows, block])


def staged_loop(
    loop: TiledLoop,
    a: fx.Tensor,
    b: fx.Tensor,
    lds: fx.Pointer,
    thread: fx.Int32,
    looped: fx.Int32,
    start: fx.Int32 | None = None,
) -> dict[tuple[int, int], fx.Vector]:
    """What `tiled_loop` says, of operands that both go through LDS; `lds` points to room for `loop.staged_bytes`.

    With `start`, an Int32 below `loop.steps`, that step of K is the first, and those before it are the last.
    """
    given, buffers = LoopOperands.of(loop, a, b, thread), BUFFERS
    tiled, pointer = given.tiled, fx.recast_iter(loop.element, lds)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
    if loop.staging is None:
        raise TypeError("staged_loop takes a loop with a staging")
    ways = []
    for which, reader in enumerate((fx.make_tiled_copy_B, fx.make_tiled_copy_A)):  # B is the instruction's rows
        rows, depth = loop.tile[which], loop.tile[2]
        staged = fx.make_view(pointer, loop.staging.layout(which, rows, depth, loop.pack, buffers))
        pointer = pointer + buffers * loop.staging.elements(which, rows, depth)
        read = reader(through_lds, tiled).get_slice(thread)
        ways.append(_Way(loop, rows, given.tiles[which], staged, read, given.fragments[which], thread))
    way_a, way_b = ways
    parts = loop.halves * loop.atom.calls  # of a pack, an instruction each
    rows, columns = loop.wave_blocks

    def step_of_k(number: Any) -> Any:
        if fx.const_expr(start is None):
            return number
        turned = fx.Int32(number) + start
        return (turned >= loop.steps).select(turned - loop.steps, turned)

    every = [(one, piece) for one in ways for piece in range(one.pieces)]

    def move(now: Any) -> None:
        """Write what was loaded to LDS, what came last first, so that one wait does for all; load the step behind."""
        if fx.const_expr(now.has(1)):
            for one, piece in reversed(every):
                one.put(piece, now.buffer(1, buffers))
        if fx.const_expr(now.has(2)):
            for one, piece in every:
                one.fetch(piece, step_of_k(now.index(2)))

    def step(now: Any) -> None:
        if fx.const_expr(not now.has(0)):  # before the loop
            move(now)
            if fx.const_expr(now.has(1)):
                fx.rocdl.lds_barrier()
                for one in ways:
                    one.read(None, 0, now.buffer(1, buffers))
            fx.rocdl.sched_barrier(0)
            return
        for block in fx.range_constexpr(loop.blocks):
            last = block + 1 == loop.blocks
            ahead = 1 if last else 0
            more = not last or now.has(1)  # there is a next block
            following, buffer = (block + 1) % loop.blocks, now.buffer(ahead, buffers)
            if fx.const_expr(block == 0):
                move(now)
            crossing = last and more  # what is read next was written by others
            # Products that add to the same sums are as far from each other as can be: the second waits for the first.
            for part in fx.range_constexpr(parts - 1):
                for n in fx.range_constexpr(columns):
                    for m in fx.range_constexpr(rows):
                        given.multiply(loop, m, n, part, block)
            if fx.const_expr(crossing and columns == 1):
                fx.rocdl.lds_barrier()
            for n in fx.range_constexpr(columns):
                ends = n + 1 == columns
                for m in reversed(range(rows)) if ends else range(rows):
                    given.multiply(loop, m, n, parts - 1, block)
                    if fx.const_expr(more and ends and m > 0):
                        way_a.read(m, following, buffer)
                if fx.const_expr(crossing and n == 0 and columns > 1):
                    fx.rocdl.lds_barrier()
                if fx.const_expr(more):
                    way_b.read(n, following, buffer)
                if fx.const_expr(more and ends):  # last what is wanted first: one wait does for the block
                    way_a.read(0, following, buffer)
            if fx.const_expr(loop.scheduled):
                _schedule(loop, block, now.has(1), now.has(2)).apply()
            else:
                fx.rocdl.sched_barrier(0)  # else reads of several blocks come early, for which registers do not suffice

    loop.pipeline.run(step, looped)
    return given.results(loop)


def _schedule(loop: TiledLoop, block: int, follows: bool, fetches: bool) -> Any:
    """The order of a block as it was traced; writes to LDS and loads of the first block spread over its products."""
    (rows, columns), packs = loop.wave_blocks, max(1, loop.depth // loop.lane_pack)
    early = rows * columns * (loop.halves * loop.atom.calls - 1)  # products that no reads follow
    moved = sum(loop.tile[:2]) * loop.tile[2] // loop.pack // loop.threads
    afar = ["ds_write"] * (moved * follows) + ["vmem_read"] * (moved * fetches) if block == 0 else []
    more, order = follows or block + 1 < loop.blocks, fx.rocdl.Schedule()
    if early:
        order = fx.rocdl.interleave(mfma=early, **{name: afar.count(name) for name in ("ds_write", "vmem_read")})
        afar = []
    spread = max(1, columns - 1)
    for n in range(columns):
        due = afar[len(afar) * n // spread : len(afar) * (n + 1) // spread] if n < spread else []
        counts = {name: due.count(name) for name in ("ds_write", "vmem_read")}
        if n + 1 < columns:
            order = order + fx.rocdl.interleave(mfma=rows, **counts)
        else:
            if due:
                order = order + fx.rocdl.Schedule(tuple((name, count) for name, count in counts.items() if count))
            order = order + fx.rocdl.Schedule((("mfma", 1), ("ds_read", packs)) if more else (("mfma", 1),)) * rows
        if more:
            order = order + fx.rocdl.Schedule((("ds_read", packs),))
    return order

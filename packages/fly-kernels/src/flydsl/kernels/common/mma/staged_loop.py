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
from .instructions import PAIR_BYTES
from .lds_ways import BUFFERS
from .loop_plan import TiledLoop
from .tiled_loop import LoopOperands

__all__ = ["staged_loop"]


class _Way:
    """The way of one operand: memory -> registers -> LDS -> fragments."""

    def __init__(self, loop: TiledLoop, tiles: Any, staged: Any, read: Any, fragment: Any, thread: Any) -> None:
        self._from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
        self._through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        chunks = loop.tile[2] // loop.pack
        across = fx.make_layout((loop.threads // chunks, chunks), (chunks, 1))  # threads along a row, a pack each
        packs = fx.make_layout((1, loop.pack), (1, 1))
        self._fetch = fx.make_tiled_copy_tv(self._from_memory, across, packs).get_slice(thread).partition_S(tiles)
        self._put = fx.make_tiled_copy_tv(self._through_lds, across, packs).get_slice(thread).partition_D(staged)
        self._first, self._scheduled = self._fetch[None, None, None, 0], loop.scheduled
        self._fetched = fx.make_fragment_like(self._first)
        self._source, self._target = read.partition_S(staged), read.retile(fragment)

    def fetch(self, step: int | fx.Int32) -> None:
        """Load a step to registers.

        How far it begins along K is the same for all threads: a scalar offset. Rows past the end of the operand read as
        zeros whether scalar offsets count there or not: they are as long as K. Where the compiler orders loads it has
        an addition in front of each instead, which keeps them apart: one after the other they take 9 % more of the
        predicted time (bf16, 128 x 128 on gfx1100).
        """
        if fx.const_expr(not self._scheduled):
            fx.copy(self._from_memory, self._fetch[None, None, None, step], self._fetched)
            return
        along = fx.crd2idx((0, 0, 0, step), fx.get_layout(self._fetch)).unpack()
        fx.copy(self._from_memory, self._first, self._fetched, soffset=along)

    def put(self, buffer: int) -> None:
        """Write what was loaded to LDS."""
        fx.copy(self._through_lds, self._fetched, self._put[None, None, None, buffer])

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
    tiled, sums, pointer = given.tiled, given.sums, fx.recast_iter(loop.element, lds)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
    if loop.staging is None:
        raise TypeError("staged_loop takes a loop with a staging")
    ways = []
    for which, reader in enumerate((fx.make_tiled_copy_B, fx.make_tiled_copy_A)):  # B is the instruction's rows
        rows, depth = loop.tile[which], loop.tile[2]
        staged = fx.make_view(pointer, loop.staging.layout(which, rows, depth, loop.pack, buffers))
        pointer = pointer + buffers * loop.staging.elements(which, rows, depth)
        read = reader(through_lds, tiled).get_slice(thread)
        ways.append(_Way(loop, given.tiles[which], staged, read, given.fragments[which], thread))
    way_a, way_b = ways
    pairs = fx.make_mma_atom(loop.atom.pair_operation()) if loop.atom.pairs else None
    halves = loop.halves * loop.atom.calls  # instructions that the packs of a lane feed
    (fragment_a, fragment_b), (rows, columns) = given.fragments, loop.wave_blocks

    def multiply(m: int, n: int, half: int, block: int) -> None:
        along_k: Any = block
        if fx.const_expr(loop.halves == 2):
            along_k = (half, block) if loop.blocks > 1 else half
        one = fx.coalesce(sums[None, n, m])
        b, a = (fx.coalesce(which[None, at, along_k]) for which, at in ((fragment_b, n), (fragment_a, m)))
        if fx.const_expr(pairs is None):
            fx.gemm(tiled, one, b, a, one)
            return
        b, a = (fx.logical_divide(which, fx.make_layout(PAIR_BYTES, 1)) for which in (b, a))
        part = half if loop.atom.calls > 1 else 0
        fx.gemm(pairs, one, b[None, part], a[None, part], one)

    def step_of_k(number: Any) -> Any:
        if fx.const_expr(start is None):
            return number
        turned = fx.Int32(number) + start
        return (turned >= loop.steps).select(turned - loop.steps, turned)

    def step(now: Any) -> None:
        if fx.const_expr(not now.has(0)):  # before the loop
            if fx.const_expr(now.has(1)):
                for one in ways:
                    one.put(now.buffer(1, buffers))
            if fx.const_expr(now.has(2)):
                for one in ways:
                    one.fetch(step_of_k(now.index(2)))
            if fx.const_expr(now.has(1)):
                fx.barrier()
                for one in ways:
                    one.read(None, 0, now.buffer(1, buffers))
            fx.rocdl.sched_barrier(0)
            return
        for block in fx.range_constexpr(loop.blocks):
            last = block + 1 == loop.blocks
            ahead = 1 if last else 0
            more = not last or now.has(1)  # there is a next block
            following, buffer = (block + 1) % loop.blocks, now.buffer(ahead, buffers)
            if fx.const_expr(block == 0 and now.has(1)):
                for one in ways:
                    one.put(now.buffer(1, buffers))
            if fx.const_expr(block == 0 and now.has(2)):
                for one in ways:
                    one.fetch(step_of_k(now.index(2)))
            crossing = last and more  # what is read next was written by others
            if fx.const_expr(crossing and columns == 1):
                fx.barrier()
            for n in fx.range_constexpr(columns):
                for half in fx.range_constexpr(halves):
                    for m in fx.range_constexpr(rows):
                        multiply(m, n, half, block)
                        if fx.const_expr(more and n + 1 == columns and half + 1 == halves):
                            way_a.read(m, following, buffer)
                if fx.const_expr(crossing and n == 0 and columns > 1):
                    fx.barrier()
                if fx.const_expr(more):
                    way_b.read(n, following, buffer)
            if fx.const_expr(loop.scheduled):
                _schedule(loop, block, now.has(1), now.has(2)).apply()
            else:
                fx.rocdl.sched_barrier(0)  # else reads of several blocks come early, for which registers do not suffice

    loop.pipeline.run(step, looped)
    return given.results(loop)


def _schedule(loop: TiledLoop, block: int, follows: bool, fetches: bool) -> Any:
    """The order of a block as it was traced; writes to LDS and loads of the first block spread over its columns."""
    (rows, columns), packs = loop.wave_blocks, max(1, loop.depth // loop.lane_pack)
    halves = loop.halves * loop.atom.calls
    moved = sum(loop.tile[:2]) * loop.tile[2] // loop.pack // loop.threads
    afar = ["ds_write"] * (moved * follows) + ["vmem_read"] * (moved * fetches) if block == 0 else []
    more, order = follows or block + 1 < loop.blocks, fx.rocdl.Schedule()
    spread = max(1, columns - 1)
    for n in range(columns):
        due = afar[len(afar) * n // spread : len(afar) * (n + 1) // spread] if n < spread else []
        counts = {name: due.count(name) for name in ("ds_write", "vmem_read")}
        whole = rows * (halves if n + 1 < columns else halves - 1)
        if whole:
            order = order + fx.rocdl.interleave(mfma=whole, **counts)
        elif due:
            order = order + fx.rocdl.Schedule(tuple((name, count) for name, count in counts.items() if count))
        if n + 1 == columns:
            order = order + fx.rocdl.Schedule((("mfma", 1), ("ds_read", packs)) if more else (("mfma", 1),)) * rows
        if more:
            order = order + fx.rocdl.Schedule((("ds_read", packs),))
    return order

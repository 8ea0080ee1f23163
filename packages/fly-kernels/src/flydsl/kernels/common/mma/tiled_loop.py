# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts: tiled copies bring fragments, a tiled MMA multiplies them.

A goes from memory through registers into one of two LDS buffers and from there to all waves; B goes straight into the
fragments of the waves that own its columns. K goes by in steps, a step in blocks of one pack of 16 bytes a lane (of
two, where the matrix instruction takes two). While a wave multiplies block k of step t it

- reads block k + 1 of A from LDS; the first block of step t + 1 while the last of step t is multiplied,
- reloads block k of B, when it has been multiplied, with the same block of step t + 1,
- in the first block, writes A of step t + 1 to LDS and loads that of step t + 2.

One barrier a step, before its last block: all waves have then read what they need of step t, and written step t + 1.
Where registers are short, or a step is one block, rows go in `parts`, and a part takes the place of a block.

Other ways of A:

- `direct`: from memory to LDS without registers (gfx950), behind the barrier, into the buffer that it freed; a step for
  each buffer ahead. Lanes fill LDS in their own order, so each loads what the swizzle has in its place.
- one buffer (`buffers`): written between two barriers, when all have read the last part of step t.
- straight into fragments as B, where no wave shares its rows with another (all are along K): neither LDS nor barriers.
- `staged_loop` and `quadrant_loop` are the forms in which both operands go through LDS.

How accesses lie between the matrix instructions is a `fx.rocdl.Schedule`, how steps overlap a `fx.Pipeline`; waits are
the compiler's. B of int4 is unpacked from one fragment to another, a block before each of its products.

The product is C transposed, B being the rows of the matrix instruction: so a lane holds neighbouring columns of C.

Scales of operands are the matter of `operand_scales`; they come a step ahead, as B does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..language import fx
from .column_views import ColumnViews
from .instructions import PACK_BYTES, PAIR_BYTES, unpack_int4
from .lds_ways import Access, DirectWay, Way, issue_all, load_step
from .loop_plan import TiledLoop
from .mx_staging import MxDirectWay, MxWay
from .operand_scales import MX_FORMATS, E8M0Scaling, F32Scaling, Scales
from .uniform_steps import UniformSteps

__all__ = ["LoopOperands", "tiled_loop"]


@dataclass(frozen=True)
class LoopOperands:
    """What the forms of the loop begin with.

    Attributes:
        tiled: the tiled MMA; B is the rows of the matrix instruction.
        mine: a thread's slice of it.
        carriers: see `TiledLoop.carriers`.
        tiles: A and B in memory as (rows, K of a step, steps).
        fragments: of A and B, of a step, as they come.
        sums: fragment of the results, zero.
    """

    tiled: fx.TiledMma
    mine: fx.ThrMma
    carriers: tuple[fx.TiledMma, fx.TiledMma]
    tiles: tuple[fx.Tensor, fx.Tensor]
    fragments: tuple[fx.Tensor, fx.Tensor]
    sums: fx.Tensor

    @staticmethod
    def of(loop: TiledLoop, a: fx.Tensor, b: fx.Tensor, thread: fx.Int32) -> LoopOperands:
        """See `tiled_loop` for the arguments."""
        tile_m, tile_n, tile_k = loop.tile
        tiled = loop.tiled_mma()
        mine = tiled.get_slice(thread)
        carriers = loop.carriers(tiled)
        for_a, for_b = (one.get_slice(thread) for one in carriers)
        rows_a = loop.staged_rows or tile_m
        tiles_a = fx.flat_divide(a, (rows_a, loop.units(tile_k)))[None, None, 0, None]
        tiles_b = fx.flat_divide(b, (tile_n, loop.units(tile_k, of_b=True)))[None, None, 0, None]
        one_a = tiles_a[None, None, 0]
        if loop.staged_rows > tile_m:
            row = loop.units(tile_k)
            one_a = fx.make_view(fx.get_iter(a), fx.make_layout((tile_m, row), (row, 1)))
        fragments = for_a.make_fragment_B(one_a), for_b.make_fragment_A(tiles_b[None, None, 0])
        sums = mine.make_fragment_C(fx.make_view(fx.get_iter(b), fx.make_layout((tile_n, tile_m), (1, tile_n))))
        sums.fill(0)
        return LoopOperands(tiled, mine, carriers, (tiles_a, tiles_b), fragments, sums)

    def multiply(self, loop: TiledLoop, m: int, n: int, part: int, block: int) -> None:
        """One matrix instruction of waves of 32 lanes: a part of the packs of K's block, of a row and a column block.

        A pack has `loop.halves * loop.atom.calls` parts; of pairs of int4 only the instruction knows that they are.
        """
        along_k = loop.along_k(block, part if loop.halves == 2 else None)
        one, (fragment_a, fragment_b) = fx.coalesce(self.sums[None, n, m]), self.fragments
        b, a = (fx.coalesce(which[None, at, along_k]) for which, at in ((fragment_b, n), (fragment_a, m)))
        if not loop.atom.pairs:
            fx.gemm(self.tiled, one, b, a, one)
            return
        b, a = (fx.logical_divide(which, fx.make_layout(PAIR_BYTES, 1)) for which in (b, a))
        at = part if loop.atom.calls > 1 else 0
        fx.gemm(fx.make_mma_atom(loop.atom.pair_operation()), one, b[None, at], a[None, at], one)

    def results(self, loop: TiledLoop) -> dict[tuple[int, int], Any]:
        """What `tiled_loop` returns."""
        rows, columns = loop.wave_blocks
        results = loop.atom.results
        return {(m, n): self.sums[None, n, m].load().reshape(results) for m in range(rows) for n in range(columns)}


def tiled_loop(
    loop: TiledLoop, a: fx.Tensor, b: fx.Tensor, lds: Any, thread: fx.Int32, looped: Any, scales: Scales | None = None
) -> dict[tuple[int, int], Any]:
    """The sums of a wave: r of a lane for each (row block, column block). Waves along K have still to be summed.

    Value i is row (lane mod 16) of the row block, column r (lane // 16) + i of the column block, r being
    `MatrixAtom.results`. Blocks (m, n) of wave (i, j) are row block m * waves[0] + i and column block
    n * waves[1] + j of the tile.

    Args:
        loop: the geometry.
        a: buffer tensor (tile_m, K), where rows that do not exist are past its end; of `loop.staged_rows` where A
            goes to LDS.
        b: buffer tensor (tile_n, K), likewise.
        lds: pointers to room for `loop.staged_rows` of a step, for each buffer; none where A goes straight to
            registers.
        thread: index in the workgroup.
        looped: `loop.looped` as a run-time value: a loop whose length the compiler knows it may well unroll.
        scales: of the operands, where the loop is `scaled`.
    """
    given = LoopOperands.of(loop, a, b, thread)
    tiled, mine, sums, (tiled_a, tiled_b) = given.tiled, given.mine, given.sums, given.carriers
    (tiles_a, tiles_b), (fragment_a, loaded_b) = given.tiles, given.fragments
    b_from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy(8 * loop.b_bytes), loop.b_element)

    # Memory -> fragments; B is the matrix instruction's rows.
    load_b = fx.make_tiled_copy_A(b_from_memory, tiled_b).get_slice(thread)
    source_b, targets_b = load_b.partition_S(tiles_b), [load_b.retile(loaded_b)]
    fragment_b, fragments_b = loaded_b, [loaded_b]
    for _ in range(loop.b_sets - 1):
        fragments_b.append(fx.make_fragment_like(loaded_b))
        targets_b.append(load_b.retile(fragments_b[-1]))
    if loop.packed:
        _, tile_n, tile_k = loop.tile
        fragment_b = mine.make_fragment_A(fx.make_view(fx.get_iter(b), fx.make_layout((tile_n, tile_k), (tile_k, 1))))

    views: ColumnViews | None = None
    if loop.by_columns or loop.uniform_steps or loop.scaled:
        views = ColumnViews(loop, sums, [fragment_b] if loop.packed else fragments_b, fragment_a)
    scaling: Any = None
    if scales is not None:
        scaling = (E8M0Scaling if loop.b_mx else F32Scaling)(loop, mine, scales, thread, views)

    def multiply(now: Any, group: int) -> None:
        if fx.const_expr(scaling is not None):
            scaling.multiply(tiled, sums, fragment_b, fragment_a, now, group)
            return
        if fx.const_expr(loop.atom.pairs):
            _by_parts(loop, given, range(loop.wave_blocks[1]), group)
            return
        if fx.const_expr(loop.packed):
            _unpack(loop, loaded_b, fragment_b, group)
        one = (None, None, loop.along_k(group))
        fx.gemm(tiled, sums, fragment_b[one], fragment_a[one], sums)

    def multiply_column(now: Any, n: int, group: int, part: int) -> None:
        assert views is not None
        which = 0 if loop.packed else now.buffer(0, loop.b_sets)
        if fx.const_expr(scaling is not None):
            scaling.multiply_column(tiled, which, now, group, n, loop.rows_of(part))
            return
        if fx.const_expr(loop.packed and part == 0):
            _unpack(loop, loaded_b, fragment_b, group, n)
        total = views.sums[n][part]
        fx.gemm(tiled, total, views.b[which][n][group], views.a[part][group], total)

    def reload_b(now: Any, group: int, n: int | None = None) -> None:
        for block in loop.blocks_of(group):
            target_b = targets_b[now.buffer(1, loop.b_sets)]
            load_step(b_from_memory, source_b, target_b[None, n, block], now, 1, n, block)
        if fx.const_expr(scaling is not None and n is None):
            scaling.load(now, group)

    if loop.private:
        from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
        load_a = fx.make_tiled_copy_B(from_memory, tiled_a).get_slice(thread)
        source_a, target_a = load_a.partition_S(tiles_a), load_a.retile(fragment_a)
        if loop.uniform_steps:
            way_of_a = UniformSteps(from_memory, load_a, tiles_a, target_a)
            way_of_b = UniformSteps(b_from_memory, load_b, tiles_b, targets_b[0])

            def ordered_step(now: Any) -> None:
                _ordered_step(loop, given, now, way_of_a, way_of_b, multiply_column)

            loop.pipeline.run(ordered_step, looped)
            return given.results(loop)

        def reload(now: Any, group: int) -> None:
            for block in loop.blocks_of(group):
                if fx.const_expr(loop.atom.wave == 32):  # whose instructions have room for what is constant
                    for atom, source, target in (
                        (from_memory, source_a, target_a), (b_from_memory, source_b, targets_b[0])
                    ):  # fmt: skip
                        along = fx.crd2idx((0, 0, 0, now.index(1)), fx.get_layout(source)).unpack()
                        fx.copy(atom, source[None, None, block, 0], target[None, None, block], soffset=along)
                else:
                    fx.copy(from_memory, source_a[None, None, block, now.index(1)], target_a[None, None, block])
            if fx.const_expr(loop.atom.wave != 32):
                reload_b(now, group)

        def private_step(now: Any) -> None:
            for group in fx.range_constexpr(loop.groups):
                late = loop.lags and now.has(0)
                if fx.const_expr(late and now.has(1) and group > 0):
                    reload(now, group - 1)
                if fx.const_expr(now.has(0)):
                    multiply(now, group)
                if fx.const_expr(now.has(1) and not late):
                    reload(now, group)
                if fx.const_expr(now.has(0)):
                    _order(loop, now, group)
                else:
                    _fence()
                if fx.const_expr(late and now.has(1) and group + 1 == loop.groups):
                    reload(now, group)
                    _fence()

        loop.pipeline.run(private_step, looped)
        return given.results(loop)

    mx = MX_FORMATS["fp8"] if loop.by_coordinates else None
    mx = loop.formats[0] if loop.formats is not None else mx
    if mx is not None:
        by_coordinates = MxDirectWay if loop.direct else MxWay
        rows_of_a = None if views is None or scaling is None else views.rows_of_a
        way: Way = by_coordinates(loop, mx, tiles_a, tiled_a, fragment_a, lds[: loop.buffers], thread, rows_of_a)
    else:
        kind = DirectWay if loop.direct else Way
        way = kind(loop, 0, tiles_a, tiled_a, fragment_a, lds[: loop.buffers], thread)
    late = loop.buffers == 1 or loop.direct
    single = len(loop.phases) == 1

    def step(now: Any) -> None:
        fetches = now.has(loop.pipeline.ahead)
        if fx.const_expr(not now.has(0)):  # before the loop; first what comes from afar
            if fx.const_expr(fetches):
                issue_all(way.fetches(now))
                _fence()
            if fx.const_expr(now.has(1)):
                for group in fx.range_constexpr(loop.groups):
                    reload_b(now, group)
                    _fence()
                issue_all(way.puts(now))  # the first step
                fx.barrier()
                issue_all(way.reads(now, 0, 1))
            return
        for phase in fx.range_constexpr(len(loop.phases)):
            group, part = loop.phases[phase]
            first, last = phase == 0, phase + 1 == len(loop.phases)
            if fx.const_expr(single):  # what is read next takes the place of what is multiplied
                multiply(now, group)
                if fx.const_expr(not late and now.has(1)):
                    issue_all(way.puts(now))
            if fx.const_expr(last and now.has(1)):
                fx.barrier()  # all have read this step, and written the next
                if fx.const_expr(loop.buffers == 1):
                    issue_all(way.fetches(now) if loop.direct else way.puts(now))
                    fx.barrier()
            # What lies between the products, in the order in which it is needed.
            accesses = []
            if fx.const_expr(now.has(1) or not last):
                accesses += way.reads(now, (phase + 1) % len(loop.phases), 1 if last else 0)
            if fx.const_expr(first and not late and not single and now.has(1)):
                accesses += way.puts(now)
            if fx.const_expr((last if late else first) and fetches and not (loop.direct and loop.buffers == 1)):
                accesses += way.fetches(now)
            ends = part + 1 == loop.parts
            reloads = now.has(1) and (ends if loop.b_sets == 1 else part == 0)
            if fx.const_expr(not loop.by_columns):
                issue_all(accesses)
                if fx.const_expr(not single):
                    multiply(now, group)
                if fx.const_expr(reloads):
                    reload_b(now, group)
                _order(loop, now, phase)
                continue
            words = scaling.loads if scaling is not None and first and now.has(1) else 0  # for the next step
            early = _early(loop, accesses)
            rest, columns = [one for one in accesses if one not in early], loop.wave_blocks[1]
            for n in fx.range_constexpr(columns):
                due = (early if n == 0 else []) + rest[len(rest) * n // columns : len(rest) * (n + 1) // columns]
                issue_all(due)
                if fx.const_expr(words > 0 and n == 0):
                    for block in fx.range_constexpr(loop.groups):
                        scaling.load(now, block)
                multiply_column(now, n, group, part)
                if fx.const_expr(scaling is not None and last and n + 1 == columns):
                    scaling.finish()
                if fx.const_expr(reloads):  # B, which takes the place of what was multiplied
                    reload_b(now, group, n)
                if fx.const_expr(loop.scheduled):
                    _column(loop, due, early if n == 0 else [], reloads, words * (n == 0)).apply()

    loop.pipeline.run(step, looped)
    return given.results(loop)


def _ordered_step(
    loop: TiledLoop,
    given: LoopOperands,
    now: Any,
    of_a: UniformSteps,
    of_b: UniformSteps,
    multiply_column: Callable[..., None],
) -> None:
    """A step whose operands go straight to the fragments of waves of 32 lanes, in the order in which it is traced.

    While a block of K is multiplied the one before it is loaded again, of the next step; and with the first block the
    last one, of this step. What the first products of a block want comes last, so that one wait does for all of it.
    """
    (rows, columns), last = loop.wave_blocks, loop.groups - 1
    parts = loop.halves * loop.atom.calls
    # Two products in a row that add to the same sums wait for each other: those of all columns go between them, if
    # these are enough.
    together = columns if rows == 1 and columns > 2 and parts > 1 else 1

    def loads_of(block: int, ahead: int) -> list[Access]:
        order = [(of_b, n, loop.halves) for n in range(columns - 1, -1, -1)]
        order += [(of_a, m, 1) for m in range(rows - 1, -1, -1)]
        return [
            Access("vmem_read", functools.partial(way.load, at, block, now, ahead), count) for way, at, count in order
        ]

    of_a.begin(now)
    of_b.begin(now)
    if fx.const_expr(not now.has(0)):  # before the loop
        for block in fx.range_constexpr(last):
            issue_all(loads_of(block, 1))
            _fence()
        return
    for group in fx.range_constexpr(loop.groups):
        loads = loads_of((group - 1) % loop.groups, min(group, 1)) if group == 0 or now.has(1) else []
        for first in range(0, columns, together):
            those = range(first, min(first + together, columns))
            due = loads[len(loads) * first // columns : len(loads) * those.stop // columns]
            issue_all(due)
            if fx.const_expr(together > 1 or loop.atom.pairs):
                _by_parts(loop, given, those, group)
            else:
                multiply_column(now, first, group, 0)
            if fx.const_expr(loop.scheduled):
                products, lead = rows * parts * len(those), int(together > 1)
                order = fx.rocdl.Schedule((("mfma", lead),) if lead else ())
                (order + fx.rocdl.interleave(mfma=products - lead, vmem_read=sum(one.count for one in due))).apply()
                _fence()


def _by_parts(loop: TiledLoop, given: LoopOperands, columns: range, block: int) -> None:
    """Products of some columns of a wave: the first part of all packs, then the second."""
    for part in range(loop.halves * loop.atom.calls):
        for n in columns:
            for m in range(loop.wave_blocks[0]):
                given.multiply(loop, m, n, part, block)


def _early(loop: TiledLoop, accesses: list[Access]) -> list[Access]:
    """Those that go before the first product, see `TiledLoop.preload`."""
    reads = [one for one in accesses if one.name == "ds_read"]
    return reads[: loop.preload[0]] + [one for one in accesses if one.name != "ds_read"][: loop.preload[1]]


def _column(loop: TiledLoop, due: list[Access], early: list[Access], reloads: bool, words: int) -> fx.rocdl.Schedule:
    """The order of a column of products, of those rows that a part has, with loads of `words` scales."""
    counts = {
        name: sum(one.count for one in due if one.name == name and one not in early)
        for name in ("ds_read", "ds_write", "vmem_read")
    }
    packs = max(1, loop.units(loop.depth, of_b=True) // loop.lane_pack) * loop.joined
    counts["vmem_read"] += words + reloads * packs
    begin = fx.rocdl.Schedule(tuple((one.name, one.count) for one in early))
    products = len(loop.rows_of(0)) * loop.halves * loop.joined
    lead = min(loop.lead, products - 1)
    begin += fx.rocdl.Schedule((("mfma", lead),) if lead else ())
    return begin + fx.rocdl.interleave(mfma=products - lead, **counts)


def _unpack(loop: TiledLoop, pairs: fx.Tensor, fragment: fx.Tensor, block: int, column: int | None = None) -> None:
    """Make int8 of the int4 of a block of K, of one block of columns or of all, see `unpack_int4`."""
    words = PACK_BYTES // 4 // loop.halves
    for n in range(loop.wave_blocks[1]) if column is None else [column]:
        unpacked = unpack_int4(fx.coalesce(pairs[None, n, block]).load().bitcast(fx.Int32))
        for half in range(loop.halves):
            part = fx.coalesce(fragment[None, n, loop.along_k(block, half)])
            part.store(unpacked.shuffle(unpacked, list(range(half * words, (half + 1) * words))).bitcast(fx.Int8))


def _order(loop: TiledLoop, now: Any, phase: int) -> None:
    """Ask for the schedule of a phase; where A goes straight to fragments that is a group of blocks of K."""
    if fx.const_expr(loop.scheduled):
        loop.schedule(phase, now.has(1), now.has(now.pipeline.ahead)).apply()


def _fence() -> None:
    """Loads before the loop keep the order of those in it: waits inside then do for both ways into an iteration."""
    fx.rocdl.sched_barrier(0)

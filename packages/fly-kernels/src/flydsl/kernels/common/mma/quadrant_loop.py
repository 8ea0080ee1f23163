# SPDX-License-Identifier: Apache-2.0
"""The main loop of large tiles of plain operands on gfx950: both go straight to LDS, and a step is four quadrants.

What two waves of a SIMD multiply in a step of 128 bytes of K takes about as long as its operands take to come from L2,
so those of one step ahead come late. LDS has room for two steps only, but not all of a step stays in use to its end:

    quadrant    multiplies              reads to registers               asks memory for
    1           A upper, B first        B second, half of A lower        A upper of step t + 2
    2           A upper, B second       the rest of A lower              B first of step t + 2
    3           A lower, B second       half of A upper of t + 1         A lower of step t + 2
    4           A lower, B first        the rest, B first of t + 1       B second of step t + 2

A half goes to where the same half of step t was, one and a half steps before it is read. At the first and the third
quadrant all waves meet; by then what they read next is there, and nobody reads any more what is written next. Halves of
B change places from step to step, so that the one which is read in the fourth quadrant is not multiplied there. In a
quadrant the reads come first and the loads among the later products: what all waves ask L1 for at once, right behind a
barrier, holds both waves of a SIMD up.

The matrix instruction is 32 x 32: its 16 sums stay where they are from one product to the next (LLVM ties them), while
the 4 of 16 x 16 wander, and need room for that. A row of a step is 8 packs of 16 bytes. Pack c of row r stands at
c xor (r // 2): a read of 32 rows then meets no bank twice. Loads to LDS fill it lane by lane, so a lane loads the pack
that belongs where its 16 bytes go. Of 16 rows of B the second and the third 4 change places, so that a lane has 8
neighbouring columns of the result, not 4 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..black_box import black_box_in_loop
from ..language import fx
from .instructions import PACK_BYTES
from .lds_ways import BUFFERS
from .loop_plan import QUADRANT_STEP_BYTES, TiledLoop
from .quadrants import HALVES, ROWS, RUN, SUMS, moves_of_half, operand_layout, result_runs, row_of_lane, turn_of_row

__all__ = ["QuadrantLoop"]

_CHUNKS = QUADRANT_STEP_BYTES // PACK_BYTES
_GROUPS = 2  # of 32 lanes, which hold different packs of a row
_PACKS = _CHUNKS // _GROUPS  # of a lane of one row


@dataclass(frozen=True)
class QuadrantLoop:
    """The geometry of the loop: `loop` that has `quadrants`."""

    loop: TiledLoop

    @property
    def pack(self) -> int:
        """Elements in 16 bytes."""
        return self.loop.pack

    def blocks(self, operand: int) -> int:
        """Blocks of 32 rows of a half of A (0) or B (1) that a wave has."""
        return self.loop.tile[operand] // (HALVES * ROWS * self.loop.waves[operand])

    def moves(self, operand: int) -> int:
        """Loads with which a thread brings its part of a half."""
        return moves_of_half(self.loop, operand, _CHUNKS)

    def half_bytes(self, operand: int) -> int:
        """LDS of a half of a step."""
        return self.loop.tile[operand] // HALVES * QUADRANT_STEP_BYTES

    def operand_layout(self, operand: int, row: int | fx.Numeric, *, shuffled: bool) -> fx.Layout:
        """That of `quadrants`: rows are `row` elements apart, or in the order of `shuffle_weight`."""
        return operand_layout(self.loop, operand, row, pack=self.pack, chunks=_CHUNKS, shuffled=shuffled)

    def lds_chunks(self) -> int:
        """Packs of the upper half of A and one half of B, or of the others, of a step."""
        return (self.half_bytes(0) + self.half_bytes(1)) // PACK_BYTES

    def run(
        self, a: fx.Tensor, b: fx.Tensor, lds: Sequence[fx.Pointer], thread: fx.Int32, looped: fx.Int32
    ) -> dict[tuple[int, int], fx.Vector]:
        """The sums of a wave, of 8 neighbouring columns each, as `output_copy` numbers them.

        Args:
            a, b: buffer tensors with `operand_layout`.
            lds: pointers to rooms of `lds_chunks`, two for each buffer.
            thread: index in the workgroup.
            looped: `loop.looped` as a run-time value.
        """
        loop = self.loop
        wave = thread // 64
        of_a = _Operand(self, 0, a, lds, thread, wave // loop.waves[1])
        of_b = _Operand(self, 1, b, lds, thread, wave % loop.waves[1])
        both = of_a, of_b
        rows, columns = self.blocks(0), self.blocks(1)
        sums = fx.make_rmem_tensor((SUMS, columns, HALVES, rows, HALVES), loop.atom.accumulator)
        sums.fill(0)
        atom, packs = loop.large_atom()
        products = rows * columns * (_PACKS // packs)

        def multiply(upper: int, first: int) -> None:
            for block in range(0, _PACKS, packs):
                for n in range(columns):
                    for m in range(rows):
                        total = sums[None, n, first, m, upper]
                        each = of_b.of_block(first, n, block, packs), of_a.of_block(upper, m, block, packs)
                        fx.gemm(atom, total, *each, total)

        def meet(buffer: int, late: int) -> None:
            """Wait for all waves, and for the halves of both operands that go to a room."""
            fx.rocdl.barrier_after_copies(lds[HALVES * buffer + late])

        def fetch(now: Any, late: int, *operands: int) -> None:
            halves = late, now.phase % HALVES ^ late  # of B a step begins with the one of its number
            for one in operands:
                both[one].fetch(now.index(2), now.buffer(2, BUFFERS), halves[one], late)

        def order(reads: int, moved: int) -> None:
            if fx.const_expr(loop.scheduled):
                fx.rocdl.interleave(mfma=products, ds_read=reads, vmem_read=moved).apply()
            fx.rocdl.sched_barrier(0)

        def step(now: Any) -> None:
            first = now.phase % HALVES
            here, there = now.buffer(0, BUFFERS), now.buffer(1, BUFFERS)
            if fx.const_expr(not now.has(0)):
                if fx.const_expr(now.has(2)):
                    fetch(now, 0, 0, 1)
                    fetch(now, 1, 0, 1)
                if fx.const_expr(now.has(1)):
                    meet(there, 0)
                    of_a.read(0, there, 0, range(_PACKS))
                    of_b.read(first ^ 1, there, 0, range(_PACKS))
                fx.rocdl.sched_barrier(0)
                return
            meet(here, 1)
            of_b.read(first ^ 1, here, 1, range(_PACKS))
            of_a.read(1, here, 1, range(_PACKS // 2))
            if fx.const_expr(now.has(2)):
                fetch(now, 0, 0)
            multiply(0, first)
            order(_PACKS * columns + _PACKS // 2 * rows, self.moves(0) * now.has(2))
            of_a.read(1, here, 1, range(_PACKS // 2, _PACKS))
            if fx.const_expr(now.has(2)):
                fetch(now, 0, 1)
            multiply(0, first ^ 1)
            order(_PACKS // 2 * rows, self.moves(1) * now.has(2))
            if fx.const_expr(now.has(1)):
                meet(there, 0)
                of_a.read(0, there, 0, range(_PACKS // 2))
                if fx.const_expr(now.has(2)):
                    fetch(now, 1, 0)
            multiply(1, first ^ 1)
            order(_PACKS // 2 * rows * now.has(1), self.moves(0) * now.has(2))
            if fx.const_expr(now.has(1)):
                of_a.read(0, there, 0, range(_PACKS // 2, _PACKS))
                of_b.read(first ^ 1, there, 0, range(_PACKS))
            if fx.const_expr(now.has(2)):
                fetch(now, 1, 1)
            multiply(1, first)
            order((_PACKS // 2 * rows + _PACKS * columns) * now.has(1), self.moves(1) * now.has(2))

        loop.pipeline.run(step, looped)
        results = {}
        for upper in range(HALVES):
            for m in range(rows):
                for half in range(HALVES):
                    for n in range(columns):
                        for run, values in enumerate(result_runs(sums[None, n, half, m, upper])):
                            column = (half * columns + n) * (SUMS // RUN) + run
                            results[upper * rows + m, column] = values
        return results


class _Operand:
    """A or B of one thread: in memory, in LDS and in registers."""

    def __init__(
        self, geometry: QuadrantLoop, operand: int, tensor: fx.Tensor, lds: Any, thread: fx.Int32, number: fx.Int32
    ) -> None:
        loop, pack = geometry.loop, geometry.pack
        self._moves, blocks = geometry.moves(operand), geometry.blocks(operand)
        self._loads = fx.make_copy_atom(fx.rocdl.BufferCopyLDS128b(), loop.element)
        self._reads = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        line, chunk = thread // _CHUNKS, thread % _CHUNKS
        begin = (0, (chunk ^ turn_of_row(line, _CHUNKS), 0), (line, 0, 0))
        self._mine = fx.Int32(fx.crd2idx(begin, tensor.layout))
        self._source = tensor[None, (0, None), (0, None, None)]  # pack, steps, loads, halves
        first_lane = fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64)
        start = geometry.half_bytes(0) // loop.atom.element_bytes if operand else 0
        lane = thread % 64
        group = lane // ROWS
        line = row_of_lane(operand, lane)
        self._row = QUADRANT_STEP_BYTES // loop.atom.element_bytes
        self._targets, self._rooms = [], []
        for one in lds:
            room = fx.recast_iter(loop.element, one) + start
            packs = fx.make_view(
                room, fx.make_layout((pack, loop.threads, self._moves), (1, pack, pack * loop.threads))
            )
            self._targets.append(packs[None, fx.Int32(first_lane), None])
            self._rooms.append(room)
        # The first pack of a lane: others of its row are apart by an exclusive or, blocks by whole rows.
        turned = (group ^ turn_of_row(line, _CHUNKS)) * pack
        self._first = (number * (ROWS * blocks) + line) * self._row + turned
        self._held = fx.make_rmem_tensor((pack, _PACKS, blocks, HALVES), loop.element)
        self._blocks, self._pack = blocks, pack

    def fetch(self, step: Any, buffer: int, half: int, late: int) -> None:
        """Bring a half of a step to LDS."""
        target = self._targets[HALVES * buffer + late]
        source = fx.make_view(fx.get_iter(self._source) + black_box_in_loop(self._mine), self._source.layout)
        for move in range(self._moves):
            fx.copy(self._loads, source[None, step, move, half], target[None, move])

    def read(self, half: int, buffer: int, late: int, packs: Sequence[int]) -> None:
        """Bring some packs of the rows of a half from LDS to registers."""
        # Addresses are made where they are used: a register for each of them would not be there.
        first, room = black_box_in_loop(self._first), self._rooms[HALVES * buffer + late]
        for pack in packs:
            start = room + (first ^ (_GROUPS * self._pack * pack))
            rows = fx.make_view(start, fx.make_layout((self._pack, self._blocks), (1, ROWS * self._row)))
            for block in range(self._blocks):
                fx.copy(self._reads, rows[None, block], self._held[None, pack, block, half])

    def of_block(self, half: int, block: int, first: int, packs: int) -> fx.Tensor:
        """What an instruction takes of a block of rows: so many packs of a lane."""
        start = fx.get_iter(self._held[None, first, block, half])
        return fx.make_view(start, fx.make_layout(packs * self._pack, 1))

# SPDX-License-Identifier: Apache-2.0
"""The main loop of large tiles of operands with scales of parts of K on gfx950: both go straight to LDS.

As in `quadrant_loop`, halves of rows and of columns are replaced in LDS as soon as they have been read. But a product
with an f32 scale begins from nothing, in registers of its own, and scales are held, too: so a wave has two of its four
blocks of 32 rows of A in registers, not all. In a step of 128 bytes of A's rows it multiplies one block after the other
with its two blocks of columns, and reads the next block meanwhile:

    block of A   reads to registers                 asks memory for
    0, upper     second block of B, block 1
    1, upper     block 2                            upper A, first half of B of step t + 2
    2, lower     block 3                            second half of B of step t + 2
    3, lower     block 0, first block of B, t + 1   scales, lower A of step t + 2

All waves meet before the blocks 1 and 3: what is read next is there, and what is written next has been read. Loads are
four to six blocks ahead of their use. Halves of B change places from step to step, so that the one which is read with
block 3 is not multiplied any more.

Matrix instructions, LDS and the order of columns are those of `quadrant_loop`; a row of B in 4 bits beside A in 8 has
4 packs, of which that with number c stands at c xor (row // 4). f32 scales have instructions of 16 x 16 x 128, whose
products take 4 registers. A word of E8M0 scales, which `shuffle_scale` made for these, has those of the rows r and
r + 16; the lanes of the latter shift theirs, so that all take the same byte. Scales of a step go to LDS as well, a word
a thread of each operand, and from there to the lanes with the block before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from ..black_box import black_box_in_loop
from ..language import fx
from .instructions import PACK_BYTES
from .lds_ways import BUFFERS, Access, issue_all
from .loop_plan import TiledLoop
from .operand_scales import BLOCK, Scales
from .quadrants import HALVES, ROWS, RUN, SUMS, moves_of_half, operand_layout, result_runs, row_of_lane, turn_of_row

__all__ = ["SCALED_BLOCKS", "ScaledQuadrantLoop"]

SCALED_BLOCKS = 4, 2
"""Blocks of 32 rows of A, and of B, that a wave has."""

_DEPTH = 64  # of K, of an instruction
_ROWS_OF_A, _ROWS_OF_B = SCALED_BLOCKS
_WORDS = 2  # of E8M0 scales of a block
_WAITING = 3  # products that the matrix unit works on before the first of them is scaled
_LEFT = 1  # of them, that a step leaves to the next; with two, a register is spilled


@dataclass(frozen=True)
class ScaledQuadrantLoop:
    """The geometry of the loop: `loop` that has `quadrants`, and scales."""

    loop: TiledLoop

    def chunks(self, operand: int) -> int:
        """Packs of a row of A (0) or B (1) in a step."""
        return self.loop.units(self.loop.tile[2], of_b=operand == 1) // PACK_BYTES

    def moves(self, operand: int) -> int:
        """Loads with which a thread brings its part of a half."""
        return moves_of_half(self.loop, operand, self.chunks(operand))

    def half_bytes(self, operand: int) -> int:
        """LDS of a half of a step."""
        return self.loop.tile[operand] // HALVES * self.chunks(operand) * PACK_BYTES

    def operand_layout(self, operand: int, row: int | fx.Numeric, *, shuffled: bool) -> fx.Layout:
        """That of `quadrants`: rows are `row` bytes apart, or in the order of `shuffle_weight`."""
        chunks = self.chunks(operand)
        return operand_layout(self.loop, operand, row, pack=PACK_BYTES, chunks=chunks, shuffled=shuffled)

    def lds_chunks(self) -> tuple[int, ...]:
        """Packs of the rooms of LDS: of upper A and all of B, and of lower A, of each buffer; then of scales."""
        upper = self.half_bytes(0) + HALVES * self.half_bytes(1)
        scales = 2 * self.loop.threads * 4
        sizes = [upper, self.half_bytes(0)] * BUFFERS + [scales] * BUFFERS
        return tuple(size // PACK_BYTES for size in sizes)

    def run(
        self,
        a: fx.Tensor,
        b: fx.Tensor,
        lds: Sequence[fx.Pointer],
        thread: fx.Int32,
        looped: fx.Int32,
        scales: Scales,
    ) -> dict[tuple[int, int], fx.Vector]:
        """The sums of a wave, of 8 neighbouring columns each, as `output_copy` numbers them for `quadrants`.

        Args:
            a, b: buffer tensors of bytes with `operand_layout`.
            lds: pointers to the rooms of `lds_chunks`, of each buffer.
            thread: index in the workgroup.
            looped: `loop.looped` as a run-time value.
            scales: f32, (rows, blocks of K) and (blocks of columns, blocks of K); or words of E8M0, (64 lanes, words
                along K, blocks of 32 rows).
        """
        loop = self.loop
        numbers = thread // 64 // loop.waves[1], thread // 64 % loop.waves[1]
        of_a = _Operand(self, 0, a, lds, thread, numbers[0])
        of_b = _Operand(self, 1, b, lds, thread, numbers[1])
        scaling = (_E8M0 if loop.b_mx else _F32)(self, scales, lds[2 * BUFFERS :], thread, numbers)
        sums = fx.make_rmem_tensor((SUMS, _ROWS_OF_B, _ROWS_OF_A), fx.Float32)
        sums.fill(0.0)

        def fetches(now: Any, operand: _Operand, half: int) -> list[Access]:
            return operand.fetches(now.index(2), now.buffer(2, BUFFERS), half) if now.has(2) else []

        def step(now: Any) -> None:
            first = now.phase % HALVES  # of B a step begins with the half of its number
            here, there = now.buffer(0, BUFFERS), now.buffer(1, BUFFERS)
            for row in range(_ROWS_OF_A):
                last, early, late = row + 1 == _ROWS_OF_A, [], []
                if fx.const_expr(row == 1 and now.has(0)):
                    fx.rocdl.barrier_after_copies(lds[2 * here + 1])
                elif fx.const_expr(row == 3 and now.has(1)):
                    fx.rocdl.barrier_after_copies(lds[2 * there], scaling.room(now, 1))
                if fx.const_expr(now.has(1) if last else now.has(0)):
                    if fx.const_expr(row == 0):
                        early = of_b.reads(first ^ 1, here)
                    wanted = scaling.reads(now, (row + 1) % _ROWS_OF_A)
                    rows = of_a.reads(0, there) if last else of_a.reads(row + 1, here)
                    # A first product wants its words of E8M0; f32 scales are wanted when it has been made.
                    early += rows + wanted if loop.scaled else wanted + rows
                    late = of_b.reads(first ^ 1, there) if last else []  # when it is not multiplied any more
                # Loads go behind reads: what reads wait for is short.
                if fx.const_expr(row == 1):
                    early += fetches(now, of_a, 0) + fetches(now, of_b, first)
                elif fx.const_expr(row == 2):
                    early += fetches(now, of_b, first ^ 1)
                elif fx.const_expr(row == 3):
                    early += (scaling.fetches(now) if now.has(2) else []) + fetches(now, of_a, 1)
                halves = (first, first ^ 1) if row % 2 == 0 else (first ^ 1, first)
                if fx.const_expr(now.has(0)):
                    scaling.begin(now, row)
                    scaling.multiply(sums, of_b, of_a, now, row, halves, early, late)
                else:
                    issue_all(early + late)
                    fx.rocdl.sched_barrier(0)

        loop.pipeline.run(step, looped)
        scaling.finish(sums, loop.steps - 1)
        results = {}
        for row in range(_ROWS_OF_A):
            for column in range(_ROWS_OF_B):
                for run, values in enumerate(result_runs(sums[None, column, row])):
                    place = (2 * row + run, column) if loop.scaled else (row, column * (SUMS // RUN) + run)
                    results[place] = values
        return results


def _line_of_16(operand: int, lane: Any) -> Any:
    """As `row_of_lane`, of the first of two instructions of 16: so that a lane has 8 neighbouring columns of both."""
    row = lane % 16
    return row % 4 + row // 4 * 8 if operand else row


class _Operand:
    """A or B of one thread: in memory, in LDS and in registers."""

    def __init__(
        self, geometry: ScaledQuadrantLoop, operand: int, tensor: fx.Tensor, lds: Any, thread: fx.Int32, number: Any
    ) -> None:
        loop, chunks = geometry.loop, geometry.chunks(operand)
        formats, element = loop.formats, loop.b_element if operand else loop.element
        self.format = None if formats is None else formats[operand]
        self.moves, self._chunks = geometry.moves(operand), chunks
        self._loads = fx.make_copy_atom(fx.rocdl.BufferCopyLDS128b(), element)
        self._reads = fx.make_copy_atom(fx.UniversalCopy128b(), element)
        line, chunk = thread // chunks, thread % chunks
        self._small = loop.scaled  # instructions of 16 rows
        begin = (0, (chunk ^ self._turn(operand, line), 0), (line, 0, 0))
        self._mine = fx.Int32(fx.crd2idx(begin, tensor.layout))
        self._source = tensor[None, (0, None), (0, None, None)]  # pack, steps, loads, halves
        first_lane = fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64)
        lane = thread % 64
        group = lane // (16 if self._small else ROWS)
        line = _line_of_16(operand, lane) if self._small else row_of_lane(operand, lane)
        self._row = chunks * PACK_BYTES
        half = geometry.half_bytes(operand)
        blocks = SCALED_BLOCKS[operand] // HALVES  # of a half
        self._targets: list[list[Any]] = []  # by buffer and half
        self._rooms: list[list[Any]] = []
        for buffer in range(BUFFERS):
            upper, lower = (fx.recast_iter(element, one) for one in lds[2 * buffer : 2 * buffer + 2])
            after_a = geometry.half_bytes(0)
            self._rooms.append([upper + after_a, upper + (after_a + half)] if operand else [upper, lower])
            packs = fx.make_layout((PACK_BYTES, loop.threads, self.moves), (1, PACK_BYTES, PACK_BYTES * loop.threads))
            self._targets.append([
                fx.make_view(room, packs)[None, fx.Int32(first_lane), None] for room in self._rooms[-1]
            ])  # fmt: skip
        # The first pack of a lane: others of its row are apart by an exclusive or, rows by whole ones.
        six = self.format is not None and self.format.used == 24
        turned = (group * (2 if six else 1) ^ self._turn(operand, line)) * PACK_BYTES
        self._first = (number * (ROWS * blocks) + line) * self._row + turned
        self._blocks = blocks
        # Packs of an instruction, and of all of them the places beside the first: (rows, packs).
        self.packs = 1 if self.format is not None and self.format.bits == 4 else 2
        if self._small:
            self._places = [(rows * (4 if operand else 16), 4 * pack) for rows in range(2) for pack in range(2)]
        elif self.packs == 1:
            self._places = [(0, 2 * pack) for pack in range(chunks // 2)]
        else:
            self._places = [(0, 4 * (at // 2) + at % 2 * (1 if six else 2)) for at in range(chunks // 2)]
        self._held = fx.make_rmem_tensor((PACK_BYTES, chunks // 2, 2), element)

    def _turn(self, operand: int, line: Any) -> Any:
        """As `turn_of_row`; of B with small instructions for the groups of 4 in 32 rows that are read at once."""
        if operand and self._small:
            return line // 2 % 2 + line // 8 % 4 * 2
        return turn_of_row(line, self._chunks)

    def fetches(self, step: Any, buffer: int, half: int) -> list[Access]:
        """Bring a half of a step to LDS."""

        # The step is added once; what loads of a half have apart, all lanes share.
        @lru_cache(maxsize=1)
        def source() -> fx.Tensor:
            start = self._mine + fx.crd2idx((0, step, 0, 0), self._source.layout).unpack()
            return fx.make_view(fx.get_iter(self._source) + start, self._source.layout)[None, 0, 0, 0]

        def fetch(move: int) -> None:
            apart = fx.crd2idx((0, 0, move, half), self._source.layout).unpack()
            fx.copy(self._loads, source(), self._targets[buffer][half][None, move], soffset=apart)

        return [Access("vmem_read", partial(fetch, move)) for move in range(self.moves)]

    def reads(self, block: int, buffer: int) -> list[Access]:
        """Bring a block of rows from LDS to registers."""
        room = self._rooms[buffer][block // self._blocks] + block % self._blocks * ROWS * self._row

        # Addresses are made where they are used: a register for each of them would not be there.
        @lru_cache(maxsize=1)
        def first() -> fx.Int32:
            return black_box_in_loop(self._first)

        @lru_cache(maxsize=8)
        def start(pack: int) -> fx.Pointer:
            place: fx.Pointer = room + (first() ^ (PACK_BYTES * pack))
            return place

        def read(at: int, rows: int, pack: int) -> None:
            source = fx.make_view(start(pack) + rows * self._row, fx.make_layout(PACK_BYTES, 1))
            fx.copy(self._reads, source, self._held[None, at, block % 2])

        return [Access("ds_read", partial(read, at, *place)) for at, place in enumerate(self._places)]

    def of_instruction(self, block: int, number: int) -> fx.Tensor:
        """What an instruction takes of a block of rows."""
        start = fx.get_iter(self._held[None, number * self.packs, block % 2])
        whole = fx.make_view(start, fx.make_layout(self.packs * PACK_BYTES, 1))
        if self.format is None or self.format.used == self.packs * PACK_BYTES:
            return whole
        words = whole.load().bitcast(fx.Int32)
        dense = fx.make_rmem_tensor(self.format.used // 4, fx.Int32)
        dense.store(words.shuffle(words, list(range(self.format.used // 4))))
        return dense


class _Scaling(ABC):
    """Scales on their way from memory through LDS, one word a thread of each operand, for `steps` steps of K.

    They are asked for when all have read those that were there, and read with the block before.

    Args:
        geometry, lds, thread: see `ScaledQuadrantLoop.run`.
        words: of A and of B, those that a thread brings, along K.
        element: the type of a word.
        steps: that share a word.
        places: in LDS, of A by its blocks, and of B, of what a lane wants.
    """

    def __init__(
        self, geometry: ScaledQuadrantLoop, lds: Any, thread: Any, words: Any, element: Any, steps: int, places: Any
    ) -> None:
        self._loop, self._element, self._steps, self._places = geometry.loop, element, steps, places
        self._lds: Sequence[fx.Pointer] = lds
        self._words = [fx.logical_divide(one, fx.make_layout(1, 1)) for one in words]
        self._loads = fx.make_copy_atom(fx.rocdl.BufferCopyLDS32b(), element)
        self._reads = fx.make_copy_atom(fx.UniversalCopy32b(), element)
        first_lane = fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64))
        layout = fx.make_layout((1, geometry.loop.threads, 2), (1, 1, geometry.loop.threads))
        self._rooms = [fx.make_view(fx.recast_iter(element, one), layout) for one in lds]
        self._targets = [one[None, first_lane, None] for one in self._rooms]
        # What has been read of a block of A, and of B.
        self._loaded = [fx.make_rmem_tensor((1, len(one)), element) for one in (places[0][0], places[1])]

    def _number(self, now: Any, ahead: int) -> int:
        return now.buffer(ahead, BUFFERS) if self._steps == 1 else 0

    def room(self, now: Any, ahead: int) -> fx.Pointer:
        """Where the scales of the step so many ahead lie in LDS."""
        return self._lds[self._number(now, ahead)]

    def fetches(self, now: Any) -> list[Access]:
        """Bring the scales of the step two ahead to LDS, where those that are there do not serve it, too."""
        if now.phase % self._steps:
            return []
        word = now.index(2) // self._steps if self._steps > 1 else now.index(2)
        room = self._targets[self._number(now, 2)]
        return [
            Access("vmem_read", partial(fx.copy, self._loads, words[None, word], room[None, operand]))
            for operand, words in enumerate(self._words)
        ]

    def reads(self, now: Any, row: int) -> list[Access]:
        """Read the scales of a block of A, of this step, or of the next one those of the first block and of B."""
        if (now.phase + (row == 0)) % self._steps:
            return []
        room = self._rooms[self._number(now, 1 if row == 0 else 0)]
        wanted = [(0, at, place) for at, place in enumerate(self._places[0][row])]
        if row == 0:
            wanted += [(1, at, place) for at, place in enumerate(self._places[1])]

        def read(operand: int, at: int, place: Any) -> None:
            fx.copy(self._reads, room[None, place, operand], self._loaded[operand][None, at])

        return [Access("ds_read", partial(read, *one)) for one in wanted]

    @abstractmethod
    def begin(self, now: Any, row: int) -> None:
        """Take the scales that have been read of a block of A."""

    @abstractmethod
    def finish(self, sums: fx.Tensor, last: int) -> None:
        """Add up what the step `last` has left, where steps leave something."""

    @abstractmethod
    def multiply(
        self, sums: fx.Tensor, of_b: _Operand, of_a: _Operand, now: Any, row: int, halves: Sequence[int],
        early: list[Access], late: list[Access],
    ) -> None:  # fmt: skip
        """Add the products of a block of A and the blocks of B, in the order of `halves`, to the sums.

        Between the products lie accesses, `late` ones when the first block of B has been multiplied.
        """


class _F32(_Scaling):
    """Scales in f32, one of a row of A and `BLOCK` of K, one of `BLOCK` columns and of K."""

    def __init__(
        self, geometry: ScaledQuadrantLoop, scales: Scales, lds: Any, thread: Any, numbers: tuple[Any, Any]
    ) -> None:
        loop, lane = geometry.loop, thread % 64
        half, blocks = loop.tile[0] // HALVES, _ROWS_OF_A // HALVES
        first = [
            row // blocks * half + numbers[0] * (ROWS * blocks) + row % blocks * ROWS + lane % 16
            for row in range(_ROWS_OF_A)
        ]
        lines = [[row, row + 16] for row in first]
        half = loop.tile[1] // HALVES
        columns = [(side * half + numbers[1] * ROWS) // BLOCK for side in range(HALVES)]
        words = scales.a[thread % loop.tile[0], None], scales.b[thread % (loop.tile[1] // BLOCK), None]
        super().__init__(geometry, lds, thread, words, fx.Float32, 1, (lines, columns))
        self._mma = loop.tiled_mma()
        # Products that one step leaves to the next, with their scales: none at first.
        self._left = [fx.make_rmem_tensor(4, fx.Float32) for _ in range(_LEFT)]
        self._left_scales = fx.make_rmem_tensor(_LEFT, fx.Float32)
        for one in self._left:
            one.fill(0.0)
        self._left_scales.fill(0.0)
        self._waiting: list[tuple[Any, Any, Any]] = []

    def begin(self, now: Any, row: int) -> None:
        """Take the scales that have been read of a block of A."""
        if row == 0:
            self._of_b = self._loaded[1].load()
        of_a, of_b = self._loaded[0].load(), self._of_b

        @cache
        def scale(column: int, lower: int) -> Any:
            return of_a[lower] * of_b[column]

        self._scale = scale  # computed where it is wanted: behind the first products

    def multiply(
        self, sums: fx.Tensor, of_b: _Operand, of_a: _Operand, now: Any, row: int, halves: Sequence[int],
        early: list[Access], late: list[Access],
    ) -> None:  # fmt: skip
        """See `_Scaling`. LLVM would scale a product as soon as it is there, and wait for it: the order is that of the
        trace."""
        if row == 0:
            self._take_left(sums, now.phase % HALVES ^ 1)
        products = _products(halves)
        count = len(products)
        half, scale = count // 2, self._scale
        for number, (column, lower, right) in enumerate(products):
            ends = row + 1 == _ROWS_OF_A and number + _LEFT >= count
            product = self._left[number + _LEFT - count] if ends else fx.make_rmem_tensor(4, fx.Float32)
            product.fill(0.0)
            operands = of_b.of_instruction(column, right), of_a.of_instruction(row, lower)
            fx.gemm(self._mma, product, *operands, product)
            self._waiting.append((_part(sums, row, column, lower, right), product, partial(scale, column, lower)))
            issue_all(early[len(early) * number // count : len(early) * (number + 1) // count])
            if fx.const_expr(number >= half):
                issue_all(late[len(late) * (number - half) // half : len(late) * (number + 1 - half) // half])
            self._add(_WAITING)
            fx.rocdl.Schedule((("mfma", 1),)).apply()
        if row + 1 == _ROWS_OF_A:
            self._add(_LEFT)
            for at, (_total, _product, one) in enumerate(self._waiting):
                self._left_scales[at] = one()
            self._waiting = []

    def _add(self, left: int) -> None:
        """Scale products and add them up, but for so many."""
        while len(self._waiting) > left:
            total, product, scale = self._waiting.pop(0)
            values = product.load()
            total.store(fx.fma(values, fx.full_like(values, scale()), total.load()))

    def _take_left(self, sums: fx.Tensor, first: int) -> None:
        """Take the products that the step before, which began with the half `first` of B, has left."""
        for at, (column, lower, right) in enumerate(_products((first ^ 1, first))[-_LEFT:]):
            scale = partial(self._left_scales.__getitem__, at)
            self._waiting.append((_part(sums, _ROWS_OF_A - 1, column, lower, right), self._left[at], scale))

    def finish(self, sums: fx.Tensor, last: int) -> None:
        """Add up what the last step has left."""
        self._take_left(sums, last % HALVES)
        self._add(0)


def _products(halves: Sequence[int]) -> list[tuple[int, int, int]]:
    """(block of columns, lower of two 16 rows, right of two 16 columns) of the instructions of a block of rows."""
    return [(column, lower, right) for column in halves for lower in range(2) for right in range(2)]


def _part(sums: fx.Tensor, row: int, column: int, lower: int, right: int) -> fx.Tensor:
    """The sums of such an instruction."""
    parts = fx.make_view(fx.get_iter(sums[None, column, row]), fx.make_layout((4, 2, 2), (1, 4, 8)))
    return parts[None, right, lower]


class _E8M0(_Scaling):
    """Words of E8M0 scales: two for a block of rows, of lanes that have 32 of 64 of K each, and 256 of K."""

    def __init__(
        self, geometry: ScaledQuadrantLoop, scales: Scales, lds: Any, thread: Any, numbers: tuple[Any, Any]
    ) -> None:
        loop, lane = geometry.loop, thread % 64
        places, self._shifts = [], []
        for operand in range(2):
            line, blocks = row_of_lane(operand, lane), SCALED_BLOCKS[operand] // HALVES
            half = loop.tile[operand] // HALVES // ROWS
            lanes = [line % 16 + 16 * (lane // ROWS + 2 * which) for which in range(_WORDS)]
            places.append([
                [64 * (block // blocks * half + numbers[operand] * blocks + block % blocks) + one for one in lanes]
                for block in range(SCALED_BLOCKS[operand])
            ])  # fmt: skip
            self._shifts.append(line // 16 * 8)
        words = [one[lane, None, thread // 64] for one in (scales.a, scales.b)]
        steps = 2 * BLOCK // loop.tile[2]
        super().__init__(
            geometry, lds, thread, words, fx.Int32, steps, (places[0], [one for block in places[1] for one in block])
        )
        # As they are used: of all of B, and of each block of A, or of the one that is multiplied.
        self._kept = [
            fx.make_rmem_tensor((1, _WORDS * one), fx.Int32) for one in (_ROWS_OF_A if steps > 1 else 1, _ROWS_OF_B)
        ]
        self._atoms = [loop.mx_atom(byte, byte, (ROWS, _DEPTH)) for byte in (0, 2)]

    def _first(self, row: int) -> int:
        return _WORDS * row if self._steps > 1 else 0

    def begin(self, now: Any, row: int) -> None:
        """Take the words that have been read of a block of A, where the step has others than that before it."""
        if now.phase % self._steps:
            return
        for operand, first in ((1, 0), (0, self._first(row))) if row == 0 else ((0, self._first(row)),):
            for at in range(len(self._places[1]) if operand else _WORDS):
                self._kept[operand][0, first + at] = self._loaded[operand][0, at] >> self._shifts[operand]

    def multiply(
        self, sums: fx.Tensor, of_b: _Operand, of_a: _Operand, now: Any, row: int, halves: Sequence[int],
        early: list[Access], late: list[Access],
    ) -> None:  # fmt: skip
        """See `_Scaling`. The first product goes before all accesses: the unit has work while they are asked for."""
        issue_all(early)
        instructions = self._loop.tile[2] // _DEPTH
        for turn, column in enumerate(halves):
            if fx.const_expr(turn == 1):
                issue_all(late)
            for number in range(instructions):
                byte, word = number // _WORDS if self._steps == 1 else now.phase % 2, number % _WORDS
                left = [of_b.of_instruction(column, number), self._kept[1][None, _WORDS * column + word]]
                right = [of_a.of_instruction(row, number), self._kept[0][None, self._first(row) + word]]
                total = sums[None, column, row]
                fx.gemm(self._atoms[byte], total, left, right, total)
        if fx.const_expr(self._loop.scheduled):
            reads, moved = (sum(one.name == name for one in early + late) for name in ("ds_read", "vmem_read"))
            begin = fx.rocdl.Schedule((("mfma", 1),))
            rest = len(halves) * instructions - 1
            (begin + fx.rocdl.interleave(mfma=rest, ds_read=reads, vmem_read=moved)).apply()
        fx.rocdl.sched_barrier(0)

    def finish(self, sums: fx.Tensor, last: int) -> None:
        """Nothing is left: the instruction scales."""

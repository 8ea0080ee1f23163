# SPDX-License-Identifier: Apache-2.0
"""The main loop of large tiles of 4-bit operands with E8M0 scales on gfx950: four waves of 512 registers.

Each wave has a quarter of the tile, up to 128 x 96, whose sums take most of half of its registers; then a pack that
it reads serves six or eight products. Both operands go from memory to LDS without registers, 256 of K at a time, in
two buffers. While a wave multiplies the first 128 of K of step t it reads the second; then all meet, step t + 1 has
arrived, and while it multiplies the second 128 it reads the first of step t + 1, asks for the scales of t + 1, and for
step t + 2 where step t was.

Rows lie in LDS as in `mx_staging`: pack c of a row stands at c xor row. Loads to LDS fill it lane by lane, so a lane
loads the pack that belongs where its 16 bytes go. Waves have neighbouring blocks of rows, so that a word of scales
serves two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..language import fx
from .lds_ways import BUFFERS
from .loop_plan import TiledLoop
from .operand_scales import BLOCK, Scales

__all__ = ["STEP", "MxSquare"]

STEP = 2 * BLOCK
"""Elements of K in a step."""

_PACK = 16
_ROWS = 16  # of a block
_CHUNKS = STEP // 2 // _PACK  # packs of a row in a step
_GROUPS = 4  # of 16 lanes, with a pack each of a block of K


@dataclass(frozen=True)
class MxSquare:
    """The geometry of the loop: `loop` with 4-bit formats, tiles of STEP of K, and one wave along K."""

    loop: TiledLoop

    @property
    def buffer_bytes(self) -> int:
        """LDS of a step of both operands."""
        return (self.loop.tile[0] + self.loop.tile[1]) * STEP // 2

    def operand_layout(self, rows: int, row: int | fx.Int32, *, shuffled: bool) -> fx.Layout:
        """The layout (pack, packs of a row, rows) of an operand whose rows are `row` bytes apart, or shuffled."""
        at_once, packs = self.loop.threads // _CHUNKS, (_CHUNKS, self.loop.steps)
        if shuffled:  # see `shuffle_weight`
            apart = _PACK * _ROWS
            blocks = ((_ROWS, at_once // _ROWS), rows // at_once)
            strides = (1, (apart, apart * _CHUNKS), ((_PACK, _ROWS * row), row * at_once))
            return fx.make_layout((_PACK, packs, blocks), strides)
        down = (at_once, rows // at_once)
        return fx.make_layout((_PACK, packs, down), (1, (_PACK, _PACK * _CHUNKS), (row, row * at_once)))

    def run(
        self,
        a: fx.Tensor,
        b: fx.Tensor,
        lds: Sequence[fx.Pointer],
        thread: fx.Int32,
        looped: fx.Int32,
        scales: Scales,
    ) -> dict[tuple[int, int], fx.Vector]:
        """The sums of a wave, as `tiled_loop` returns them, but that a wave has neighbouring blocks.

        Args:
            a, b: buffer tensors of bytes with `operand_layout`.
            lds: pointers to two buffers of `buffer_bytes`.
            thread: index in the workgroup.
            looped: `loop.looped` as a run-time value.
            scales: of the operands, in words, (64 lanes, words along K, blocks of 32 rows).
        """
        loop = self.loop
        lane, wave = thread % 64, thread // 64
        numbers = wave // loop.waves[1], wave % loop.waves[1]
        operands = [
            _Operand(loop, which, tensor, words_of, lds, thread, lane, number)
            for which, tensor, words_of, number in ((0, a, scales.a, numbers[0]), (1, b, scales.b, numbers[1]))
        ]
        of_a, of_b = operands
        rows, columns = loop.wave_blocks
        sums = fx.make_rmem_tensor((4, columns, rows), fx.Float32)
        sums.fill(0.0)
        atoms = {(of, to, block): loop.mx_atom(2 * block + of, 2 * block + to)
                 for of in range(2) for to in range(2) for block in range(2)}  # fmt: skip

        def multiply(now: Any, block: int) -> None:
            for n in range(columns):
                for m in range(rows):
                    total = sums[None, n, m]
                    left = [of_b.held[None, n, block], of_b.word(now, n)]
                    right = [of_a.held[None, m, block], of_a.word(now, m)]
                    fx.gemm(atoms[n % 2, m % 2, block], total, left, right, total)

        def step(now: Any) -> None:
            if fx.const_expr(not now.has(0)):
                if fx.const_expr(now.has(1)):
                    for one in operands:
                        one.load_words(now)
                if fx.const_expr(now.has(2)):
                    for one in operands:
                        one.fetch(now.index(2), now.buffer(2, BUFFERS))
                if fx.const_expr(now.has(1)):
                    fx.rocdl.s_waitcnt(vmcnt=0)
                    fx.barrier()
                    for one in operands:
                        one.read(0, now.buffer(1, BUFFERS))
                fx.rocdl.sched_barrier(0)
                return
            for one in operands:
                one.read(1, now.buffer(0, BUFFERS))
            multiply(now, 0)
            reads = rows + columns
            if fx.const_expr(loop.scheduled):
                fx.rocdl.interleave(mfma=rows * columns, ds_read=reads).apply()
            fx.rocdl.sched_barrier(0)
            if fx.const_expr(now.has(1)):
                fx.rocdl.s_waitcnt(vmcnt=0, lgkmcnt=0)
                fx.barrier()
                for one in operands:
                    one.load_words(now)
                for one in operands:
                    one.read(0, now.buffer(1, BUFFERS))
            if fx.const_expr(now.has(2)):
                for one in operands:
                    one.fetch(now.index(2), now.buffer(2, BUFFERS))
            multiply(now, 1)
            if fx.const_expr(loop.scheduled):
                loads = (of_a.moves + of_b.moves) * now.has(2) + (rows + columns) // 2 * now.has(1)
                fx.rocdl.interleave(mfma=rows * columns, ds_read=reads * now.has(1), vmem_read=loads).apply()
            fx.rocdl.sched_barrier(0)

        fx.Pipeline(loop.steps, ahead=2, unroll=BUFFERS).run(step, looped)
        return {(m, n): sums[None, n, m].load() for m in range(rows) for n in range(columns)}


class _Operand:
    """A and its scales, or B and its, of one thread: in memory, in LDS and in registers."""

    def __init__(
        self, loop: TiledLoop, which: int, tensor: Any, words: Any, lds: Any, thread: Any, lane: Any, number: Any
    ) -> None:
        extent, row_bytes = loop.tile[which], STEP // 2
        self.blocks = extent // (_ROWS * loop.waves[which])
        at_once = loop.threads // _CHUNKS  # rows
        self.moves = extent // at_once
        self._loads = fx.make_copy_atom(fx.rocdl.BufferCopyLDS128b(), loop.element)
        self._reads = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        row, chunk = thread // _CHUNKS, thread % _CHUNKS
        self._source = tensor[None, (chunk ^ (row % _CHUNKS), None), (row, None)]  # (16, steps, moves)
        first = fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64)
        start = loop.tile[0] * row_bytes if which else 0
        self._targets, self._staged = [], []
        lane_row, group = lane % _ROWS, lane // _ROWS
        for one in lds:
            room = fx.recast_iter(loop.element, one) + start
            packs = fx.make_view(
                room, fx.make_layout((_PACK, loop.threads, self.moves), (1, _PACK, _PACK * loop.threads))
            )
            self._targets.append(packs[None, fx.Int32(first), None])
            shape = (_PACK, _CHUNKS), (_ROWS, self.blocks, loop.waves[which])
            steps = (1, _PACK), (row_bytes, _ROWS * row_bytes, _ROWS * self.blocks * row_bytes)
            rows = fx.make_view(room, fx.make_layout(shape, steps))
            self._staged.append([
                rows[(None, (group + _GROUPS * block) ^ (lane_row % _CHUNKS)), (lane_row, None, number)]
                for block in range(2)
            ])  # fmt: skip
        self.held = fx.make_rmem_tensor((_PACK, self.blocks, 2), loop.element)
        pairs = self.blocks // 2
        self._words = [words[lane, None, number * pairs + pair] for pair in range(pairs)]
        self._word = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Int32)
        self._held_words = [fx.make_rmem_tensor((1, pairs), fx.Int32) for _ in range(BUFFERS)]

    def fetch(self, step: Any, buffer: int) -> None:
        """Bring a step to LDS."""
        for move in range(self.moves):
            fx.copy(self._loads, self._source[None, step, move], self._targets[buffer][None, move])

    def read(self, block: int, buffer: int) -> None:
        """Bring a block of K from LDS to registers."""
        for row in range(self.blocks):
            fx.copy(self._reads, self._staged[buffer][block][None, row], self.held[None, row, block])

    def load_words(self, now: Any) -> None:
        """Ask for the scales of the next step."""
        held = self._held_words[now.buffer(1, BUFFERS)]
        for pair, source in enumerate(self._words):
            one = fx.logical_divide(source, fx.make_layout(1, 1))
            fx.copy(self._word, one[None, now.index(1)], held[None, pair])

    def word(self, now: Any, block: int) -> Any:
        """The scales of a block of rows, for the step that is multiplied."""
        return self._held_words[now.buffer(0, BUFFERS)][None, block // 2]

# SPDX-License-Identifier: Apache-2.0
"""The main loop of 4-bit operands with E8M0 scales on gfx950, where both go straight to LDS: tiles but 256 x 256.

That one is `scaled_quadrant_loop`'s, 128 x 256 and 64 x 64 have forms of `tiled_loop`. For the others (128 x 128,
256 x 128, 64 x 128, ...) this one takes 0.97 to 0.44 of the predicted time that A straight to the operands takes.

Each wave has rows and columns in multiples of 64, and sums in half of its registers or less. The matrix instruction is
32 x 32 x 64: its 16 sums stay where they are from one product to the next (LLVM ties them), while the 4 of
16 x 16 x 128 wander, and need room for that. Operands go from memory to LDS without registers, 256 of K at a time, in
two buffers. While a wave multiplies a block of 64 of K it reads the next from LDS. At the last block of step t all
meet, step t + 1 has arrived, and while that block is multiplied the wave reads the first one of t + 1, and asks for
step t + 2 where step t was.

Rows lie in LDS as in `mx_staging`, but that pack c of a row stands at c xor row // 2: a read of 32 rows then meets no
bank twice. Loads to LDS fill it lane by lane, so a lane loads the pack that belongs where its 16 bytes go.

A word of scales, which `shuffle_scale` made for 16 x 16 x 128, has those of the rows r and r + 16, for 4 of 8 times 32
of K. So an instruction has 16 rows of one 32 and the 16 beside them of the next 32: its lanes want the same byte of
their words, and another instruction wants the next byte of the same. Of 16 rows of B the second and the third 4 change
places, so that a lane has 8 neighbouring columns of the result, not 4 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..language import fx
from .lds_ways import BUFFERS
from .loop_plan import TiledLoop
from .operand_scales import BLOCK, Scales

__all__ = ["STEP", "MxLargeTile"]

STEP = 2 * BLOCK
"""Elements of K in a step."""

_PACK = 16
_ROWS = 32  # of an instruction
_BLOCK_K = 64  # of a matrix instruction
_BLOCKS_OF_K = STEP // _BLOCK_K
_CHUNKS = STEP // 2 // _PACK  # packs of a row in a step
_GROUPS = 2  # of 32 lanes, with a pack each of a block of K
_RUN = 8  # neighbouring columns of a lane
_SUMS = 16  # of a lane in a block


@dataclass(frozen=True)
class MxLargeTile:
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
            apart = _PACK * 16
            blocks = ((16, at_once // 16), rows // at_once)
            strides = (1, (apart, apart * _CHUNKS), ((_PACK, 16 * row), row * at_once))
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
        """The sums of a wave, as `output_tile` numbers them for `large_tile`.

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
        rows, columns = of_a.blocks, of_b.blocks
        sums = fx.make_rmem_tensor((_SUMS, columns, rows), fx.Float32)
        sums.fill(0.0)
        atoms = {
            (of, to, half): loop.mx_atom(2 * half + of, 2 * half + to, (_ROWS, _BLOCK_K))
            for of in range(2) for to in range(2) for half in range(2)
        }  # fmt: skip

        def multiply(now: Any, block: int) -> None:
            for n in range(columns):
                for m in range(rows):
                    total = sums[None, n, m]
                    left = [of_b.held[None, n, block % 2], of_b.word(now, n, block)]
                    right = [of_a.held[None, m, block % 2], of_a.word(now, m, block)]
                    fx.gemm(atoms[n % 2, m % 2, block // 2], total, left, right, total)

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
            for block in range(_BLOCKS_OF_K):
                last = block + 1 == _BLOCKS_OF_K
                reads, loads = rows + columns, 0
                if fx.const_expr(block == 0 and now.has(1)):
                    for one in operands:
                        one.load_words(now)
                    loads = rows + columns
                if fx.const_expr(not last):
                    for one in operands:
                        one.read(block + 1, now.buffer(0, BUFFERS))
                elif fx.const_expr(now.has(1)):
                    fx.rocdl.s_waitcnt(vmcnt=0, lgkmcnt=0)
                    fx.barrier()
                    for one in operands:
                        one.read(0, now.buffer(1, BUFFERS))
                else:
                    reads = 0
                if fx.const_expr(last and now.has(2)):
                    for one in operands:
                        one.fetch(now.index(2), now.buffer(2, BUFFERS))
                    loads = of_a.moves + of_b.moves
                multiply(now, block)
                if fx.const_expr(loop.scheduled):
                    fx.rocdl.interleave(mfma=rows * columns, ds_read=reads, vmem_read=loads).apply()
                fx.rocdl.sched_barrier(0)

        fx.Pipeline(loop.steps, ahead=2, unroll=BUFFERS).run(step, looped)
        results = {}
        for m in range(rows):
            for n in range(columns):
                values = sums[None, n, m].load()
                for run in range(_SUMS // _RUN):
                    results[m, n * (_SUMS // _RUN) + run] = values.shuffle(
                        values, list(range(run * _RUN, run * _RUN + _RUN))
                    )
        return results


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
        line, chunk = thread // _CHUNKS, thread % _CHUNKS
        self._source = tensor[None, (chunk ^ (line // 2 % _CHUNKS), None), (line, None)]  # (16, steps, moves)
        first = fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64)
        start = loop.tile[0] * row_bytes if which else 0
        self._targets, self._staged = [], []
        row, group = lane % 16, lane // _ROWS
        if which:
            row = row % 4 + row // 4 % 2 * 8 + row // 8 * 4
        lane_row = row, lane % _ROWS // 16
        pairs = self.blocks // 2
        for one in lds:
            room = fx.recast_iter(loop.element, one) + start
            packs = fx.make_view(
                room, fx.make_layout((_PACK, loop.threads, self.moves), (1, _PACK, _PACK * loop.threads))
            )
            self._targets.append(packs[None, fx.Int32(first), None])
            shape = (_PACK, _CHUNKS), ((16, 2), (2, pairs), loop.waves[which])
            apart = (row_bytes, 32 * row_bytes), (16 * row_bytes, 64 * row_bytes), 64 * pairs * row_bytes
            rows = fx.make_view(room, fx.make_layout(shape, ((1, _PACK), apart)))
            self._staged.append([
                rows[(None, (group + _GROUPS * block) ^ (row // 2)), (lane_row, None, number)]
                for block in range(_BLOCKS_OF_K)
            ])  # fmt: skip
        self.held = fx.make_rmem_tensor((_PACK, self.blocks, 2), loop.element)
        lanes = [row + 16 * (group + _GROUPS * half) for half in range(2)]
        blocks = [(number * pairs + pair) * 2 + lane_row[1] for pair in range(pairs)]
        self._words = [words[one, None, block] for block in blocks for one in lanes]
        self._word = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Int32)
        self._held_words = [fx.make_rmem_tensor((1, self.blocks), fx.Int32) for _ in range(BUFFERS)]

    def fetch(self, step: Any, buffer: int) -> None:
        """Bring a step to LDS."""
        for move in range(self.moves):
            fx.copy(self._loads, self._source[None, step, move], self._targets[buffer][None, move])

    def read(self, block: int, buffer: int) -> None:
        """Bring a block of K from LDS to registers."""
        for row in range(self.blocks):
            fx.copy(self._reads, self._staged[buffer][block][None, row], self.held[None, row, block % 2])

    def load_words(self, now: Any) -> None:
        """Ask for the scales of the next step."""
        held = self._held_words[now.buffer(1, BUFFERS)]
        for number, source in enumerate(self._words):
            one = fx.logical_divide(source, fx.make_layout(1, 1))
            fx.copy(self._word, one[None, now.index(1)], held[None, number])

    def word(self, now: Any, row: int, block: int) -> Any:
        """The words with the scales of a block of rows and of K, for the step that is multiplied."""
        return self._held_words[now.buffer(0, BUFFERS)][None, row // 2 * 2 + block % 2]

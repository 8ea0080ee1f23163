# SPDX-License-Identifier: Apache-2.0
"""Scales of parts of K in the main loop of a GEMM: where they lie, which a lane has, and how they meet the products.

Operands with scales (`Scales`) have them as tensors over the same coordinates (row, k), with stride 0 where elements
share one. The tiled MMA that gives a lane its operands so gives it their scales too, and they come a step ahead as B
does. Scales in f32 (one for 128 of K) multiply the product of their 128, which starts from nothing, before it joins the
sums. Scales in E8M0 (one for 32 of K) are operands of the matrix instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..language import fx

if TYPE_CHECKING:
    from .column_views import ColumnViews
    from .loop_plan import TiledLoop

__all__ = [
    "BLOCK", "MX_FORMATS", "ROWS_OF_LANES", "E8M0Scaling", "F32Scaling", "MxFormat", "Scales", "mx_scale_layout",
    "scale_layout", "spread_scale_layout",
]  # fmt: skip

BLOCK = 128
"""Elements of K, and rows of B, that share one f32 scale."""

ROWS_OF_LANES = 4
"""Rows of 16 lanes of a wave, which hold the same rows of A."""

_WAITING = 3  # products that the matrix unit works on before the first of them is scaled


@dataclass(frozen=True)
class MxFormat:
    """Elements that have a scale of E8M0 for 32 of K: how they lie in memory, and what the instruction takes them for.

    Attributes:
        element: the language's name of the type.
        bits: that an element takes in memory.
        runs: the bytes of 128 of K as the lanes of the instruction have them, (extent, stride) of modes: those of a
            lane, then 4 lanes. In 4 and 6 bits a lane has 32 neighbours, in 8 bits two runs of 16, 64 apart.
        used: bytes of what a lane loads that are elements; those of 6 bits come in 32 bytes, of which 8 are empty.
    """

    element: str
    bits: int
    runs: tuple[tuple[int, int], ...]
    used: int

    @property
    def carrier(self) -> tuple[str, int]:
        """The 8-bit element, and extent along K, of a matrix instruction whose lanes have as many bytes each."""
        return ("Int8", 64) if self.bits == 4 else ("Float8E4M3FN", BLOCK)


MX_FORMATS = {
    "fp4": MxFormat("Float4E2M1FN", 4, ((16, 1), (4, 16)), 16),
    "fp6": MxFormat("Float6E2M3FN", 8, ((16, 1), (2, 16), (4, 32)), 24),
    "fp8": MxFormat("Float8E4M3FN", 8, ((16, 1), (2, 64), (4, 16)), 32),
    "bf8": MxFormat("Float8E5M2", 8, ((16, 1), (2, 64), (4, 16)), 32),
}
"""Formats with E8M0 scales that the matrix instructions of gfx950 take, in any mix; "bf8" is E5M2."""


@dataclass(frozen=True)
class Scales:
    """The scales of a tile's operands, as buffer tensors over (row, k), with stride 0 where one is shared.

    Attributes:
        a: (tile_m, K): f32, one of each row and `BLOCK` of K, or by lanes, see `spread_scale_layout`; or words of E8M0,
            see `mx_scale_layout`.
        b: (tile_n, K): f32, one of `BLOCK` rows and `BLOCK` of K; or words of E8M0.
        a_odd: whether a tile of 16 rows is the second one of its words, for E8M0.
    """

    a: Any
    b: Any
    a_odd: Any = 0


def scale_layout(
    loop: TiledLoop, rows: int, K: int, shared: int, row: int | fx.Int32, block: int | fx.Int32
) -> fx.Layout:
    """The layout over (row, k) of scales, one of `shared` rows and `BLOCK` of K.

    `row` is the distance of two along the rows, `block` that along K.
    """
    modes = loop.modes_of_k(K)
    extents: list[int] = []
    strides: list[Any] = []
    for extent, stride in modes:
        inside = max(1, min(extent, BLOCK // stride))  # elements of the same block
        extents += [inside, extent // inside]
        strides += [0, block * max(1, stride // BLOCK)]
    down = ((shared, rows // shared), (0, row)) if shared < rows else (rows, row if shared == 1 else 0)
    return fx.make_layout((down[0], tuple(extents)), (down[1], tuple(strides)))


def spread_scale_layout(loop: TiledLoop, blocks: int, block: int | fx.Int32) -> fx.Layout:
    """The layout (16 lanes, waves along M, rows of lanes, blocks of rows, blocks of K) of the scales of A's rows.

    Each row of 16 lanes loads those of another of `ROWS_OF_LANES` blocks of 16 rows. `block` is the distance along K.
    """
    along_m, rows = loop.waves[0], loop.wave_blocks[0]
    extents = 16, along_m, ROWS_OF_LANES, rows // ROWS_OF_LANES, blocks
    return fx.make_layout(extents, (1, 16, 16 * along_m, 16 * along_m * ROWS_OF_LANES, block))


def mx_scale_layout(loop: TiledLoop, rows: int, K: int, words: int) -> fx.Layout:
    """The layout over (row, k) of shuffled E8M0 scales, as words of the 4 that a lane has for 32 rows and 256 of K.

    Byte 2 (k // 128 mod 2) + row // 16 mod 2 of a word is the scale, see `shuffle_scale`; words of a lane are 64 apart
    along K, 64 `words` along the rows. `rows` is 16, or a multiple of 32.
    """
    down = ((16, 2, rows // 32), (1, 0, 64 * words)) if rows > 16 else (16, 1)
    blocks: tuple[tuple[int, int], ...] = ((1, 0), (K // BLOCK, 0))
    waves = loop.k_waves
    if waves > 1:
        blocks = (waves, 64), (2, 0), (K // (2 * BLOCK * waves), 64 * waves)
    elif K > BLOCK:
        blocks = (2, 0), (words, 64)
    modes = (32, 0), (4, 16), *blocks
    return fx.make_layout((down[0], tuple(one for one, _ in modes)), (down[1], tuple(one for _, one in modes)))


class F32Scaling:
    """The f32 scales of a wave's operands, and the products that they multiply.

    Blocks of columns that share a scale have it once, and what multiplies a product is worked out once for all of them.
    Where `TiledLoop.spreads_scales`, what a load brings is exchanged among the rows of lanes when it is used.
    """

    def __init__(
        self, loop: TiledLoop, mine: fx.ThrMma, scales: Scales, thread: fx.Int32, views: ColumnViews | None
    ) -> None:
        assert views is not None
        tile_m, tile_n, tile_k = loop.tile
        self.loop, self.sets, self._views = loop, 2 if loop.by_columns else 1, views
        self.held = []
        # Neighbouring blocks of rows, or of columns, of the wave that share a load.
        self.shared = ROWS_OF_LANES if loop.spreads_scales else 1, loop.columns_of_a_scale
        self.loads = loop.groups * sum(blocks // one for blocks, one in zip(loop.wave_blocks, self.shared, strict=True))
        for blocks, shared in zip(loop.wave_blocks, self.shared, strict=True):
            shape = 1, blocks // shared, loop.groups
            self.held.append([fx.make_rmem_tensor(shape, fx.Float32) for _ in range(self.sets)])
        if loop.spreads_scales:
            wave = thread // 64 // loop.waves[1]
            self._rows = scales.a[thread % 16, wave, thread % 64 // 16, None, None]
        else:
            self._rows = mine.partition_B(fx.flat_divide(scales.a, (tile_m, tile_k))[None, None, 0, None])
        self._columns = mine.partition_A(fx.flat_divide(scales.b, (tile_n, tile_k))[None, None, 0, None])
        self.atom = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
        self._scale_of: list[list[Any]] = []
        self._spread: list[Any] = []
        self._waiting: list[tuple[Any, Any, Any]] = []

    def load(self, now: fx.PipelineStep, group: int) -> None:
        """Ask for the scales of a group of the next step."""
        step, buffer = now.index(1), now.buffer(1, self.sets)
        along_k = group * self.loop.joined * self.loop.halves
        rows = self._rows[None, step * self.loop.groups + group] if self.loop.spreads_scales else None
        if rows is None:
            rows = self._rows[0, None, along_k, step]
        columns = fx.logical_divide(self._columns[0, None, along_k, step], fx.make_layout(self.shared[1], 1))[0, None]
        for each, sets in zip((rows, columns), self.held, strict=True):
            fx.copy(self.atom, fx.logical_divide(each, fx.make_layout(1, 1)), sets[buffer][None, None, group])

    def _row_scales(self, held: fx.Vector, rows: Sequence[int]) -> list[Any]:
        """The scales of some blocks of rows, which follow those of the call before."""
        if not self.loop.spreads_scales:
            return [held[m] for m in rows]
        found = []
        for m in rows:
            if m % ROWS_OF_LANES == 0:
                self._spread = fx.rocdl.broadcast_rows(held[m // ROWS_OF_LANES])
            found.append(self._spread[m % ROWS_OF_LANES])
        return found

    def multiply(
        self, tiled: fx.TiledMma, sums: fx.Tensor, b: fx.Tensor, a: fx.Tensor, now: fx.PipelineStep, group: int
    ) -> None:
        """Add the products of a group, each begun from nothing, times their scales to the sums."""
        rows, columns = self.loop.wave_blocks
        for n in range(columns):
            self.multiply_column(tiled, 0, now, group, n, range(rows))
        self.finish()

    def multiply_column(
        self, tiled: fx.TiledMma, which: int, now: fx.PipelineStep, group: int, n: int, rows: Sequence[int]
    ) -> None:
        """The same of one block of columns, of a set of B, and some of rows; some products still wait for their scale,
        see `finish`."""
        views, halves = self._views, range(self.loop.halves)
        each = [self.loop.along_k(block, half) for block in self.loop.blocks_of(group) for half in halves]
        if n == 0:  # what all columns share
            row_scales, column_scales = (sets[now.buffer(0, self.sets)][0, None, group].load() for sets in self.held)
            different = range(self.held[1][0].shape[1].unpack())
            each_row = self._row_scales(row_scales, rows)
            self._scale_of = [[row * column_scales[one] for row in each_row] for one in different]
        column = views.each_b[which][n]
        for m, scale in zip(rows, self._scale_of[n // self.shared[1]], strict=True):
            total, packs = views.each_sum[n][m], views.each_a[m]
            product = fx.make_fragment_like(total)
            product.fill(0.0)
            for along_k in each:
                fx.gemm(tiled, product, column[along_k], packs[along_k], product)
            self._waiting.append((total, product, scale))
            self.finish(_WAITING)

    def finish(self, left: int = 0) -> None:
        """Scale products until so many wait."""
        due = len(self._waiting) - left
        for total, product, scale in self._waiting[: max(due, 0)]:
            values = product.load()
            total.store(fx.fma(values, fx.full_like(values, scale), total.load()))
        self._waiting = self._waiting[max(due, 0) :]


class E8M0Scaling:
    """The words of E8M0 scales of a wave's operands, and the products that take them.

    A word serves two blocks of 16 rows and two of K. Waves that take turns along the rows have every second block, or
    every fourth: always the same half of their words, which is moved to where the other half was.

    Where products are traced column by column there are two sets of words, and the next step's come while this one's
    are in use.
    """

    def __init__(
        self, loop: TiledLoop, mine: fx.ThrMma, scales: Scales, thread: fx.Int32, views: ColumnViews | None
    ) -> None:
        tile_m, tile_n, tile_k = loop.tile
        self.loop, self.sets, self._views = loop, 2 if loop.by_columns else 1, views
        self.atom = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Int32)
        self.sources, self.held, self.shifts, self.shared = [], [], [], []
        wave = thread // 64 // loop.k_waves
        numbers = (wave // loop.waves[1], wave % loop.waves[1])
        operands = (scales.a, tile_m, mine.partition_B), (scales.b, tile_n, mine.partition_A)
        for (tensor, extent, partition), waves, number in zip(operands, loop.waves, numbers, strict=True):
            self.sources.append(partition(fx.flat_divide(tensor, (extent, tile_k))[None, None, 0, None]))
            blocks = extent // (16 * waves)
            shared = 2 if waves == 1 and blocks > 1 else 1
            self.shared.append(shared)
            words = 1, blocks // shared, max(1, loop.blocks // 2)
            self.held.append([fx.make_rmem_tensor(words, fx.Int32) for _ in range(self.sets)])
            odd = number % 2 if waves > 1 else scales.a_odd if extent == 16 else 0
            self.shifts.append(None if isinstance(odd, int) else 8 * odd)
        # The word of each block of rows, by operand, set and two blocks of K; none of those that are moved.
        self._word_of: list[list[list[list[fx.Tensor]]]] = []
        if loop.by_columns:
            each = zip(self.held, self.shifts, self.shared, loop.wave_blocks, strict=True)
            self._word_of = [
                [[[one[None, row // shared, pair] for row in range(blocks)] for pair in range(max(1, loop.blocks // 2))]
                 for one in sets] if shift is None else []
                for sets, shift, shared, blocks in each
            ]  # fmt: skip
        self._current: tuple[list[list[fx.Tensor]], list[list[int]]] = [], []
        self._packs: list[list[Any]] = []
        self.loads = sum(blocks // shared for blocks, shared in zip(loop.wave_blocks, self.shared, strict=True))
        self.loads *= max(1, loop.blocks // 2)
        self.atoms = {(b, a): loop.mx_atom(b, a) for b in range(4) for a in range(4) if a // 2 == b // 2}

    def load(self, now: fx.PipelineStep, block: int) -> None:
        """Ask for the words of a block of the next step, and of the one before it, which has the same."""
        if block % 2 == 0 and self.loop.blocks > 1:
            return
        for source, sets, shared in zip(self.sources, self.held, self.shared, strict=True):
            held = sets[now.buffer(1, self.sets)]
            each = fx.logical_divide(source[0, None, block, now.index(1)], fx.make_layout(shared, 1))
            fx.copy(self.atom, fx.logical_divide(each[0, None], fx.make_layout(1, 1)), held[None, None, block // 2])

    def multiply(
        self, tiled: fx.TiledMma, sums: fx.Tensor, b: fx.Tensor, a: fx.Tensor, now: fx.PipelineStep, block: int
    ) -> None:
        """Add the products of a block of K."""
        words, bytes_of = self._words(now, block)
        packs = [self._elements(one, of_b, block) for one, of_b in ((a, 0), (b, 1))]

        def chosen(atom: Any, at: tuple[int, int, int]) -> Any:
            return self.atoms[bytes_of[1][at[0] % 2], bytes_of[0][at[1] % 2]]

        fx.gemm(tiled, sums, [packs[1], words[1]], [packs[0], words[0]], sums, atom_callback=chosen)

    def multiply_column(
        self, tiled: fx.TiledMma, which: int, now: fx.PipelineStep, block: int, n: int, rows: Sequence[int]
    ) -> None:
        """Add the products of a block of K of one block of columns, of a set of B, and some of rows."""
        views = self._views
        assert views is not None
        along_k = self.loop.along_k(block)
        if n == 0:  # what all columns share
            self._current = self._words_by_row(now, block)
            of_a = self._current[0][0]
            # Taken before the reads of the next part are traced, which LLVM then orders better: fp4 of 64 x 256 takes
            # 0.6 % more of predicted time where each product takes its own.
            self._packs = [[self._dense(views.each_a[m][along_k], 0), of_a[m]] for m in rows]
        words, bytes_of = self._current
        of_b = views.each_b[which][n][along_k]
        left = [of_b if self._used_words(1) is None else self._dense(of_b, 1), words[1][n]]
        for m, right in zip(rows, self._packs, strict=True):
            total = views.each_sum[n][m]
            fx.gemm(self.atoms[bytes_of[1][n % 2], bytes_of[0][m % 2]], total, left, right, total)

    def finish(self) -> None:
        """Nothing waits."""

    def _words(self, now: fx.PipelineStep, block: int) -> tuple[list[Any], list[list[int]]]:
        """The words of A's and of B's rows, (1, blocks of rows), and by a block's parity the byte that is its scale."""
        words = []
        for at, shared in enumerate(self.shared):
            mine = self._words_of(at, now, block)
            if shared == 2:
                count = fx.get_scalar(fx.size(mine))
                mine = fx.make_view(fx.get_iter(mine), fx.make_layout((1, (2, count)), (0, (0, 1))))
            words.append(mine)
        return words, self._bytes_of(now, block)

    def _words_by_row(self, now: fx.PipelineStep, block: int) -> tuple[list[list[fx.Tensor]], list[list[int]]]:
        """The same words, one for each block of rows."""
        words, which = [], now.buffer(0, self.sets)
        for at, (shift, shared, blocks) in enumerate(zip(self.shifts, self.shared, self.loop.wave_blocks, strict=True)):
            if shift is None:
                words.append(self._word_of[at][which][block // 2])
            else:
                moved = self._words_of(at, now, block)
                words.append([moved[None, row // shared] for row in range(blocks)])
        return words, self._bytes_of(now, block)

    def _words_of(self, at: int, now: fx.PipelineStep, block: int) -> Any:
        """The words of an operand in this step, moved to where their scale is."""
        mine, shift = self.held[at][now.buffer(0, self.sets)][None, None, block // 2], self.shifts[at]
        if shift is None:
            return mine
        moved = fx.make_rmem_tensor((1, fx.get_scalar(fx.size(mine))), fx.Int32)
        moved.store(mine.load() >> shift)
        return moved

    def _bytes_of(self, now: fx.PipelineStep, block: int) -> list[list[int]]:
        """By operand and a block of rows' parity, the byte of a word that is its scale."""
        half = block % 2 if self.loop.blocks > 1 else now.buffer(0, 2)
        return [[2 * half, 2 * half + shared - 1] for shared in self.shared]

    def _elements(self, fragment: Any, of_b: int, block: int) -> Any:
        """A block of a fragment, of all blocks of rows, without the bytes that are not elements."""
        found = fragment[None, None, block]
        used = self._used_words(of_b)
        if used is None:
            return found
        rows = fx.get_scalar(fx.size(found[0, None]))
        dense = fx.make_rmem_tensor((used, rows), fx.Int32)
        for row in range(rows):
            loaded = fx.coalesce(found[None, row]).load().bitcast(fx.Int32)
            dense[None, row].store(loaded.shuffle(loaded, list(range(used))))
        return dense

    def _dense(self, view: fx.Tensor, of_b: int) -> fx.Tensor:
        """A copy of the elements of one block of rows, without what is none."""
        loaded, used = view.load().bitcast(fx.Int32), self._used_words(of_b)
        dense = fx.make_rmem_tensor(loaded.shape[0] if used is None else used, fx.Int32)
        dense.store(loaded if used is None else loaded.shuffle(loaded, list(range(used))))
        return dense

    def _used_words(self, of_b: int) -> int | None:
        """How many 32-bit words of what a lane loads are elements; `None`: all."""
        assert self.loop.formats is not None
        mx = self.loop.formats[of_b]
        return None if mx.used == 32 * mx.bits // 8 else mx.used // 4

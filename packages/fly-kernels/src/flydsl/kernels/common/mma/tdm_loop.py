# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts whose operands the tensor data mover brings to LDS (gfx1250).

Each of several LDS buffers holds a step of K of both operands, and of their scales. At step t every wave waits until
its parts of step t have arrived, and at a barrier until those of all others have, which then also have read step t - 1;
asks for its parts of the step that takes the buffer of that one; and multiplies. What lies beyond the last row of an
operand arrives as zeros. Fragments of a whole step are in registers, of which a lane has 1,024 here, and the compiler
orders reads and products; where they do not suffice, a block of K is read while the one before it is multiplied.

How operands lie in memory, and as boxes in LDS:

- rows: an operand's rows, in LDS with 16 bytes behind each, so that neighbours begin in different banks;
- tiles of 16 rows by 16 bytes, one after the other along K, and no bytes between them;
- scales of E8M0, a word for 128 of K: blocks of 32 rows by one word (`shuffle_scale_32x4`).

The instructions want runs of elements along K, which alternate between the halves of the wave: of eight, or where
formats are mixed and scaled of 16 bytes in all formats. Without scales the order of K inside a product does not matter
as long as both operands have the same. So a lane gets 16 neighbouring bytes of all that is no wider than 8 bits.

Workgroups of a cluster that want the same rows of A, or of B, ask for them with each other's mask, so that one transfer
serves all. A buffer that others fill, too, is free when all workgroups have read it: the barrier is the cluster's then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..gfx1250_cluster import compute_mcast_masks
from ..language import fx
from .instructions import PACK_BYTES, MatrixAtom
from .tdm_transfers import Box, Lines, MovedOperand, Transfers

__all__ = ["FORMATS", "TdmLoop", "tdm_loop"]

_WAVE = 32
_SCALE_ROWS, _SCALE_DEPTH = 32, 128  # of a block of scales; its rows have a word each


@dataclass(frozen=True)
class Format:
    """How elements of an operand lie in memory, and what the matrix instruction takes them for.

    Attributes:
        element: the language's name of the type.
        unit: the type that memory and fragments are counted in: the element, or bytes that hold two of them.
        unit_bytes: of one.
        depth: units along K of a matrix instruction.
    """

    element: str
    unit: str
    unit_bytes: int
    depth: int

    @property
    def registers(self) -> int:
        """Of a lane, for 16 rows of a matrix instruction."""
        return 16 * self.depth * self.unit_bytes // (4 * _WAVE)


FORMATS = {
    "fp16": Format("Float16", "Float16", 2, 32),
    "bf16": Format("BFloat16", "BFloat16", 2, 32),
    "fp8": Format("Float8E4M3FN", "Float8E4M3FN", 1, 128),
    "fp4": Format("Float4E2M1FN", "Int8", 1, 64),
}
"""Operands that there are; fp8 and fp4 can have scales of E8M0, and may then be mixed."""

_CYCLES = 8  # of a matrix instruction by LLVM's model; nothing is published
_REGISTERS, _SIMDS = 1024, 4  # of a lane, which the waves of a SIMD share; of a compute unit
_NAMED = 256  # registers that instructions name without `s_set_vgpr_msb`


@dataclass(frozen=True)
class TdmLoop:
    """What the main loop of a tile is made of.

    Attributes:
        formats: of A and of B, keys of `FORMATS`.
        tile: rows and columns of C that a workgroup computes, elements of K in a step.
        steps: how many of these.
        waves: their grid, (along M, along N).
        buffers: of LDS, two or more.
        scaled: operands have scales of E8M0; `tile` is of multiples of 32.
        tiles: B lies in tiles of 16 rows by 16 bytes.
        prefetched: how many steps ahead of a transfer its lines are asked for into L2; 0 for none.
        specialized: each operand is brought by one wave, instead of a part by every wave.
        cluster: workgroups (along M, along N) that share what they load.
    """

    formats: tuple[str, str]
    tile: tuple[int, int, int]
    steps: int
    waves: tuple[int, int]
    buffers: int
    scaled: bool = False
    tiles: bool = False
    prefetched: int = 0
    specialized: bool = False
    cluster: tuple[int, int] = (1, 1)

    @property
    def kinds(self) -> tuple[Format, Format]:
        """The formats of A and B."""
        return FORMATS[self.formats[0]], FORMATS[self.formats[1]]

    @property
    def depth(self) -> int:
        """Elements along K of the matrix instruction."""
        return 128 if self.kinds[0].unit_bytes == 1 else 32

    @property
    def atom(self) -> MatrixAtom:
        """The matrix instruction, as plans of tiles know it."""
        return MatrixAtom(self.depth, 2, _WAVE, self.kinds[0].unit_bytes, False, _CYCLES)

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return _WAVE * self.waves[0] * self.waves[1]

    @property
    def blocks(self) -> int:
        """Matrix instructions along K in a step."""
        return self.tile[2] // self.depth

    @property
    def wave_blocks(self) -> tuple[int, int]:
        """Blocks of 16 rows, and of 16 columns, that a wave has."""
        return self.tile[0] // (16 * self.waves[0]), self.tile[1] // (16 * self.waves[1])

    @property
    def boxes(self) -> list[Box]:
        """What is moved in a step: A, B, and where they are scaled the scales of A and of B."""
        found = []
        for which, one in enumerate(self.kinds):
            rows, units = self.tile[which], self.blocks * one.depth
            if which == 1 and self.tiles:
                tile = PACK_BYTES // one.unit_bytes
                shape, stride = ((16, rows // 16), (tile, units // tile)), ((tile, 16 * units), (1, 16 * tile))
                found.append(Box(rows // 16, 16 * units, one.unit_bytes, 16, 0, shape, stride))
            else:
                pad = PACK_BYTES // one.unit_bytes
                found.append(Box(rows, units, one.unit_bytes, 1, pad, (rows, units), (units + pad, 1)))
        for rows in self.tile[:2] if self.scaled else ():
            words, down = self.blocks * _SCALE_ROWS, rows // _SCALE_ROWS
            shape, stride = ((_SCALE_ROWS, down), (_SCALE_DEPTH, self.blocks)), ((1, words), (0, _SCALE_ROWS))
            found.append(Box(down, words, 4, _SCALE_ROWS, 0, shape, stride))
        return found

    @property
    def lds_bytes(self) -> int:
        """LDS that the loop takes."""
        return self.buffers * sum(one.units * one.size for one in self.boxes)

    @property
    def crowded(self) -> bool:
        """Whether a step's operands and a wave's sums do not fit into the registers that the compiler handles well.

        Those are the 256 that instructions name by themselves (it uses all others up, too, and spills), or what the
        waves of a SIMD leave each other.
        """
        (rows, columns), waves = self.wave_blocks, self.waves[0] * self.waves[1]
        operands = self.blocks * (rows * self.kinds[0].registers + columns * self.kinds[1].registers)
        return 8 * rows * columns + operands > min(_NAMED, _REGISTERS // max(1, waves // _SIMDS))

    @property
    def pipeline(self) -> fx.Pipeline:
        """How steps overlap: transfers are `buffers` - 1 ahead, what is asked for into L2 `prefetched` more."""
        return fx.Pipeline(self.steps, ahead=self.buffers - 1 + self.prefetched, unroll=self.buffers)

    def scales_paired(self, which: int) -> bool:
        """Whether each half of a wave has the words of scales of other rows, of A (0) or B (1).

        The instruction takes those of either half. So one read does for two blocks of 16 rows, if there are two.
        """
        return self.wave_blocks[which] % 2 == 0

    def tiled_mmas(self) -> tuple[Callable[[int, int], fx.TiledMma], fx.TiledMma, fx.TiledMma]:
        """The matrix instruction over all waves, and what A and B are divided among the lanes by.

        The first is a function of the halves of the wave whose scales are those of A, and of B. Waves take turns in
        blocks of 16 rows and of 16 columns; B is the instruction's rows.
        """
        along_m, along_n = self.waves
        grid = fx.make_layout((along_n, along_m, 1), (1, along_n, 0))

        def of(operation: Any, one: Format) -> fx.TiledMma:
            # Of 32 bytes each half of the wave has 16.
            order = fx.make_layout((8, 2, 2, one.depth // 32), (1, 16, 8, 32)) if one.unit_bytes == 1 else None
            return fx.make_tiled_mma(fx.make_mma_atom(operation), grid, (None, None, order))

        a, b = self.kinds
        if not self.scaled:
            tiled = of(fx.rocdl.WMMA(16, 16, self.depth, getattr(fx, a.element)), a)
            return lambda *_: tiled, tiled, tiled

        def scaled(of_a: int, of_b: int) -> fx.TiledMma:
            types = getattr(fx, b.element), getattr(fx, a.element)
            operation = fx.rocdl.cdna5.WMMAScale(16, 16, self.depth, *types, opsel_a=of_b, opsel_b=of_a)
            return fx.make_tiled_mma(fx.make_mma_atom(operation), grid)

        carriers = [of(fx.rocdl.WMMA(16, 16, one.depth, getattr(fx, one.unit)), one) for one in (a, b)]
        return scaled, carriers[0], carriers[1]


def tdm_loop(
    loop: TdmLoop,
    operands: list[MovedOperand],
    lds: fx.Pointer,
    thread: fx.Int32,
    looped: fx.Int32,
    first_step: fx.Numeric | int = 0,
) -> dict[tuple[int, int], fx.Vector]:
    """The sums of a wave; `tiled_loop` says which a lane has.

    Args:
        loop: the geometry.
        operands: A, B and, where they are scaled, the scales of A and B in memory, like `loop.boxes`.
        lds: pointer to room for `loop.lds_bytes`.
        thread: index in the workgroup.
        looped: `loop.pipeline.looped` as a run-time value.
        first_step: of K, for this workgroup.
    """
    tiled, *carriers = loop.tiled_mmas()
    mine, buffers, boxes = tiled(0, 0).get_slice(thread), loop.buffers, loop.boxes
    (tile_m, tile_n, _), (rows, columns) = loop.tile, loop.wave_blocks

    sums = mine.make_fragment_C(_shape_only(lds, fx.Float32, (tile_n, tile_m), (1, tile_n)))
    sums.fill(0)
    starts, ways, words, place = [], [], [], 0
    readers = (fx.make_tiled_copy_B, fx.make_tiled_copy_A)  # B is the instruction's rows
    for which, box in enumerate(boxes):
        of_b, count = which % 2 == 1, (rows, columns)[which % 2]
        kind: Any = getattr(fx, loop.kinds[which].unit) if which < 2 else fx.Int32
        start = fx.recast_iter(kind, lds + place // PACK_BYTES)
        place += buffers * box.units * box.size
        starts.append(start)
        staged = fx.make_view(start, box.layout(buffers))
        if fx.const_expr(which < 2):
            # A fragment for each block: of bytes, LLVM takes larger ones apart.
            slice_of, units = carriers[which].get_slice(thread), loop.kinds[which].depth
            shape = _shape_only(start, kind, (16 * loop.waves[which], units), (units, 1))
            make = slice_of.make_fragment_A if of_b else slice_of.make_fragment_B
            atom = fx.make_copy_atom(fx.UniversalCopy(8 * PACK_BYTES), kind)
            read = readers[which](atom, carriers[which]).get_slice(thread)
            held = [[make(shape) for _ in range(loop.blocks)] for _ in range(count)]
            ways.append((atom, read, read.partition_S(staged), held))
        else:
            parts, rows_of = (mine.partition_A if of_b else mine.partition_B)(staged), 1 + loop.scales_paired(which % 2)
            held = [[fx.make_rmem_tensor(1, fx.Int32) for _ in range(loop.blocks)] for _ in range(count // rows_of)]
            words.append((parts, rows_of, held))

    elements: list[Any] = [getattr(fx, one.unit) for one in loop.kinds]
    transfers = Transfers(
        boxes, operands, [*elements, fx.Int32, fx.Int32][: len(boxes)], starts, _masks(loop) * (len(boxes) // 2),
        buffers=buffers, waves=loop.waves[0] * loop.waves[1], specialized=loop.specialized, first_step=first_step,
    )  # fmt: skip
    lines = Lines(
        boxes[:2], operands[:2], elements, thread=thread, threads=loop.threads, first_step=first_step + loop.prefetched
    )

    def step(now: Any) -> None:
        if fx.const_expr(now.has(0)):
            fx.rocdl.tdm_ops.tensor_wait(transfers.count * sum(now.has(later) for later in range(1, buffers - 1)))
            _meet(loop)
        if fx.const_expr(now.has(buffers - 1)):
            transfers.ask(now.buffer(buffers - 1, buffers))
            if fx.const_expr(loop.prefetched > 0 and now.has(buffers - 1 + loop.prefetched)):
                lines.ask()
        if fx.const_expr(now.has(0)):
            multiply(now.buffer(0, buffers))

    def multiply(buffer: int) -> None:
        word_atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Int32)
        for parts, rows_of, held in words:
            for block in range(loop.blocks):
                each = fx.logical_divide(parts[0, None, block, buffer], fx.make_layout(1, 1))
                for number, one in enumerate(held):
                    at = rows_of * number + thread % _WAVE // 16 if rows_of > 1 else number
                    fx.copy(word_atom, each[None, at], one[block])

        def read_block(block: int) -> None:
            for atom, read, source, held in ways:
                for number, one in enumerate(held):
                    fx.copy(atom, source[None, number, block, buffer], read.retile(one[block])[None, 0, 0])

        early = 1 if loop.crowded else loop.blocks
        for block in range(-early, loop.blocks):
            if fx.const_expr(0 <= block + early < loop.blocks):
                read_block(block + early)
            if fx.const_expr(block < 0):
                continue
            for n in range(columns):
                for m in range(rows):
                    total = fx.coalesce(sums[None, n, m])
                    a, b = fx.coalesce(ways[0][3][m][block]), fx.coalesce(ways[1][3][n][block])
                    if fx.const_expr(loop.scaled):
                        (of_a, a_words), (of_b, b_words) = (one[1:] for one in words)
                        scaled = tiled(m % of_a, n % of_b)
                        fx.gemm(scaled, total, [b, b_words[n // of_b][block]], [a, a_words[m // of_a][block]], total)
                    else:
                        fx.gemm(tiled(0, 0), total, b, a, total)
            if fx.const_expr(loop.crowded):
                fx.rocdl.sched_barrier(0)  # else reads of all blocks come first, for which registers do not suffice

    if fx.const_expr(loop.cluster != (1, 1)):
        fx.rocdl.cluster.cluster_barrier()  # all are there before one fills another's LDS
    loop.pipeline.run(step, looped)
    return {(m, n): sums[None, n, m].load().reshape(loop.atom.results) for m in range(rows) for n in range(columns)}


def _meet(loop: TdmLoop) -> None:
    """Wait for all who fill, or read, this workgroup's LDS."""
    if fx.const_expr(loop.cluster != (1, 1)):
        fx.rocdl.cluster.cluster_barrier()
    else:
        fx.barrier()


def _masks(loop: TdmLoop) -> tuple[Any, Any]:
    """The workgroups that want the same A, and the same B; 0 where there is no cluster."""
    if loop.cluster == (1, 1):
        return 0, 0
    row, column = fx.rocdl.cluster.compute_cluster_position()
    return compute_mcast_masks(row, column, *loop.cluster)


def _shape_only(pointer: fx.Pointer, kind: Any, shape: tuple[int, int], stride: tuple[int, int]) -> fx.Tensor:
    """A tensor of which only the shape and the type count."""
    return fx.make_view(fx.recast_iter(kind, pointer), fx.make_layout(shape, stride))

# SPDX-License-Identifier: Apache-2.0
"""The plan of the main loop of a GEMM: what is decided of it before anything is traced.

`tiled_loop`, which says how the loop goes, and its variants `staged_loop`, `quadrant_loop` and `mx_large_tile_loop` are
written in terms of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..arch import architecture
from ..language import fx
from .instructions import PACK_BYTES, MatrixAtom, matrix_atom, matrix_product
from .lds_ways import BUFFERS
from .operand_scales import BLOCK, MX_FORMATS, ROWS_OF_LANES, MxFormat
from .staging import Staging

__all__ = ["QUADRANT_STEP_BYTES", "TiledLoop", "operand_layout"]

QUADRANT_STEP_BYTES = 128
"""Of a row of an operand in a step of `quadrant_loop`."""

_ELEMENTS = {
    "fp16": "Float16", "bf16": "BFloat16", "int8": "Int8", "uint8": "Uint8", "int4": "Int8", "int4x2": "Int8",
    "uint4x2": "Int8",
}  # fmt: skip
_UNIT_SCALES = 0x7F7F7F7F
_CROWDED = 40  # fragments of 4 registers, sums and operands of a step


@dataclass(frozen=True)
class TiledLoop:
    """What the main loop of a tile is made of.

    Attributes:
        arch, dtype: of the operands, which name the matrix instruction; see `exists`.
        tile: rows and columns of C that a workgroup computes, elements of K in a step.
        steps: how many of these.
        waves: their grid, (along M, along N).
        k_waves: waves along K, which share each step.
        scheduled: interleave memory accesses with matrix instructions; else the compiler orders all.
        scaled: products of `BLOCK` of K are multiplied with f32 scales before they are added up; a wave has whole
            blocks of a step.
        alone: each wave loads the rows of A that it wants straight to registers, though others want them too.
        staging: how both operands lie in LDS, where they do and `staged_loop` is the loop.
        b_bytes: of B that lie together for a lane: fewer than a pack where B is in the order of `preshuffle_b_fp8`,
            or int4.
        b_mx: of operands with E8M0 scales, the format of B; `dtype` is that of A. Both are keys of `MX_FORMATS`.
        unit_scales: with `b_mx`, there are no scales: all are 1.
        buffers: of A in LDS: 1 or 2, or with `direct` more.
        direct: A goes to LDS without registers.
        parts: in which the rows of a wave are read and multiplied, where A is in LDS.
        preload: LDS reads, and moves of A, that go before the first product of a part.
        lead: products of a column of a part that go before its other accesses, so that there is something to multiply
            while all waves come from a barrier and read LDS.
        quadrants: both operands go to LDS, with `direct`, and `quadrant_loop` is the loop, or where they have scales of
            parts of K `scaled_quadrant_loop`.
        sparing: registers are short: accesses keep their place between the columns of products, as where there are
            parts, and what is loaded again takes the place of what was multiplied.
        b_sets: fragments of B that take turns; with 2 of them, for a step of one block in parts, B is loaded again a
            whole step ahead, while the first part is multiplied.
        occupancy: waves of a SIMD that register allocation is asked to leave room for, where the caller asks for none;
            0 asks for nothing.
    """

    arch: str
    dtype: str
    tile: tuple[int, int, int]
    steps: int
    waves: tuple[int, int]
    k_waves: int = 1
    scheduled: bool = True
    scaled: bool = False
    alone: bool = False
    staging: Staging | None = None
    b_bytes: int = PACK_BYTES
    b_mx: str = ""
    unit_scales: bool = False
    buffers: int = BUFFERS
    direct: bool = False
    parts: int = 1
    preload: tuple[int, int] = (0, 0)
    lead: int = 0
    quadrants: bool = False
    sparing: bool = False
    b_sets: int = 1
    occupancy: int = 0

    def __post_init__(self) -> None:
        rows, _ = self.wave_blocks
        if rows % self.parts:
            raise ValueError(f"{rows} blocks of rows a wave in {self.parts} parts: parts divide the rows")
        if self.quadrants and not self._has_quadrants():
            raise ValueError(
                f"a tile of {self.tile[0]} x {self.tile[1]} with {self.waves} waves, {self.k_waves} along K, and steps "
                f"of {self.tile[2]} of K: the loop in quadrants is for gfx950, loads directly to LDS, steps of "
                f"{QUADRANT_STEP_BYTES} bytes, and halves of rows and columns that waves share in blocks of 32, and "
                "two or more waves in loads of 16 bytes"
            )
        if self.parts > 1 and (self.scaled or self.b_mx) and self.buffers > BUFFERS and self.buffers % BUFFERS:
            raise ValueError(
                f"parts = {self.parts}, buffers = {self.buffers}: where scales of parts of K take turns, LDS has 1, "
                f"{BUFFERS} or a multiple of {BUFFERS} buffers"
            )

    def _has_quadrants(self) -> bool:
        chunks = QUADRANT_STEP_BYTES // PACK_BYTES
        for extent, along in zip(self.tile, self.waves, strict=False):
            if extent % (2 * 32 * along) or extent // 2 * chunks % self.threads:
                return False
        usual = self.arch == "gfx950" and self.direct and self.k_waves == 1 and self.buffers == BUFFERS
        usual = usual and self.threads % (16 * chunks) == 0  # rows of a load keep the order of packs
        if self.scaled or self.b_mx:  # see `scaled_quadrant_loop`
            usual = usual and self.wave_blocks == (8, 4) and self.tile[1] % (2 * BLOCK) == 0
        return usual and self.units(self.tile[2]) * self.atom.element_bytes == QUADRANT_STEP_BYTES

    @staticmethod
    def exists(arch: str, dtype: str) -> bool:
        """Whether there is a matrix instruction for operands of this type."""
        return matrix_atom(arch, dtype) is not None

    @property
    def atom(self) -> MatrixAtom:
        """The matrix instruction for plain operands; ValueError where `exists` says no."""
        found = matrix_atom(self.arch, "fp8" if self.b_mx else self.dtype)  # whose lanes have as much
        if found is None:
            raise ValueError(f"{self.arch} has no matrix instruction for operands of type {self.dtype!r}")
        return found

    @property
    def formats(self) -> tuple[MxFormat, MxFormat] | None:
        """The formats of A and B, of operands with E8M0 scales."""
        return (MX_FORMATS[self.dtype], MX_FORMATS[self.b_mx]) if self.b_mx else None

    @property
    def element(self) -> Any:
        """The language's type of A's elements in memory; bytes where they have E8M0 scales."""
        if self.formats is not None:
            return getattr(fx, self.formats[0].carrier[0])
        return getattr(fx, _ELEMENTS.get(self.dtype) or architecture().fp8.name)

    @property
    def b_element(self) -> Any:
        """The language's type of B's elements in memory; bytes where they have E8M0 scales."""
        return self.element if self.formats is None else getattr(fx, self.formats[1].carrier[0])

    @property
    def pack(self) -> int:
        """Elements in 16 bytes; bytes where they have E8M0 scales."""
        return self.atom.pack

    @property
    def lane_pack(self) -> int:
        """Elements along K of the packs that the lanes of a row hold at once."""
        return self.atom.groups * self.pack

    @property
    def packed(self) -> bool:
        """Whether elements of B come in pairs, as int4."""
        return self.dtype == "int4"

    def units(self, K: int, *, of_b: bool = False) -> int:
        """What so many elements of a row are in memory: elements, or bytes where they have E8M0 scales or are pairs."""
        if self.packed and of_b:
            return K // 2
        return K if self.formats is None else K * self.formats[of_b].bits // 8

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return self.atom.wave * self.waves[0] * self.waves[1] * self.k_waves

    @property
    def private(self) -> bool:
        """Whether each wave loads its own part of A, straight to registers."""
        return self.alone or (self.waves == (1, 1) and self.staging is None and not self.direct)

    @property
    def uniform_steps(self) -> bool:
        """Whether operands that go straight to fragments are loaded by `UniformSteps`; of two blocks of K or more.

        A wave with more than 32 rows loads them as soon as they are multiplied: the predicted time of 64 rows on
        gfx1201, which L2 bounds, is 609 us so, and 833 with `UniformSteps` (32 rows: 536 and 495).
        """
        return self.private and self.atom.wave == 32 and self.groups > 1 and self.wave_blocks[0] <= 2

    @property
    def lags(self) -> bool:
        """Whether private operands are loaded again only when the next block is multiplied, for want of registers.

        Else they are while their last products still wait, and then take other registers than before.
        """
        (rows, columns), packs = self.wave_blocks, self.packs * self.atom.packs
        return rows * columns + packs * (rows + columns) > _CROWDED and self.groups > 1

    @property
    def packs(self) -> int:
        """Packs that a lane has of one row in one step."""
        return self.tile[2] // (self.lane_pack * self.k_waves)

    @property
    def depth(self) -> int:
        """Extent along K of the matrix instruction."""
        if self.b_mx:
            return BLOCK
        if self.atom.wave != 64:
            return self.atom.depth
        return matrix_product(self.arch, self.dtype, self.packs).depth

    @property
    def blocks(self) -> int:
        """Blocks of K that a wave has in a step."""
        return self.tile[2] // (max(self.depth, self.lane_pack) * self.k_waves)

    @property
    def halves(self) -> int:
        """Matrix instructions that a pack feeds."""
        return max(1, self.lane_pack // self.depth)

    @property
    def joined(self) -> int:
        """Blocks of K that share a scale."""
        return BLOCK // max(self.depth, self.lane_pack) if self.scaled else 1

    @property
    def columns_of_a_scale(self) -> int:
        """How many neighbouring blocks of 16 columns of a wave lie within `BLOCK` columns, and share an f32 scale."""
        return math.gcd(self.wave_blocks[1], max(1, BLOCK // (16 * self.waves[1])))

    @property
    def spreads_scales(self) -> bool:
        """Whether a lane loads the f32 scale of another row of A than each 16 lanes before it, and lanes exchange them:
        a load serves 64 rows instead of 16. gfx950 exchanges rows of lanes without LDS."""
        return self.scaled and self.arch == "gfx950" and self.k_waves == 1 and self.wave_blocks[0] % ROWS_OF_LANES == 0

    @property
    def groups(self) -> int:
        """Groups of `joined` blocks that a wave has in a step."""
        return self.blocks // self.joined

    @property
    def phases(self) -> list[tuple[int, int]]:
        """(group, part) in the order in which a wave multiplies them in a step."""
        return [(group, part) for group in range(self.groups) for part in range(self.parts)]

    def rows_of(self, part: int) -> range:
        """The blocks of 16 rows of a part."""
        rows = self.wave_blocks[0] // self.parts
        return range(part * rows, (part + 1) * rows)

    @property
    def chunks(self) -> int:
        """Packs of a row of A in LDS."""
        return self.units(self.tile[2]) // self.pack

    @property
    def rows_at_once(self) -> int:
        """Rows of A that all threads move together, a pack each."""
        return self.threads // self.chunks

    def moves_of(self, operand: int) -> int:
        """Packs of A (0) or B (1) that a thread moves to LDS in a step; the last may be of rows past the tile."""
        if self.private or self.staging is not None or (operand == 1 and not self.quadrants):
            return 0
        return -(-self.tile[operand] // self.rows_at_once)

    @property
    def moves(self) -> int:
        """Packs of A that a thread moves to LDS in a step."""
        return self.moves_of(0)

    def rows_staged(self, operand: int) -> int:
        """Rows of A (0) or B (1) that a buffer in LDS has room for, all those that are moved."""
        return self.moves_of(operand) * self.rows_at_once

    @property
    def staged_rows(self) -> int:
        """Rows of A that a buffer in LDS has room for."""
        return self.rows_staged(0)

    @property
    def by_columns(self) -> bool:
        """Whether a phase is traced column by column, with what lies between."""
        return len(self.phases) > 1 and (self.parts > 1 or self.sparing)

    @property
    def by_coordinates(self) -> bool:
        """Whether packs of A that have no E8M0 scales lie in LDS by coordinates, see `mx_staging`: where two of them
        feed an instruction, whose addresses would else take a register each."""
        even = self.k_waves == 1 and self.staged_rows == self.tile[0] and self.chunks in (8, 16)
        return self.depth == BLOCK and (self.scaled or (self.by_columns and even))

    def blocks_of(self, group: int) -> range:
        """The blocks of a group."""
        return range(group * self.joined, (group + 1) * self.joined)

    def modes_of_k(self, K: int, pack: int | None = None, mx: MxFormat | None = None) -> tuple[tuple[int, int], ...]:
        """K as the tiled MMA counts it: (extent, stride in memory) of modes, of which none crosses a `pack`.

        Memory's own order, but that of waves along K each has whole `BLOCK`s (two, where they share words of scales),
        and that of a format `mx`.
        """
        if mx is not None:
            waves, block = self.k_waves, BLOCK * mx.bits // 8
            if waves == 1:
                return (*mx.runs, (K // BLOCK, block))
            return (*mx.runs, (waves, 2 * block), (2, block), (K // (2 * BLOCK * waves), 2 * block * waves))
        pack = self.pack if pack is None else pack
        together = self.atom.groups * pack
        packs = (pack, 1), (self.atom.groups, pack)
        if not self.scaled or self.k_waves == 1 or self.joined == 1:
            return (*packs, (K // together, together))
        part, waves = BLOCK // self.joined, self.k_waves
        return (*packs, (waves, BLOCK), (self.joined, part), (K // (BLOCK * waves), BLOCK * waves))

    def along_k(self, block: int, half: int | None = None) -> Any:
        """The mode of K of a block in fragments and partitions: of the instructions that share packs, all or one."""
        if self.halves == 1:
            return block
        if self.scaled and self.k_waves > 1 and 1 < self.joined < self.blocks:  # see `modes_of_k`
            return half, block % self.joined, block // self.joined
        return (half, block) if self.blocks > 1 else half

    @property
    def wave_blocks(self) -> tuple[int, int]:
        """Blocks of 16 rows, and of 16 columns, that a wave has."""
        return self.tile[0] // (16 * self.waves[0]), self.tile[1] // (16 * self.waves[1])

    @property
    def staged_bytes(self) -> int:
        """LDS of the loops that both operands go through, 0 where it is only A."""
        if self.quadrants:
            units = sum(self.rows_staged(which) * self.units(self.tile[2], of_b=which == 1) for which in range(2))
            return self.buffers * units * self.atom.element_bytes
        if self.staging is None:
            return 0
        elements = sum(self.staging.elements(which, self.tile[which], self.tile[2]) for which in range(2))
        return BUFFERS * elements * self.atom.element_bytes

    @property
    def pipeline(self) -> fx.Pipeline:
        """How steps overlap: loads of A that go through LDS are two ahead, or as many as it has buffers; others one."""
        if self.direct:
            return fx.Pipeline(self.steps, ahead=self.buffers, unroll=max(BUFFERS, self.buffers))
        return fx.Pipeline(self.steps, ahead=1 if self.private else 2, unroll=BUFFERS)

    @property
    def looped(self) -> int:
        """Steps that the run-time loop does."""
        return int(self.pipeline.looped)

    def tiled_mma(self) -> fx.TiledMma:
        """The matrix instruction over all waves, which take turns in blocks of 16 rows, of 16 columns and of K.

        K is permuted so that what a lane gives to the instruction are whole packs: where a pack feeds two instructions
        the first takes the first half of each lane's pack, and where a scaled one takes two, they are 64 bytes apart.
        Where lanes take turns in the rows of the result, rows of B are permuted so that a lane has neighbours of them.
        """
        pack, waves, groups = self.pack, self.k_waves, self.atom.groups
        along_m, along_n = self.waves
        operation, order, columns = self.atom.operation, None, None
        scaled = self.depth > self.atom.depth
        # Permuting M or N as well, for neighbouring blocks, would put them before the parts of a pack.
        if self.b_mx:
            atom = self.mx_atom(0, 0)
            if self.unit_scales:
                atom = atom.set_value({"scale_a": fx.Int32(_UNIT_SCALES), "scale_b": fx.Int32(_UNIT_SCALES)})
            grid = fx.make_layout((along_n, along_m, waves), (waves, waves * along_n, 1))
            return fx.make_tiled_mma(atom, grid)
        if self.halves == 2:
            half = pack // 2
            order = fx.make_layout((half, groups, waves, 2), (1, pack, groups * pack, half))
        elif scaled:
            operation = fx.rocdl.cdna4.MFMA_Scale
            order = fx.make_layout((pack, 2, 4, waves), (1, 4 * pack, pack, 8 * pack))
        if self.atom.rows_in_turns:
            columns = fx.make_layout((2, 8, along_n), (8, 1, 16))
        atom = fx.make_mma_atom(operation(16, 16, self.depth, self.element))
        if scaled:
            atom = atom.set_value({"scale_a": fx.Int32(_UNIT_SCALES), "scale_b": fx.Int32(_UNIT_SCALES)})
        grid = fx.make_layout((along_n, along_m, waves), (waves, waves * along_n, 1))
        return fx.make_tiled_mma(atom, grid, (columns, None, order))

    def carriers(self, tiled: fx.TiledMma) -> tuple[fx.TiledMma, fx.TiledMma]:
        """The tiled MMAs by which A and B are divided among the lanes: `tiled`, or of bytes that are no elements.

        A pair of int4 is a byte, and elements with E8M0 scales are counted in bytes.
        """
        (along_m, along_n), waves = self.waves, self.k_waves
        grid = fx.make_layout((along_n, along_m, waves), (waves, waves * along_n, 1))
        if self.packed:
            pairs = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, self.lane_pack // 2, fx.Int8))
            return tiled, fx.make_tiled_mma(pairs, grid)
        if self.formats is None:
            return tiled, tiled
        made = []
        for one in self.formats:
            element, depth = one.carrier
            operation = fx.rocdl.MFMA if depth < BLOCK else fx.rocdl.cdna4.MFMA_Scale
            made.append(fx.make_tiled_mma(fx.make_mma_atom(operation(16, 16, depth, getattr(fx, element))), grid))
        return made[0], made[1]

    def large_atom(self) -> tuple[fx.MmaAtom, int]:
        """(matrix instruction with 32 x 32 results on gfx950, packs of a lane that it takes), for plain operands."""
        if self.dtype == "fp8":
            atom = fx.make_mma_atom(fx.rocdl.cdna4.MFMA_Scale(32, 32, 64, self.element))
            return atom.set_value({"scale_a": fx.Int32(_UNIT_SCALES), "scale_b": fx.Int32(_UNIT_SCALES)}), 2
        return fx.make_mma_atom(fx.rocdl.MFMA(32, 32, 2 * self.pack, self.element)), 1

    def mx_atom(self, b_byte: int, a_byte: int, shape: tuple[int, int] = (16, BLOCK)) -> fx.MmaAtom:
        """The matrix instruction that takes these bytes of the words of scales; B is its rows.

        `shape`: its rows, which are as many as its columns, and its K.
        """
        assert self.formats is not None
        a, b = (getattr(fx, one.element) for one in self.formats)
        operation = fx.rocdl.cdna4.MFMA_Scale(shape[0], *shape, b, a, opsel_a=b_byte, opsel_b=a_byte)
        return fx.make_mma_atom(operation)

    def schedule(self, phase: int, loads: bool, fetches: bool) -> Any:
        """The order inside a phase that is not traced by columns, of a step that another follows (`loads`), and while A
        of a later one comes (`fetches`)."""
        rows, columns = self.wave_blocks
        first, last = phase == 0, phase + 1 == len(self.phases)
        packs, b_packs = (max(1, self.units(self.depth, of_b=b) // self.lane_pack) * self.joined for b in (False, True))
        products = rows * columns * self.halves * self.joined
        scales = rows + columns if self.b_mx and not self.unit_scales else 0
        if self.scaled:
            scales = rows // (ROWS_OF_LANES if self.spreads_scales else 1) + columns // self.columns_of_a_scale
        if self.private:
            loads = loads and (phase > 0 or not self.lags)
            return fx.rocdl.interleave(mfma=products, vmem_read=(rows * packs + columns * b_packs + scales) * loads)
        # A that is written between two barriers of the last phase, or read behind its products, does not interleave.
        late = self.buffers == 1
        written = self.moves * loads if first and not (late or self.direct) else 0
        fetched = self.moves * fetches if (last if late or self.direct else first) else 0
        read = rows * packs if (loads or not last) and len(self.phases) > 1 else 0
        loaded = (columns * b_packs + scales) * loads
        early = min(self.preload[0], read), min(self.preload[1], written), min(self.preload[1], fetched)
        names = "ds_read", "ds_write", "vmem_read"
        begin = fx.rocdl.Schedule(tuple((name, count) for name, count in zip(names, early, strict=True) if count))
        return begin + fx.rocdl.interleave(
            mfma=products, ds_read=read - early[0], ds_write=written - early[1], vmem_read=fetched - early[2] + loaded
        )


def operand_layout(
    loop: TiledLoop, rows: int, K: int, row: fx.Numeric | int, *, shuffled: bool, of_b: bool = False
) -> fx.Layout:
    """The layout of `rows` rows of K elements, `row` apart, or in the order of `shuffle_weight`.

    There a block of 16 rows holds, for every 4 packs of K, the first pack of each row, then the second ... With packs
    of 8 bytes, 2 of them, it is the order of `preshuffle_b_fp8`. K counts elements; where they have E8M0 scales, it is
    in the order of `modes_of_k`, but for A that goes to LDS in that of memory, and the layout and `row` count bytes.
    """
    mx = loop.formats[of_b] if loop.formats is not None else None
    pack = loop.b_bytes // loop.atom.element_bytes if shuffled else loop.pack
    modes = loop.modes_of_k(loop.units(K, of_b=of_b) if mx is None else K, pack, mx)
    extents = tuple(extent for extent, _ in modes)
    if not shuffled:
        if (mx is None and len(modes) == 3) or not (of_b or loop.private):
            return fx.make_layout((rows, loop.units(K, of_b=of_b)), (row, 1))
        return fx.make_layout((rows, extents), (row, tuple(stride for _, stride in modes)))
    strides = tuple(stride if stride < pack else 16 * stride for _, stride in modes)
    return fx.make_layout(((16, rows // 16), extents), ((pack, 16 * row), strides))

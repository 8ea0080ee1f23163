# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts: tiled copies bring fragments, a tiled MMA multiplies them.

A goes from memory through registers into one of two LDS buffers and from there to all waves; B goes straight into the
fragments of the waves that own its columns. K goes by in steps, a step in blocks of one pack of 16 bytes a lane (of
two, where the matrix instruction takes two). While a wave multiplies block k of step t it

- reads block k + 1 of A from LDS; the first block of step t + 1 while the last of step t is multiplied,
- reloads block k of B, when it has been multiplied, with the same block of step t + 1,
- in the first block, writes A of step t + 1 to LDS and loads that of step t + 2.

One barrier a step, before its last block: all waves have then read what they need of step t, and written step t + 1.
Where no wave shares its rows of A with another (all are along K), A goes straight into fragments as B does, and there
is neither LDS nor a barrier; `staged_loop` is the form in which both operands go through LDS. How accesses lie between
the matrix instructions is a `fx.rocdl.Schedule`, how steps overlap a `fx.Pipeline`; waits are the compiler's.

The product is C transposed, B being the rows of the matrix instruction: so a lane holds neighbouring columns of C.

Operands with scales (`Scales`) have them as tensors over the same coordinates (row, k), with stride 0 where elements
share one. The tiled MMA that gives a lane its operands so gives it their scales too, and they come a step ahead as B
does. Scales in f32 (one for 128 of K) multiply the product of their 128, which starts from nothing, before it joins the
sums. Scales in E8M0 (one for 32 of K) are operands of the matrix instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arch import architecture
from ..language import fx
from .instructions import PACK_BYTES, MatrixAtom, matrix_atom
from .mx_staging import MxStaging
from .staging import Staging

__all__ = [
    "BLOCK", "BUFFERS", "MX_FORMATS", "LoopOperands", "MxFormat", "Scales", "TiledLoop", "mx_scale_layout",
    "operand_layout", "scale_layout", "tiled_loop",
]  # fmt: skip

BLOCK = 128
"""Elements of K, and rows of B, that share one f32 scale."""

BUFFERS = 2  # of A in LDS
_ELEMENTS = {"fp16": "Float16", "bf16": "BFloat16", "int8": "Int8", "uint8": "Uint8"}
# Instructions with block scales (E8M0, here all 2^0) that take two packs a lane, for an even number of them.
_SCALED = {("gfx950", "fp8"): 128}
_UNIT_SCALES = 0x7F7F7F7F
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
        a: (tile_m, K): f32, one of each row and `BLOCK` of K; or words of E8M0, see `mx_scale_layout`.
        b: (tile_n, K): f32, one of `BLOCK` rows and `BLOCK` of K; or words of E8M0.
        a_odd: whether a tile of 16 rows is the second one of its words, for E8M0.
    """

    a: Any
    b: Any
    a_odd: Any = 0


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
        b_bytes: of B that lie together for a lane: fewer than a pack where B is in the order of `preshuffle_b_fp8`.
        b_mx: of operands with E8M0 scales, the format of B; `dtype` is that of A. Both are keys of `MX_FORMATS`.
        unit_scales: with `b_mx`, there are no scales: all are 1.
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

    def units(self, K: int, *, of_b: bool = False) -> int:
        """What so many elements of a row are in memory: elements, or bytes where they have E8M0 scales."""
        return K if self.formats is None else K * self.formats[of_b].bits // 8

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return self.atom.wave * self.waves[0] * self.waves[1] * self.k_waves

    @property
    def private(self) -> bool:
        """Whether each wave loads its own part of A, straight to registers."""
        return self.alone or (self.waves == (1, 1) and self.staging is None)

    @property
    def packs(self) -> int:
        """Packs that a lane has of one row in one step."""
        return self.tile[2] // (self.lane_pack * self.k_waves)

    @property
    def depth(self) -> int:
        """Extent along K of the matrix instruction."""
        which = self.arch, self.dtype
        if self.b_mx:
            return BLOCK
        # Where A is shared, LLVM 22 can leave a wait state too few between such a product and the next LDS read; not
        # where a product begins from zero, as far as the emulator's check of hazards finds.
        pairs = self.packs % 2 == 0 and (self.private or self.scaled)
        return _SCALED[which] if which in _SCALED and pairs else self.atom.depth

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
    def groups(self) -> int:
        """Groups of `joined` blocks that a wave has in a step."""
        return self.blocks // self.joined

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

    @property
    def wave_blocks(self) -> tuple[int, int]:
        """Blocks of 16 rows, and of 16 columns, that a wave has."""
        return self.tile[0] // (16 * self.waves[0]), self.tile[1] // (16 * self.waves[1])

    @property
    def staged_bytes(self) -> int:
        """LDS of `staged_loop`, 0 where the loop is another."""
        if self.staging is None:
            return 0
        elements = sum(self.staging.elements(which, self.tile[which], self.tile[2]) for which in range(2))
        return BUFFERS * elements * self.atom.element_bytes

    @property
    def pipeline(self) -> fx.Pipeline:
        """How steps overlap: loads of A that go through LDS are two ahead, all others one."""
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

    def carriers(self) -> tuple[fx.TiledMma, fx.TiledMma]:
        """Tiled MMAs of bytes over the same waves, by which A and B with E8M0 scales are divided among the lanes."""
        assert self.formats is not None
        (along_m, along_n), waves = self.waves, self.k_waves
        grid = fx.make_layout((along_n, along_m, waves), (waves, waves * along_n, 1))
        made = []
        for one in self.formats:
            element, depth = one.carrier
            operation = fx.rocdl.MFMA if depth < BLOCK else fx.rocdl.cdna4.MFMA_Scale
            made.append(fx.make_tiled_mma(fx.make_mma_atom(operation(16, 16, depth, getattr(fx, element))), grid))
        return made[0], made[1]

    def mx_atom(self, b_byte: int, a_byte: int) -> fx.MmaAtom:
        """The matrix instruction that takes these bytes of the words of scales; B is its rows."""
        assert self.formats is not None
        a, b = (getattr(fx, one.element) for one in self.formats)
        operation = fx.rocdl.cdna4.MFMA_Scale(16, 16, BLOCK, b, a, opsel_a=b_byte, opsel_b=a_byte)
        return fx.make_mma_atom(operation)

    def schedule(self, group: int, loads: bool, fetches: bool) -> Any:
        """The order inside a group of blocks in which B is reloaded (`loads`) and A fetched (`fetches`)."""
        rows, columns = self.wave_blocks
        packs, b_packs = (max(1, self.units(self.depth, of_b=b) // self.lane_pack) * self.joined for b in (False, True))
        products = rows * columns * self.halves * self.joined
        scales = rows + columns if self.scaled or (self.b_mx and not self.unit_scales) else 0
        if self.private:
            return fx.rocdl.interleave(mfma=products, vmem_read=(rows * packs + columns * b_packs + scales) * loads)
        moved = self.tile[0] * self.units(self.tile[2]) // self.pack // self.threads if group == 0 else 0
        return fx.rocdl.interleave(
            mfma=products,
            ds_read=rows * packs if loads or group + 1 < self.groups else 0,
            ds_write=moved * loads,
            vmem_read=moved * fetches + (columns * b_packs + scales) * loads,
        )


def operand_layout(loop: TiledLoop, rows: int, K: int, row: Any, *, shuffled: bool, of_b: bool = False) -> fx.Layout:
    """The layout of `rows` rows of K elements, `row` apart, or in the order of `shuffle_weight`.

    There a block of 16 rows holds, for every 4 packs of K, the first pack of each row, then the second ... With packs
    of 8 bytes, 2 of them, it is the order of `preshuffle_b_fp8`. K counts elements; where they have E8M0 scales, it is
    in the order of `modes_of_k`, but for A that goes to LDS in that of memory, and the layout and `row` count bytes.
    """
    mx = loop.formats[of_b] if loop.formats is not None else None
    pack = loop.b_bytes // loop.atom.element_bytes if shuffled else loop.pack
    modes = loop.modes_of_k(K, pack, mx)
    extents = tuple(extent for extent, _ in modes)
    if not shuffled:
        if (mx is None and len(modes) == 3) or not (of_b or loop.private):
            return fx.make_layout((rows, loop.units(K, of_b=of_b)), (row, 1))
        return fx.make_layout((rows, extents), (row, tuple(stride for _, stride in modes)))
    strides = tuple(stride if stride < pack else 16 * stride for _, stride in modes)
    return fx.make_layout(((16, rows // 16), extents), ((pack, 16 * row), strides))


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


@dataclass(frozen=True)
class LoopOperands:
    """What the forms of the loop begin with.

    Attributes:
        tiled: the tiled MMA; B is the rows of the matrix instruction.
        mine: a thread's slice of it.
        carriers: the tiled MMAs by which A and B are divided among the lanes: `tiled`, but where they have E8M0 scales.
        tiles: A and B in memory as (rows, K of a step, steps).
        fragments: of A and B, of a step.
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
        carriers = (tiled, tiled) if loop.formats is None else loop.carriers()
        for_a, for_b = (one.get_slice(thread) for one in carriers)
        tiles_a = fx.flat_divide(a, (tile_m, loop.units(tile_k)))[None, None, 0, None]
        tiles_b = fx.flat_divide(b, (tile_n, loop.units(tile_k, of_b=True)))[None, None, 0, None]
        fragments = for_a.make_fragment_B(tiles_a[None, None, 0]), for_b.make_fragment_A(tiles_b[None, None, 0])
        sums = mine.make_fragment_C(fx.make_view(fx.get_iter(b), fx.make_layout((tile_n, tile_m), (1, tile_n))))
        sums.fill(0)
        return LoopOperands(tiled, mine, carriers, (tiles_a, tiles_b), fragments, sums)

    def results(self, loop: TiledLoop) -> dict[tuple[int, int], Any]:
        """What `tiled_loop` returns."""
        rows, columns = loop.wave_blocks
        results = loop.atom.results
        return {(m, n): self.sums[None, n, m].load().reshape(results) for m in range(rows) for n in range(columns)}


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


def tiled_loop(
    loop: TiledLoop, a: Any, b: Any, lds: Any, thread: Any, looped: Any, scales: Scales | None = None
) -> dict[tuple[int, int], Any]:
    """The sums of a wave: r of a lane for each (row block, column block). Waves along K have still to be summed.

    Value i is row (lane mod 16) of the row block, column r (lane // 16) + i of the column block, r being
    `MatrixAtom.results`. Blocks (m, n) of wave (i, j) are row block m * waves[0] + i and column block
    n * waves[1] + j of the tile.

    Args:
        loop: the geometry.
        a: buffer tensor (tile_m, K), where rows that do not exist are past its end.
        b: buffer tensor (tile_n, K), likewise.
        lds: pointer to room for `BUFFERS` steps of A; None where A goes straight to registers.
        thread: index in the workgroup.
        looped: `loop.looped` as a run-time value: a loop whose length the compiler knows it may well unroll.
        scales: of the operands, where the loop is `scaled`.
    """
    tile_m, _, tile_k = loop.tile
    given = LoopOperands.of(loop, a, b, thread)
    tiled, mine, sums, (tiled_a, tiled_b) = given.tiled, given.mine, given.sums, given.carriers
    (tiles_a, tiles_b), (fragment_a, fragment_b) = given.tiles, given.fragments
    a_k = loop.units(tile_k)
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
    b_from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy(8 * loop.b_bytes), loop.b_element)

    # Memory -> fragments; B is the matrix instruction's rows.
    load_b = fx.make_tiled_copy_A(b_from_memory, tiled_b).get_slice(thread)
    source_b, target_b = load_b.partition_S(tiles_b), load_b.retile(fragment_b)

    scaling: Any = None
    if scales is not None:
        scaling = _MxScaling(loop, mine, scales, thread) if loop.b_mx else _Scaling(loop, mine, scales)

    def multiply(now: Any, group: int) -> None:
        if fx.const_expr(scaling is not None):
            scaling.multiply(tiled, sums, fragment_b, fragment_a, now, group)
            return
        one = (None, None, _along_k(loop, group))
        fx.gemm(tiled, sums, fragment_b[one], fragment_a[one], sums)

    def reload_b(now: Any, group: int) -> None:
        for block in loop.blocks_of(group):
            fx.copy(b_from_memory, source_b[None, None, block, now.index(1)], target_b[None, None, block])
        if fx.const_expr(scaling is not None):
            scaling.load(now, group)

    if loop.private:
        load_a = fx.make_tiled_copy_B(from_memory, tiled_a).get_slice(thread)
        source_a, target_a = load_a.partition_S(tiles_a), load_a.retile(fragment_a)

        def private_step(now: Any) -> None:
            for group in fx.range_constexpr(loop.groups):
                if fx.const_expr(now.has(0)):
                    multiply(now, group)
                if fx.const_expr(now.has(1)):
                    for block in loop.blocks_of(group):
                        fx.copy(from_memory, source_a[None, None, block, now.index(1)], target_a[None, None, block])
                    reload_b(now, group)
                if fx.const_expr(now.has(0)):
                    _order(loop, now, group)
                else:
                    _fence()

        loop.pipeline.run(private_step, looped)
    else:
        through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
        chunks = a_k // loop.pack

        # Rows of A in LDS are as long as all banks or a multiple; their packs change places by the number of the row.
        bits = chunks.bit_length() - 1
        room = fx.apply_swizzle(fx.recast_iter(loop.element, lds), fx.static(fx.SwizzleType.get(min(bits, 4), 4, bits)))
        staged = fx.make_view(room, fx.make_layout((tile_m, a_k, BUFFERS), (a_k, 1, tile_m * a_k)))
        mx = MX_FORMATS["fp8"] if loop.scaled and loop.depth == BLOCK else None
        mx = loop.formats[0] if loop.formats is not None else mx
        mx_staging: Any = None if mx is None else MxStaging(loop, mx, lds, BUFFERS, thread)

        # Memory -> registers -> LDS: a pack a thread, threads along a row.
        across = fx.make_layout((loop.threads // chunks, chunks), (chunks, 1))
        packs = fx.make_layout((1, loop.pack), (1, 1))
        fetch = fx.make_tiled_copy_tv(from_memory, across, packs).get_slice(thread).partition_S(tiles_a)
        put = fx.make_tiled_copy_tv(through_lds, across, packs).get_slice(thread).partition_D(staged)
        fetched = [fx.make_fragment_like(fetch[None, None, None, 0]) for _ in range(2)]

        # LDS -> fragment of A.
        read_a = fx.make_tiled_copy_B(through_lds, tiled_a).get_slice(thread)
        source_a, target_a = read_a.partition_S(staged), read_a.retile(fragment_a)

        def read(now: Any, group: int, ahead: int) -> None:
            if fx.const_expr(mx_staging is not None):
                mx_staging.read(fragment_a, group, now.buffer(ahead, BUFFERS))
                return
            for block in loop.blocks_of(group):
                source = source_a[None, None, block, now.buffer(ahead, BUFFERS)]
                fx.copy(through_lds, source, target_a[None, None, block])

        def move(now: Any) -> None:
            if fx.const_expr(mx_staging is not None):
                mx_staging.put(fetched[now.buffer(1, 2)], now.buffer(1, BUFFERS))
                return
            fx.copy(through_lds, fetched[now.buffer(1, 2)], put[None, None, None, now.buffer(1, BUFFERS)])

        def step(now: Any) -> None:
            if fx.const_expr(not now.has(0)):  # before the loop; first what comes from afar
                if fx.const_expr(now.has(2)):
                    fx.copy(from_memory, fetch[None, None, None, now.index(2)], fetched[now.buffer(2, 2)])
                    _fence()
                if fx.const_expr(now.has(1)):
                    for group in fx.range_constexpr(loop.groups):
                        reload_b(now, group)
                        _fence()
                    move(now)
                    fx.barrier()
                    read(now, 0, 1)
                return
            for group in fx.range_constexpr(loop.groups):
                last = group + 1 == loop.groups
                if fx.const_expr(last):
                    fx.barrier()
                if fx.const_expr(now.has(1) or not last):
                    read(now, 0 if last else group + 1, 1 if last else 0)
                if fx.const_expr(now.has(1) and group == 0):
                    move(now)
                if fx.const_expr(now.has(2) and group == 0):
                    fx.copy(from_memory, fetch[None, None, None, now.index(2)], fetched[now.buffer(2, 2)])
                multiply(now, group)
                if fx.const_expr(now.has(1)):
                    reload_b(now, group)
                _order(loop, now, group)

        loop.pipeline.run(step, looped)
    return given.results(loop)


class _Scaling:
    """The f32 scales of a wave's operands, and the products that they multiply."""

    def __init__(self, loop: TiledLoop, mine: Any, scales: Scales) -> None:
        tile_m, tile_n, tile_k = loop.tile
        self.loop = loop
        self.sources, self.held = [], []
        for tensor, extent, partition in ((scales.a, tile_m, mine.partition_B), (scales.b, tile_n, mine.partition_A)):
            source = partition(fx.flat_divide(tensor, (extent, tile_k))[None, None, 0, None])
            blocks = fx.get_scalar(fx.size(source[0, None, 0, 0]))
            self.sources.append(source)
            self.held.append(fx.make_rmem_tensor((1, blocks, loop.groups), fx.Float32))
        self.atom = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)

    def load(self, now: Any, group: int) -> None:
        """Ask for the scales of a group of the next step."""
        step = now.index(1)
        along_k = group * self.loop.joined * self.loop.halves
        for source, held in zip(self.sources, self.held, strict=True):
            each = fx.logical_divide(source[0, None, along_k, step], fx.make_layout(1, 1))
            fx.copy(self.atom, each, held[None, None, group])

    def multiply(self, tiled: Any, sums: Any, b: Any, a: Any, now: Any, group: int) -> None:
        """Add the products of a group, each begun from nothing, times their scales to the sums."""
        columns, rows = (held.shape[1].unpack() for held in reversed(self.held))
        row_scales, column_scales = (held[0, None, group].load() for held in self.held)
        halves = range(self.loop.halves)
        each = [_along_k(self.loop, block, half) for block in self.loop.blocks_of(group) for half in halves]
        waiting: list[tuple[Any, Any, Any]] = []

        def finish() -> None:
            total, product, scale = waiting.pop(0)
            values = product.load()
            total.store(fx.fma(values, fx.full_like(values, scale), total.load()))

        for n in range(columns):
            for m in range(rows):
                total = fx.coalesce(sums[None, n, m])
                product = fx.make_fragment_like(total)
                product.fill(0.0)
                for along_k in each:
                    fx.gemm(tiled, product, fx.coalesce(b[None, n, along_k]), fx.coalesce(a[None, m, along_k]), product)
                waiting.append((total, product, row_scales[m] * column_scales[n]))
                if len(waiting) > _WAITING:
                    finish()
        while waiting:
            finish()


class _MxScaling:
    """The words of E8M0 scales of a wave's operands, and the products that take them.

    A word serves two blocks of 16 rows and two of K. Waves that take turns along the rows have every second block, or
    every fourth: always the same half of their words, which is moved to where the other half was.
    """

    def __init__(self, loop: TiledLoop, mine: Any, scales: Scales, thread: Any) -> None:
        tile_m, tile_n, tile_k = loop.tile
        self.loop = loop
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
            self.held.append(fx.make_rmem_tensor((1, blocks // shared, max(1, loop.blocks // 2)), fx.Int32))
            odd = number % 2 if waves > 1 else scales.a_odd if extent == 16 else 0
            self.shifts.append(None if isinstance(odd, int) else 8 * odd)
        self.atoms = {(b, a): loop.mx_atom(b, a) for b in range(4) for a in range(4) if a // 2 == b // 2}

    def load(self, now: Any, block: int) -> None:
        """Ask for the words of a block of the next step, and of the one before it, which has the same."""
        if block % 2 == 0 and self.loop.blocks > 1:
            return
        for source, held, shared in zip(self.sources, self.held, self.shared, strict=True):
            each = fx.logical_divide(source[0, None, block, now.index(1)], fx.make_layout(shared, 1))
            fx.copy(self.atom, fx.logical_divide(each[0, None], fx.make_layout(1, 1)), held[None, None, block // 2])

    def multiply(self, tiled: Any, sums: Any, b: Any, a: Any, now: Any, block: int) -> None:
        """Add the products of a block of K."""
        half = block % 2 if self.loop.blocks > 1 else now.buffer(0, 2)
        words, bytes_of = [], []
        for held, shift, shared in zip(self.held, self.shifts, self.shared, strict=True):
            mine = held[None, None, block // 2]
            count = fx.get_scalar(fx.size(mine))
            if shift is not None:
                moved = fx.make_rmem_tensor((1, count), fx.Int32)
                moved.store(mine.load() >> shift)
                mine = moved
            if shared == 2:
                mine = fx.make_view(fx.get_iter(mine), fx.make_layout((1, (2, count)), (0, (0, 1))))
            words.append(mine)
            bytes_of.append([2 * half, 2 * half + shared - 1])
        packs = [self._elements(one, of_b, block) for one, of_b in ((a, 0), (b, 1))]

        def chosen(atom: Any, at: tuple[int, int, int]) -> Any:
            return self.atoms[bytes_of[1][at[0] % 2], bytes_of[0][at[1] % 2]]

        fx.gemm(tiled, sums, [packs[1], words[1]], [packs[0], words[0]], sums, atom_callback=chosen)

    def _elements(self, fragment: Any, of_b: int, block: int) -> Any:
        """A block of a fragment, without the bytes that are not elements."""
        assert self.loop.formats is not None
        mx, found = self.loop.formats[of_b], fragment[None, None, block]
        if mx.used == 32 * mx.bits // 8:
            return found
        rows = fx.get_scalar(fx.size(found[0, None]))
        dense = fx.make_rmem_tensor((mx.used // 4, rows), fx.Int32)
        for row in range(rows):
            loaded = fx.coalesce(found[None, row]).load().bitcast(fx.Int32)
            dense[None, row].store(loaded.shuffle(loaded, list(range(mx.used // 4))))
        return dense


def _along_k(loop: TiledLoop, block: int, half: int | None = None) -> Any:
    """The mode of K of a block in fragments and partitions: of the instructions that share packs, all or one."""
    if loop.halves == 1:
        return block
    return (half, block) if loop.blocks > 1 else half


def _order(loop: TiledLoop, now: Any, group: int) -> None:
    """Ask for the schedule of a group of blocks of K."""
    if fx.const_expr(loop.scheduled):
        loop.schedule(group, now.has(1), now.has(now.pipeline.ahead)).apply()


def _fence() -> None:
    """Loads before the loop keep the order of those in it: waits inside then do for both ways into an iteration."""
    fx.rocdl.sched_barrier(0)

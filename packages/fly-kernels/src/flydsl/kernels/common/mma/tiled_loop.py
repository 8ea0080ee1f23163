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
from .staging import Staging

__all__ = ["BLOCK", "BUFFERS", "LoopOperands", "Scales", "TiledLoop", "operand_layout", "scale_layout", "tiled_loop"]

BLOCK = 128
"""Elements of K, and rows of B, that share one f32 scale."""

BUFFERS = 2  # of A in LDS
_ELEMENTS = {"fp16": "Float16", "bf16": "BFloat16", "int8": "Int8", "uint8": "Uint8"}
# Instructions with block scales (E8M0, here all 2^0) that take two packs a lane, for an even number of them.
_SCALED = {("gfx950", "fp8"): 128}
_UNIT_SCALES = 0x7F7F7F7F
_WAITING = 3  # products that the matrix unit works on before the first of them is scaled


@dataclass(frozen=True)
class Scales:
    """The scales of a tile's operands, as buffer tensors of f32 over (row, k), with stride 0 where one is shared.

    Attributes:
        a: (tile_m, K), one of each row and `BLOCK` of K.
        b: (tile_n, K), one of `BLOCK` rows and `BLOCK` of K.
    """

    a: Any
    b: Any


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

    @staticmethod
    def exists(arch: str, dtype: str) -> bool:
        """Whether there is a matrix instruction for operands of this type."""
        return matrix_atom(arch, dtype) is not None

    @property
    def atom(self) -> MatrixAtom:
        """The matrix instruction for plain operands; ValueError where `exists` says no."""
        found = matrix_atom(self.arch, self.dtype)
        if found is None:
            raise ValueError(f"{self.arch} has no matrix instruction for operands of type {self.dtype!r}")
        return found

    @property
    def element(self) -> Any:
        """The language's type of the operands."""
        return getattr(fx, _ELEMENTS.get(self.dtype) or architecture().fp8.name)

    @property
    def pack(self) -> int:
        """Elements in 16 bytes."""
        return self.atom.pack

    @property
    def lane_pack(self) -> int:
        """Elements along K of the packs that the lanes of a row hold at once."""
        return self.atom.groups * self.pack

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
        # Where A is shared, LLVM 22 can leave a wait state too few between such a product and the next LDS read.
        pairs = self.packs % 2 == 0 and self.private
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

    def modes_of_k(self, K: int, pack: int | None = None) -> tuple[tuple[int, int], ...]:
        """K as the tiled MMA counts it: (extent, stride in memory) of modes, of which none crosses a `pack`.

        Memory's own order, but that of waves along K each has whole `BLOCK`s.
        """
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

    def schedule(self, group: int, loads: bool, fetches: bool) -> Any:
        """The order inside a group of blocks in which B is reloaded (`loads`) and A fetched (`fetches`)."""
        rows, columns = self.wave_blocks
        packs = max(1, self.depth // self.lane_pack) * self.joined
        products = rows * columns * self.halves * self.joined
        scales = rows + columns if self.scaled else 0
        if self.private:
            return fx.rocdl.interleave(mfma=products, vmem_read=((rows + columns) * packs + scales) * loads)
        moved = self.tile[0] * self.tile[2] // self.pack // self.threads if group == 0 else 0
        return fx.rocdl.interleave(
            mfma=products,
            ds_read=rows * packs if loads or group + 1 < self.groups else 0,
            ds_write=moved * loads,
            vmem_read=moved * fetches + (columns * packs + scales) * loads,
        )


def operand_layout(loop: TiledLoop, rows: int, K: int, row: Any, *, shuffled: bool) -> fx.Layout:
    """The layout of `rows` rows of K elements, `row` apart, or in the order of `shuffle_weight`.

    There a block of 16 rows holds, for every 4 packs of K, the first pack of each row, then the second ... With packs
    of 8 bytes, 2 of them, it is the order of `preshuffle_b_fp8`.
    """
    pack = loop.b_bytes // loop.atom.element_bytes if shuffled else loop.pack
    modes = loop.modes_of_k(K, pack)
    extents = tuple(extent for extent, _ in modes)
    if not shuffled:
        if len(modes) == 3:
            return fx.make_layout((rows, K), (row, 1))
        return fx.make_layout((rows, extents), (row, tuple(stride for _, stride in modes)))
    strides = tuple(stride if stride < pack else 16 * stride for _, stride in modes)
    return fx.make_layout(((16, rows // 16), extents), ((pack, 16 * row), strides))


def scale_layout(loop: TiledLoop, rows: int, K: int, shared: int, row: Any, block: Any) -> Any:
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
        tiles: A and B in memory as (rows, K of a step, steps).
        fragments: of A and B, of a step.
        sums: fragment of the results, zero.
    """

    tiled: fx.TiledMma
    mine: fx.ThrMma
    tiles: tuple[fx.Tensor, fx.Tensor]
    fragments: tuple[fx.Tensor, fx.Tensor]
    sums: fx.Tensor

    @staticmethod
    def of(loop: TiledLoop, a: fx.Tensor, b: fx.Tensor, thread: fx.Int32) -> LoopOperands:
        """See `tiled_loop` for the arguments."""
        tile_m, tile_n, tile_k = loop.tile
        tiled = loop.tiled_mma()
        mine = tiled.get_slice(thread)
        tiles_a = fx.flat_divide(a, (tile_m, tile_k))[None, None, 0, None]
        tiles_b = fx.flat_divide(b, (tile_n, tile_k))[None, None, 0, None]
        fragments = mine.make_fragment_B(tiles_a[None, None, 0]), mine.make_fragment_A(tiles_b[None, None, 0])
        sums = mine.make_fragment_C(fx.make_view(fx.get_iter(b), fx.make_layout((tile_n, tile_m), (1, tile_n))))
        sums.fill(0)
        return LoopOperands(tiled, mine, (tiles_a, tiles_b), fragments, sums)

    def results(self, loop: TiledLoop) -> dict[tuple[int, int], Any]:
        """What `tiled_loop` returns."""
        rows, columns = loop.wave_blocks
        results = loop.atom.results
        return {(m, n): self.sums[None, n, m].load().reshape(results) for m in range(rows) for n in range(columns)}


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
    tiled, mine, sums = given.tiled, given.mine, given.sums
    (tiles_a, tiles_b), (fragment_a, fragment_b) = given.tiles, given.fragments
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
    b_from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy(8 * loop.b_bytes), loop.element)

    # Memory -> fragments; B is the matrix instruction's rows.
    load_b = fx.make_tiled_copy_A(b_from_memory, tiled).get_slice(thread)
    source_b, target_b = load_b.partition_S(tiles_b), load_b.retile(fragment_b)

    scaling: Any = None if scales is None else _Scaling(loop, mine, scales)

    def multiply(group: int) -> None:
        if fx.const_expr(scaling is not None):
            scaling.multiply(tiled, sums, fragment_b, fragment_a, group)
            return
        one = (None, None, _along_k(loop, group))
        fx.gemm(tiled, sums, fragment_b[one], fragment_a[one], sums)

    def reload_b(now: Any, group: int) -> None:
        for block in loop.blocks_of(group):
            fx.copy(b_from_memory, source_b[None, None, block, now.index(1)], target_b[None, None, block])
        if fx.const_expr(scaling is not None):
            scaling.load(now.index(1), group)

    if loop.private:
        load_a = fx.make_tiled_copy_B(from_memory, tiled).get_slice(thread)
        source_a, target_a = load_a.partition_S(tiles_a), load_a.retile(fragment_a)

        def private_step(now: Any) -> None:
            for group in fx.range_constexpr(loop.groups):
                if fx.const_expr(now.has(0)):
                    multiply(group)
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
        chunks = tile_k // loop.pack

        # Rows of A in LDS are as long as all banks or a multiple; their packs change places by the number of the row.
        bits = chunks.bit_length() - 1
        room = fx.apply_swizzle(fx.recast_iter(loop.element, lds), fx.static(fx.SwizzleType.get(min(bits, 4), 4, bits)))
        staged = fx.make_view(room, fx.make_layout((tile_m, tile_k, BUFFERS), (tile_k, 1, tile_m * tile_k)))

        # Memory -> registers -> LDS: a pack a thread, threads along a row.
        across = fx.make_layout((loop.threads // chunks, chunks), (chunks, 1))
        packs = fx.make_layout((1, loop.pack), (1, 1))
        fetch = fx.make_tiled_copy_tv(from_memory, across, packs).get_slice(thread).partition_S(tiles_a)
        put = fx.make_tiled_copy_tv(through_lds, across, packs).get_slice(thread).partition_D(staged)
        fetched = [fx.make_fragment_like(fetch[None, None, None, 0]) for _ in range(2)]

        # LDS -> fragment of A.
        read_a = fx.make_tiled_copy_B(through_lds, tiled).get_slice(thread)
        source_a, target_a = read_a.partition_S(staged), read_a.retile(fragment_a)

        def read(now: Any, group: int, ahead: int) -> None:
            for block in loop.blocks_of(group):
                source = source_a[None, None, block, now.buffer(ahead, BUFFERS)]
                fx.copy(through_lds, source, target_a[None, None, block])

        def move(now: Any) -> None:
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
                multiply(group)
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

    def load(self, step: Any, group: int) -> None:
        """Ask for the scales of a group of a step."""
        along_k = group * self.loop.joined * self.loop.halves
        for source, held in zip(self.sources, self.held, strict=True):
            each = fx.logical_divide(source[0, None, along_k, step], fx.make_layout(1, 1))
            fx.copy(self.atom, each, held[None, None, group])

    def multiply(self, tiled: Any, sums: Any, b: Any, a: Any, group: int) -> None:
        """Add the products of a group, each begun from nothing, times their scales to the sums."""
        columns, rows = (held.shape[1].unpack() for held in reversed(self.held))
        row_scales, column_scales = (held[0, None, group].load() for held in self.held)
        halves = range(self.loop.halves)
        each = [_along_k(self.loop, block, half) for block in self.loop.blocks_of(group) for half in halves]
        waiting: list[tuple[Any, Any, Any]] = []

        def finish() -> None:
            total, product, scale = waiting.pop(0)
            total.store(total.load() + product.load() * scale)

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

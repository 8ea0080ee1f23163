# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts: tiled copies bring fragments, a tiled MMA multiplies them.

A goes from memory through registers into one of two LDS buffers and from there to all waves; B goes straight into the
fragments of the waves that own its columns. K goes by in steps, a step in blocks of one pack of 16 bytes a lane. While
a wave multiplies block k of step t it

- reads block k + 1 of A from LDS; the first block of step t + 1 while the last of step t is multiplied,
- reloads block k of B, when it has been multiplied, with the same block of step t + 1,
- in the first block, writes A of step t + 1 to LDS and loads that of step t + 2.

One barrier a step, before its last block: all waves have then read what they need of step t, and written step t + 1.
How these accesses lie between the matrix instructions is a `fx.rocdl.Schedule`; waits are the compiler's.

The product is C transposed, B being the rows of the matrix instruction: so a lane holds neighbouring columns of C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arch import architecture
from ..language import fx
from .instructions import PACK_BYTES

__all__ = ["BUFFERS", "TiledLoop", "operand_layout", "tiled_loop"]

BUFFERS = 2  # of A in LDS
_ELEMENTS = {"fp16": "Float16", "bf16": "BFloat16", "int8": "Int8"}
# Extent along K of the 16 x 16 x K instruction, of which a lane has a quarter: half a pack, or all of it.
_ATOMS = {
    ("gfx942", "fp16"): 16,
    ("gfx942", "bf16"): 16,
    ("gfx942", "fp8"): 32,
    ("gfx942", "int8"): 32,
    ("gfx950", "fp16"): 32,
    ("gfx950", "bf16"): 32,
    ("gfx950", "int8"): 64,
}


@dataclass(frozen=True)
class TiledLoop:
    """What the main loop of a tile is made of.

    Attributes:
        arch, dtype: of the operands, which name the matrix instruction; see `exists`.
        tile: rows and columns of C that a workgroup computes, elements of K in a step (128 or 256 bytes).
        steps: how many of these, 2 or more.
        waves: their grid, (along M, along N).
        scheduled: interleave memory accesses with matrix instructions; else the compiler orders all.
    """

    arch: str
    dtype: str
    tile: tuple[int, int, int]
    steps: int
    waves: tuple[int, int]
    scheduled: bool = True

    @staticmethod
    def exists(arch: str, dtype: str) -> bool:
        """Whether there is a matrix instruction for operands of this type."""
        return (arch, dtype) in _ATOMS

    @property
    def element(self) -> Any:
        """The language's type of the operands."""
        return getattr(fx, _ELEMENTS.get(self.dtype) or architecture().fp8)

    @property
    def pack(self) -> int:
        """Elements in 16 bytes."""
        return PACK_BYTES * 8 // int(self.element.width)

    @property
    def blocks(self) -> int:
        """Blocks of K in a step."""
        return self.tile[2] // (4 * self.pack)

    @property
    def halves(self) -> int:
        """Matrix instructions that a pack feeds."""
        return 4 * self.pack // _ATOMS[self.arch, self.dtype]

    @property
    def looped(self) -> int:
        """Steps that the run-time loop does: an even number of those that are followed by two others."""
        return (self.steps - 2) // BUFFERS * BUFFERS

    def tiled_mma(self) -> Any:
        """The matrix instruction over all waves, which take turns in blocks of 16 rows and of 16 columns.

        Where a pack feeds two instructions K is permuted, so that the first takes the first half of each lane's pack.
        """
        depth = _ATOMS[self.arch, self.dtype]
        half = self.pack // self.halves
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, depth, self.element))
        along_m, along_n = self.waves
        # Permuting M or N as well, for neighbouring blocks, would put them before the halves of a pack.
        pairs = fx.make_layout((half, 4, 2), (1, self.pack, half)) if self.halves == 2 else None
        return fx.make_tiled_mma(atom, fx.make_layout((along_n, along_m, 1), (1, along_n, 0)), (None, None, pairs))

    def schedule(self, block: int, loads: bool, fetches: bool) -> Any:
        """The order inside a block of a step in which B is reloaded (`loads`) and A fetched (`fetches`)."""
        rows, columns = self.tile[0] // (16 * self.waves[0]), self.tile[1] // (16 * self.waves[1])
        chunks = self.tile[0] * self.tile[2] // self.pack
        moved = chunks // (64 * self.waves[0] * self.waves[1]) if block == 0 else 0
        return fx.rocdl.interleave(
            mfma=rows * columns * self.halves,
            ds_read=rows if loads or block + 1 < self.blocks else 0,
            ds_write=moved * loads,
            vmem_read=moved * fetches + columns * loads,
        )


def operand_layout(rows: int, K: int, row: Any, pack: int, *, shuffled: bool) -> Any:
    """The layout of `rows` rows of K elements, `row` apart, or in the order of `shuffle_weight`.

    There a block of 16 rows holds, for every 4 packs of K, the first pack of each row, then the second ...
    """
    if not shuffled:
        return fx.make_layout((rows, K), (row, 1))
    block = 4 * pack
    return fx.make_layout(((16, rows // 16), (pack, 4, K // block)), ((pack, 16 * row), (1, 16 * pack, 16 * block)))


def tiled_loop(loop: TiledLoop, a: Any, b: Any, lds: Any, thread: Any, looped: Any) -> dict[tuple[int, int], Any]:
    """The sums of a wave: 4 of a lane for each (row block, column block).

    Value i is row (lane mod 16) of the row block, column 4 (lane // 16) + i of the column block. Blocks (m, n) of wave
    (i, j) are row block m * waves[0] + i and column block n * waves[1] + j of the tile.

    Args:
        loop: the geometry.
        a: buffer tensor (tile_m, K), where rows that do not exist are past its end.
        b: buffer tensor (tile_n, K), likewise.
        lds: pointer to room for `BUFFERS` steps of A.
        thread: index in the workgroup.
        looped: `loop.looped` as a run-time value: a loop whose length the compiler knows it may well unroll.
    """
    tile_m, tile_n, tile_k = loop.tile
    threads, blocks = 64 * loop.waves[0] * loop.waves[1], loop.blocks
    chunks = tile_k // loop.pack
    tiled = loop.tiled_mma()
    mine = tiled.get_slice(thread)
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), loop.element)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
    tiles_a = fx.flat_divide(a, (tile_m, tile_k))[None, None, 0, None]
    tiles_b = fx.flat_divide(b, (tile_n, tile_k))[None, None, 0, None]

    # Rows of A in LDS are as long as all banks or twice that; their packs change places by the number of the row.
    bits = chunks.bit_length() - 1
    room = fx.apply_swizzle(fx.recast_iter(loop.element, lds), fx.static(fx.SwizzleType.get(bits, 4, bits)))
    staged = fx.make_view(room, fx.make_layout((tile_m, tile_k, BUFFERS), (tile_k, 1, tile_m * tile_k)))

    # Memory -> registers -> LDS: a pack a thread, threads along a row.
    across, packs = fx.make_layout((threads // chunks, chunks), (chunks, 1)), fx.make_layout((1, loop.pack), (1, 1))
    fetch = fx.make_tiled_copy_tv(from_memory, across, packs).get_slice(thread).partition_S(tiles_a)
    put = fx.make_tiled_copy_tv(through_lds, across, packs).get_slice(thread).partition_D(staged)
    fetched, first = (fx.make_fragment_like(fetch[None, None, None, 0]) for _ in range(2))

    # LDS -> fragment of A, memory -> fragment of B; B is the matrix instruction's rows.
    read_a = fx.make_tiled_copy_B(through_lds, tiled).get_slice(thread)
    load_b = fx.make_tiled_copy_A(from_memory, tiled).get_slice(thread)
    fragment_a, fragment_b = mine.make_fragment_B(staged[None, None, 0]), mine.make_fragment_A(tiles_b[None, None, 0])
    source_a, target_a = read_a.partition_S(staged), read_a.retile(fragment_a)
    source_b, target_b = load_b.partition_S(tiles_b), load_b.retile(fragment_b)
    sums = mine.make_fragment_C(fx.make_view(fx.get_iter(b), fx.make_layout((tile_n, tile_m), (1, tile_n))))
    sums.fill(0)

    def step(at: Any, buffer: int, loads: bool, fetches: bool) -> None:
        for block in fx.range_constexpr(blocks):
            last = block + 1 == blocks
            if fx.const_expr(last):
                fx.barrier()
            if fx.const_expr(loads or not last):
                following, where = (0, 1 - buffer) if last else (block + 1, buffer)
                fx.copy(through_lds, source_a[None, None, following, where], target_a[None, None, following])
            if fx.const_expr(loads and block == 0):
                fx.copy(through_lds, fetched, put[None, None, None, 1 - buffer])
            if fx.const_expr(fetches and block == 0):
                fx.copy(from_memory, fetch[None, None, None, at + 2], fetched)
            one = (None, None, (None, block) if loop.halves == 2 else block)
            fx.gemm(tiled, sums, fragment_b[one], fragment_a[one], sums)
            if fx.const_expr(loads):
                fx.copy(from_memory, source_b[None, None, block, at + 1], target_b[None, None, block])
            if fx.const_expr(loop.scheduled):
                loop.schedule(block, loads, fetches).apply()

    # Loads before the loop have the order of those in it: the compiler's waits inside are then the same for both ways
    # into an iteration.
    fx.copy(from_memory, fetch[None, None, None, 0], first)
    fx.rocdl.sched_barrier(0)
    fx.copy(from_memory, fetch[None, None, None, 1], fetched)
    for block in fx.range_constexpr(blocks):
        fx.copy(from_memory, source_b[None, None, block, 0], target_b[None, None, block])
        fx.rocdl.sched_barrier(0)
    fx.copy(through_lds, first, put[None, None, None, 0])
    fx.barrier()
    fx.copy(through_lds, source_a[None, None, 0, 0], target_a[None, None, 0])
    if fx.const_expr(loop.looped):
        for at in range(fx.Int32(0), looped, BUFFERS):
            for buffer in fx.range_constexpr(BUFFERS):
                step(at + buffer, buffer, True, True)
    for at in fx.range_constexpr(loop.looped, loop.steps):
        step(at, at % BUFFERS, at + 1 < loop.steps, at + 2 < loop.steps)
    rows, columns = tile_m // (16 * loop.waves[0]), tile_n // (16 * loop.waves[1])
    return {(m, n): sums[None, n, m].load().reshape(4) for m in range(rows) for n in range(columns)}

# SPDX-License-Identifier: Apache-2.0
"""What the main loop of a GEMM works on besides the tiles of A and B: scales of parts of K, and LDS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..common.language import fx
from ..common.mma.instructions import PACK_BYTES
from ..common.mma.lds_ways import BUFFERS
from ..common.mma.loop_plan import TiledLoop
from ..common.mma.mx_large_tile_loop import MxLargeTile
from ..common.mma.operand_scales import BLOCK, Scales, mx_scale_layout, scale_layout, spread_scale_layout
from ..common.mma.quadrant_loop import QuadrantLoop
from ..common.mma.scaled_quadrant_loop import ScaledQuadrantLoop
from ..common.mma.tile_plan import TilePlan
from ..common.utils import cdiv
from .arguments import tile_tensor

if TYPE_CHECKING:
    from .tile_spec import TileGemm

__all__ = ["large_tile_sums", "lds_buffers", "loop_scales", "quadrant_sums", "scaled_quadrant_sums"]

_PAIR = 32  # rows whose E8M0 scales share words


def loop_scales(
    gemm: TileGemm,
    loop: TiledLoop,
    extras: Mapping[str, fx.Tensor | fx.Pointer],
    first_row: fx.Int32,
    first_column: fx.Int32,
    row_tile: fx.Int32,
    part: int | fx.Int32,
    M: fx.Int32,
) -> Scales | None:
    """The scales of parts of K of a tile that begins at `first_row` and `first_column`, from K `part` on; None where
    there are none."""
    if gemm.block_scaled:
        part_k = gemm.K // gemm.split_k
        blocks, skipped = gemm.K // BLOCK, part * (part_k // BLOCK)
        down = fx.Int64(skipped) * M + first_row
        across = first_column // BLOCK * blocks + skipped
        end_a, end_b = fx.Int64(blocks) * M, cdiv(gemm.N, BLOCK) * blocks
        if loop.spreads_scales:
            a_scales = spread_scale_layout(loop, part_k // BLOCK, M)
        else:
            a_scales = scale_layout(loop, gemm.tile_m, part_k, 1, 1, M)
        b_scales = scale_layout(loop, gemm.tile_n, part_k, BLOCK, blocks, 1)
        return Scales(
            tile_tensor(extras["scale_a"], fx.Float32, down, 4, (end_a - down) * 4, 0, a_scales),
            tile_tensor(extras["scale_b"], fx.Float32, across, 4, (end_b - across) * 4, 0, b_scales),
        )
    if not gemm.b_mx or gemm.unit_scales:
        return None
    words = cdiv(gemm.K, 2 * BLOCK)  # of a lane along K
    operands = ("scale_a", first_row, M, gemm.tile_m), ("scale_b", first_column, gemm.N, gemm.tile_n)
    both = []
    for which, first, count, extent in operands:
        pair, end = first // 32, fx.Int64(cdiv(count, 32))
        layout = mx_scale_layout(loop, extent, gemm.K, words)
        size = (end - pair) * (words * 256)
        both.append(tile_tensor(extras[which], fx.Int32, pair, words * 256, size, 0, layout))
    return Scales(both[0], both[1], a_odd=row_tile % 2)


def large_tile_sums(
    gemm: TileGemm,
    loop: TiledLoop,
    A: fx.Tensor | fx.Pointer,
    B: fx.Tensor | fx.Pointer,
    extras: Mapping[str, fx.Tensor | fx.Pointer],
    of_a: tuple[Any, ...],
    of_b: tuple[Any, ...],
    M: fx.Int32,
    thread: fx.Int32,
    looped: fx.Int32,
) -> dict[tuple[int, int], fx.Vector]:
    """The sums of the main loop of large tiles; (first row, bytes of a row, bytes to the end) of A and of B."""
    large, words = MxLargeTile(loop), cdiv(gemm.K, 2 * BLOCK)
    operands, scales = [], []
    for tensor, which, extent, (first, row, end), count in (
        (A, "scale_a", gemm.tile_m, of_a, M), (B, "scale_b", gemm.tile_n, of_b, gemm.N)
    ):  # fmt: skip
        layout_of = large.operand_layout(extent, row, shuffled=gemm.shuffled and tensor is B)
        operands.append(tile_tensor(tensor, loop.element, first, row, end, 0, layout_of))
        pair, last = first // 32, cdiv(count, 32)
        size = (fx.Int64(last) - pair) * (words * 256)
        layout = fx.make_layout((64, words, extent // 32), (1, 64, 64 * words))
        scales.append(tile_tensor(extras[which], fx.Int32, pair, words * 256, size, 0, layout))
    allocator = fx.SharedAllocator()
    chunks = large.buffer_bytes // PACK_BYTES
    lds = [allocator.allocate(fx.Array[fx.Int128, chunks]).peek().ptr for _ in range(BUFFERS)]
    return large.run(operands[0], operands[1], lds, thread, looped, Scales(*scales))


def quadrant_sums(
    gemm: TileGemm,
    loop: TiledLoop,
    A: fx.Tensor | fx.Pointer,
    B: fx.Tensor | fx.Pointer,
    of_a: tuple[Any, ...],
    of_b: tuple[Any, ...],
    rooms: tuple[fx.Pointer, ...],
    thread: fx.Int32,
    looped: fx.Int32,
) -> dict[tuple[int, int], fx.Vector]:
    """The sums of the main loop in quadrants; (first row, bytes of a row, bytes to the end, first byte) of A and B, and
    its `quadrant_rooms`."""
    quadrant, operands = QuadrantLoop(loop), []
    for operand, (tensor, (first, row, end, start)) in enumerate(((A, of_a), (B, of_b))):
        shuffled = gemm.shuffled and operand == 1
        layout = quadrant.operand_layout(operand, row // loop.atom.element_bytes, shuffled=shuffled)
        operands.append(tile_tensor(tensor, loop.element, first, row, end - start, start, layout))
    return quadrant.run(operands[0], operands[1], rooms, thread, looped)


def scaled_quadrant_sums(
    gemm: TileGemm,
    loop: TiledLoop,
    A: fx.Tensor | fx.Pointer,
    B: fx.Tensor | fx.Pointer,
    extras: Mapping[str, fx.Tensor | fx.Pointer],
    of_a: tuple[Any, ...],
    of_b: tuple[Any, ...],
    part: int | fx.Int32,
    M: fx.Int32,
    rooms: tuple[fx.Pointer, ...],
    thread: fx.Int32,
    looped: fx.Int32,
) -> dict[tuple[int, int], fx.Vector]:
    """The sums of the main loop in quadrants with scales of parts of K, from K `part` on; A, B and LDS as above."""
    quadrant, operands, scales = ScaledQuadrantLoop(loop), [], []
    blocks, words = gemm.K // BLOCK, cdiv(gemm.K, 2 * BLOCK)
    skipped = part * (blocks // gemm.split_k)
    rows: tuple[fx.Int32 | int, ...] = M, gemm.N
    for operand, (tensor, which, (first, row, end, start)) in enumerate(((A, "scale_a", of_a), (B, "scale_b", of_b))):
        layout = quadrant.operand_layout(operand, row, shuffled=gemm.shuffled and operand == 1)
        element = loop.b_element if operand else loop.element
        operands.append(tile_tensor(tensor, element, first, row, end - start, start, layout))
        extent = loop.tile[operand]
        if gemm.b_mx:
            pair, last = first // _PAIR, cdiv(rows[operand], _PAIR)
            size = (fx.Int64(last) - pair) * (words * 256)
            layout = fx.make_layout((64, words, extent // _PAIR), (1, 64, 64 * words))
            scales.append(tile_tensor(extras[which], fx.Int32, pair, words * 256, size, 0, layout))
            continue
        if operand:
            begin, size = first // BLOCK * blocks + skipped, cdiv(gemm.N, BLOCK) * blocks
            layout = fx.make_layout((extent // BLOCK, loop.steps), (blocks, 1))
        else:
            begin, size = fx.Int64(skipped) * M + first, fx.Int64(blocks) * M
            layout = fx.make_layout((extent, loop.steps), (1, M))
        scales.append(tile_tensor(extras[which], fx.Float32, begin, 4, (size - begin) * 4, 0, layout))
    return quadrant.run(operands[0], operands[1], rooms, thread, looped, Scales(*scales))


def quadrant_rooms(loop: TiledLoop) -> tuple[fx.Pointer, ...]:
    """The LDS of a loop in quadrants: two rooms for each buffer, and what scales have.

    Each has a symbol of its own: what is read next then waits for no loads to another.
    """
    if loop.scaled or loop.b_mx:
        sizes = ScaledQuadrantLoop(loop).lds_chunks()
    else:
        sizes = (QuadrantLoop(loop).lds_chunks(),) * (2 * BUFFERS)
    allocator = fx.SharedAllocator()
    return tuple([allocator.allocate(fx.Array[fx.Int128, chunks]).peek().ptr for chunks in sizes])


def lds_buffers(plan: TilePlan, tiled: TiledLoop, store_chunks: int) -> tuple[fx.Pointer, ...]:
    """Pointers to 16-byte chunks, one for each buffer of A, the first also for the exchange of sums and results.

    Loads that go directly to LDS need a symbol for each buffer: only then does the compiler know that reads of one need
    not wait for what arrives in the other. Otherwise one symbol is better: offsets from its start are never negative,
    so instructions can have them.
    """
    allocator = fx.SharedAllocator()
    if plan.direct:
        first_chunks = max(plan.buffer_chunks, plan.sum_chunks, store_chunks)
        sizes = [first_chunks, *[plan.buffer_chunks] * (plan.buffers - 1)]
        # The swizzle goes by addresses, and who fills a buffer by places in it.
        aligned, arrays = 16 * plan.chunks * PACK_BYTES, [fx.Array[fx.Int128, size] for size in sizes]
        return tuple([allocator.allocate(one, aligned).peek().ptr for one in arrays])
    chunks = max(plan.lds_bytes // PACK_BYTES, store_chunks)
    if chunks == 0:
        return ()
    first = allocator.allocate(fx.Array[fx.Int128, chunks]).peek().ptr
    return tuple([first + one * plan.buffer_chunks for one in range(plan.buffers)])

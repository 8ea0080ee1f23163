# SPDX-License-Identifier: Apache-2.0
"""The main loop of a GEMM in layouts whose operands the tensor data mover brings to LDS (gfx1250).

Each of several LDS buffers holds a step of K of both operands, rows padded by 16 bytes or what the staging says. At
step t every wave waits until its parts of step t have arrived, and at a barrier until those of all others have, which
then also have read step t - 1; asks for its parts of the step that takes the buffer of that one; and multiplies. What
lies beyond the last row of an operand arrives as zeros. Fragments of a whole step are in registers, of which a lane has
1,024 here; the compiler orders reads and products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..language import fx
from .tiled_loop import LoopOperands, TiledLoop

__all__ = ["MovedOperand", "moved_bytes", "pipeline_of", "tdm_loop"]


@dataclass(frozen=True)
class MovedOperand:
    """An operand in memory, (rows, K) with K contiguous.

    Attributes:
        pointer: its first element.
        first_row: of the tile.
        rows: that there are, counted from the operand's first.
        apart: elements from one row to the next.
    """

    pointer: Any
    first_row: Any
    rows: Any
    apart: Any


def moved_bytes(loop: TiledLoop, buffers: int) -> int:
    """LDS of `tdm_loop`."""
    if loop.staging is None:
        raise TypeError("tdm_loop takes a loop with a staging")
    elements = sum(loop.staging.elements(which, loop.tile[which], loop.tile[2]) for which in range(2))
    return buffers * elements * loop.atom.element_bytes


def pipeline_of(loop: TiledLoop, buffers: int) -> fx.Pipeline:
    """How steps overlap: transfers are `buffers` - 1 ahead."""
    return fx.Pipeline(loop.steps, ahead=buffers - 1, unroll=buffers)


def tdm_loop(
    loop: TiledLoop,
    operands: tuple[MovedOperand, MovedOperand],
    shapes: tuple[fx.Tensor, fx.Tensor],
    lds: fx.Pointer,
    thread: fx.Int32,
    looped: fx.Int32,
    buffers: int,
    prefetched: int = 0,
) -> dict[tuple[int, int], fx.Vector]:
    """What `tiled_loop` says.

    Args:
        loop: the geometry, with a staging of padded rows.
        operands: A and B in memory.
        shapes: tensors (tile rows, K) of A and of B, of which only the shapes count.
        lds: pointer to room for `moved_bytes`.
        thread: index in the workgroup.
        looped: `pipeline_of(...).looped` as a run-time value.
        buffers: LDS buffers, two or more.
        prefetched: how many steps ahead of a transfer its lines are asked for into L2; 0 for none.
    """
    staging = loop.staging
    if staging is None:
        raise TypeError("tdm_loop takes a loop with a staging")
    given, depth, size = LoopOperands.of(loop, *shapes, thread), loop.tile[2], loop.atom.element_bytes
    tiled, sums = given.tiled, given.sums
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), loop.element)
    waves, mover = loop.waves[0] * loop.waves[1], fx.rocdl.tdm_ops
    pointer, starts, ways = fx.recast_iter(loop.element, lds), [], []
    for which, reader in enumerate((fx.make_tiled_copy_B, fx.make_tiled_copy_A)):  # B is the instruction's rows
        rows = loop.tile[which]
        staged = fx.make_view(pointer, staging.layout(which, rows, depth, loop.pack, buffers))
        read = reader(through_lds, tiled).get_slice(thread)
        ways.append((read.partition_S(staged), read.retile(given.fragments[which])))
        starts.append(pointer)
        pointer = pointer + buffers * staging.elements(which, rows, depth)

    def ask(now: Any) -> None:
        first = now.index(buffers - 1) * depth
        for which, operand in enumerate(operands):
            pad = staging.pads[which]
            moved = staging.elements(which, loop.tile[which], depth) * size
            tile = loop.tile[which], depth
            descriptor = mover.make_tensor_descriptor_2d(
                operand.pointer, starts[which], (operand.first_row, first), (operand.rows, loop.steps * depth),
                (operand.apart, 1), tile, elem_bytes=size, pad_interval=depth if pad else 0, pad_amount=pad,
                num_warps=waves, lds_byte_offset=now.buffer(buffers - 1, buffers) * moved,
            )  # fmt: skip
            mover.tensor_load_2d(descriptor)
            if fx.const_expr(prefetched > 0):
                later = fx.min(fx.Int32(first) + prefetched * depth, (loop.steps - 1) * depth)
                mover.l2_prefetch_tile(
                    operand.pointer, (operand.first_row, later), tile, (operand.apart, 1), size,
                    block_threads=loop.threads,
                )  # fmt: skip

    def step(now: Any) -> None:
        if fx.const_expr(now.has(0)):
            mover.tensor_wait(len(operands) * sum(now.has(later) for later in range(1, buffers - 1)))
            fx.barrier()
        if fx.const_expr(now.has(buffers - 1)):
            ask(now)
        if fx.const_expr(now.has(0)):
            for source, target in ways:
                for block in fx.range_constexpr(loop.blocks):
                    fx.copy(through_lds, source[None, None, block, now.buffer(0, buffers)], target[None, None, block])
            for block in fx.range_constexpr(loop.blocks):
                a, b = given.fragments
                fx.gemm(tiled, sums, b[None, None, block], a[None, None, block], sums)

    pipeline_of(loop, buffers).run(step, looped)
    return given.results(loop)

# SPDX-License-Identifier: Apache-2.0
"""The way of a wave's output from matrix registers to memory.

On chips of waves of 64 a lane has, of one query row and 32 elements of the head, four times four neighbours; stored as
they are they would be pieces of 8 bytes (16 of f32). A wave turns 32 x 32 elements at a time in LDS of its own, between
the tiling of the accumulator and one of 16 bytes a lane along the rows: whole transactions. No barrier is needed, since
no other wave touches that memory.

The 16-byte pieces of a row of LDS change places by the row's number, so that reads meet no bank twice in a phase, and
writes two lanes a bank.

On chips of waves of 32 a lane has eight neighbours, and stores them as they are.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from .matrix import geometry

_PIECE_BITS = 128


def output_elements(output: Any) -> int:
    """How many elements of 16 bits of LDS a wave needs for an output of this type."""
    return geometry().tile ** 2 * int(output.width) // 16 if _turns() else 0


def _turns() -> bool:
    """Whether a tile passes through LDS."""
    return geometry().lanes == 64


class OutputStore:
    """Stores blocks of as many rows and elements of the head as a matrix instruction has.

    Args:
        lds: pointer to the wave's LDS, of the output's type.
        lane: the lane.
        product: the tiled MMA of which O^T is the accumulator.
        output: the type of what is stored, of 16 bits or f32.
    """

    def __init__(self, lds: fx.Pointer, lane: fx.Int32, product: fx.TiledMma, output: Any) -> None:
        self._turns = _turns()
        if not self._turns:
            whole = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), output)
            self._store = fx.make_tiled_copy_C(whole, product).get_slice(lane)
            return
        tile, lanes = geometry().tile, geometry().lanes
        piece = _PIECE_BITS // output.width
        pieces = tile // piece
        swizzle = fx.static(fx.SwizzleType.get(pieces.bit_length() - 1, 4, 3))  # rows of 128 bytes, or two of 64
        room = fx.apply_swizzle(lds, swizzle)
        block = fx.make_view(room, fx.make_layout((tile, tile), (1, tile)))  # (elements of the head, rows)
        four = fx.make_copy_atom(fx.UniversalCopy(4 * output.width), output)
        put = fx.make_tiled_copy_C(four, product).get_slice(lane)
        along_rows = fx.make_layout((pieces, lanes // pieces), (1, pieces)), fx.make_layout((piece, 1), (1, 1))
        get, store = (
            fx.make_tiled_copy_tv(fx.make_copy_atom(operation, output), *along_rows).get_slice(lane)
            for operation in (fx.UniversalCopy128b(), fx.rocdl.BufferCopy128b())
        )
        self._put, self._get, self._store = put, get, store
        self._written, self._read = put.partition_D(block), get.partition_S(block)

    def store(self, values: fx.Vector, block: fx.Tensor) -> None:
        """Store a wave's accumulators of one tile, a Vector, to `block`, a buffer tensor (elements, rows).

        Rows past the end of the buffer are not written.
        """
        target = self._store.partition_D(block)
        if not self._turns:
            kept = fx.make_fragment_like(target)
            kept.store(values)
            fx.copy(self._store.tiled_copy, kept, target)
            return
        held, turned = fx.make_fragment_like(self._written), fx.make_fragment_like(self._read)
        held.store(values)
        fx.copy(self._put.tiled_copy, held, self._written)
        fx.copy(self._get.tiled_copy, self._read, turned)
        fx.copy(self._store.tiled_copy, turned, target)

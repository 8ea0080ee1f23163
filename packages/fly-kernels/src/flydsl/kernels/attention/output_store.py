# SPDX-License-Identifier: Apache-2.0
"""The way of a wave's output from matrix registers to memory.

A lane has, of one query row and 32 elements of the head, four times four neighbours; stored as they are they would be
pieces of 8 bytes. A wave turns 32 x 32 elements at a time in LDS of its own, and stores 16 bytes a lane, 64
neighbouring bytes of a row: whole transactions. No barrier is needed, since no other wave touches that memory.

Rows of LDS have 64 bytes, and their 16-byte pieces are exchanged by the row's number, so that reads meet no bank twice
in a phase, and writes two lanes a bank.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from .matrix import FRAGMENT, TILE

ELEMENTS = TILE * TILE  # of LDS, per wave
_PIECES = TILE // FRAGMENT  # 16-byte pieces of a row


def _swizzled(row: Any, piece: Any) -> Any:
    return row * TILE + (piece ^ (row // 2 % _PIECES)) * FRAGMENT


class OutputStore:
    """Stores blocks of 32 rows by 32 elements.

    Args:
        lds: LDS of this wave, `ELEMENTS` elements.
        lane: the lane.
        resource: the buffer resource of the output; rows past its end are not written.
        row_bytes: bytes from row to row.
    """

    def __init__(self, lds: Any, lane: Any, resource: Any, row_bytes: int) -> None:
        self._resource, self._row_bytes = resource, row_bytes
        column, half = lane % TILE, lane // TILE
        self._written = [lds + (_swizzled(column, fx.Int32(part)) + half * 4) for part in range(_PIECES)]
        self._row, piece = lane // _PIECES, lane % _PIECES
        self._piece_bytes = piece * 16
        self._rows = TILE // (64 // _PIECES)
        self._read = [lds + _swizzled(self._row + 16 * part, piece) for part in range(self._rows)]

    def store(self, values: Any, row0: Any, offset: Any) -> None:
        """Store a lane's 16 values of rows `row0` to `row0` + 31; `offset` is that of the elements within a row."""
        for part in range(_PIECES):
            self._written[part].store(values.shuffle(values, list(range(4 * part, 4 * part + 4))))
        kind: Any = fx.VectorAlias(values.dtype, FRAGMENT)
        for part in range(self._rows):
            piece = self._read[part].load(kind).bitcast(fx.Int32)
            at = (row0 + self._row + 16 * part) * self._row_bytes + self._piece_bytes + offset
            fx.rocdl.raw_ptr_buffer_store(piece, self._resource, at)

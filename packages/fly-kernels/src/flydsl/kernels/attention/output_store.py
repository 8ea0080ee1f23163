# SPDX-License-Identifier: Apache-2.0
"""The way of a wave's output from matrix registers to memory.

A lane has, of one query row and 32 elements of the head, four times four neighbours; stored as they are they would be
pieces of 8 bytes. A wave turns 32 x 32 elements at a time in LDS of its own, and stores 16 bytes a lane, 64
neighbouring bytes of a row: whole transactions. No barrier is needed, since no other wave touches that memory.

Partial outputs are f32: 32 x 16 elements at a time, the same bytes.

Rows of LDS have 64 bytes, and their 16-byte pieces are exchanged by the row's number, so that reads meet no bank twice
in a phase, and writes two lanes a bank.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from .matrix import FRAGMENT, TILE

ELEMENTS = TILE * TILE  # of LDS, per wave
_PIECES = TILE // FRAGMENT  # 16-byte pieces of a row
_PIECE_BYTES = 16


def _swizzled(row: Any, piece: Any) -> Any:
    return row * TILE + (piece ^ (row // 2 % _PIECES)) * FRAGMENT


class OutputStore:
    """Stores blocks of 32 rows by 32 elements.

    Args:
        lds: LDS of this wave, `ELEMENTS` elements of 16 bits.
        lane: the lane.
        resource: the buffer resource of the output; rows past its end are not written.
        row_bytes: bytes from row to row.
    """

    def __init__(self, lds: Any, lane: Any, resource: Any, row_bytes: int) -> None:
        self._resource, self._row_bytes = resource, row_bytes
        column, half = lane % TILE, lane // TILE
        self._written = [lds + (_swizzled(column, fx.Int32(part)) + half * 4) for part in range(_PIECES)]
        self._written_f32 = [lds + _swizzled(column, half + part) for part in (0, 2)]
        self._row, piece = lane // _PIECES, lane % _PIECES
        self._piece_bytes = piece * _PIECE_BYTES
        self._rows = TILE // (64 // _PIECES)
        self._read = [lds + _swizzled(self._row + 16 * part, piece) for part in range(self._rows)]

    def store(self, values: Any, row0: Any, offset: Any) -> None:
        """Store a lane's 16 values of rows `row0` to `row0` + 31; `offset` is that of the elements within a row.

        The values are of the output's type, of 16 bits or f32.
        """
        if values.dtype is not fx.Float32:
            for part in range(_PIECES):
                self._written[part].store(values.shuffle(values, list(range(4 * part, 4 * part + 4))))
            self._store_turned(row0, offset)
            return
        for part in (0, 1):
            for piece, place in enumerate(self._written_f32):
                start = 8 * part + 4 * piece
                words = values.shuffle(values, list(range(start, start + 4))).bitcast(fx.Int32)
                fx.recast_iter(fx.Int32, place).store(words)
            self._store_turned(row0, offset + part * (_PIECES * _PIECE_BYTES))

    def _store_turned(self, row0: Any, offset: Any) -> None:
        """Store 64 bytes of each of the 32 rows, as they lie in LDS."""
        kind: Any = fx.VectorAlias(fx.Int32, _PIECE_BYTES // 4)
        for part in range(self._rows):
            piece = fx.recast_iter(fx.Int32, self._read[part]).load(kind)
            at = (row0 + self._row + 16 * part) * self._row_bytes + self._piece_bytes + offset
            fx.rocdl.raw_ptr_buffer_store(piece, self._resource, at)

# SPDX-License-Identifier: Apache-2.0
"""What is added to the scores, bias and ALiBi: where the accumulators of Q K^T begin.

So neither costs an addition: the first matrix instruction takes them as its third operand. Both are divided by the
softmax scale, with which the scores are multiplied afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.language import fx
from .matrix import TILE
from .online_softmax import key_of
from .variant import AttentionVariant

_VALUES = 16  # of a lane, of 32 keys
_BYTES = 2  # of an element of the bias


class ScoreTerms:
    """The terms of one wave's rows.

    Args:
        variant: which terms there are.
        element: the type of the bias.
        inverse_scale: 1 / softmax scale.
        bias: the buffer resource of the bias of this sequence, or None.
        pitch: elements from row to row of the bias.
        slope: the head's slope of ALiBi, or None.
        shift: a query row r stands at key r + shift.
        rows: the row of the lane, for each query block.
        half: the half of the wave.
        kv_tile: keys of a tile.
    """

    def __init__(
        self,
        variant: AttentionVariant,
        element: Any,
        inverse_scale: float,
        *,
        bias: Any,
        pitch: Any,
        slope: Any,
        shift: Any,
        rows: list[Any],
        half: Any,
        kv_tile: int,
    ) -> None:
        self._variant, self._element, self._inverse_scale = variant, element, inverse_scale
        self._bias, self._shift, self._rows, self._half, self._kv_tile = bias, shift, rows, half, kv_tile
        self._factor = None if slope is None else slope * -inverse_scale
        self._offsets = [(row * pitch + half * 4) * _BYTES for row in rows] if variant.bias else []

    def of(self, tile: Any) -> Callable[[int, int], Any]:
        """The terms of a tile: a function of query block and key block, 16 f32 a lane as the scores lie."""
        first_key = tile * self._kv_tile

        def begin(block: int, key_block: int) -> Any:
            values = fx.full(_VALUES, 0.0, fx.Float32)
            if self._variant.bias:
                values = self._loaded(block, key_block, first_key) * self._inverse_scale
            if self._factor is not None:
                at = (self._rows[block] + self._shift - first_key - self._half * 4).to(fx.Float32)
                distances = [fx.absf(at - float(key_block * TILE + key_of(v))) for v in range(_VALUES)]
                values = values + fx.Vector.from_elements(distances) * self._factor
            return values

        return begin

    def _loaded(self, block: int, key_block: int, first_key: Any) -> Any:
        """The bias of 32 keys in f32; rows past the end have 0, keys past the end what follows in memory."""
        tile_bytes, lanes = fx.rocdl.readfirstlane(first_key * _BYTES), []
        for v in range(0, _VALUES, self._variant.bias_load):
            at = self._offsets[block] + (key_block * TILE + key_of(v)) * _BYTES
            if self._variant.bias_load == 1:
                bits = fx.Int16(fx.rocdl.raw_ptr_buffer_load(fx.Int16.ir_type, self._bias, at, tile_bytes))
                lanes.append(bits.bitcast(self._element).to(fx.Float32))
            else:
                kind = fx.Vector.make_type(2, fx.Int32)
                words = fx.Vector(fx.rocdl.raw_ptr_buffer_load(kind, self._bias, at, tile_bytes))
                lanes += list(words.bitcast(self._element).to(fx.Float32))
        return fx.Vector.from_elements(lanes)

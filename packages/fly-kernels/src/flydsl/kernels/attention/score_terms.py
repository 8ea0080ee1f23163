# SPDX-License-Identifier: Apache-2.0
"""What is added to the scores, bias and ALiBi: where the accumulators of Q K^T begin.

So neither costs an addition: the first matrix instruction takes them as its third operand. Both are divided by the
softmax scale, with which the scores are multiplied afterwards.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from ..common.views import MOST, start_of
from .variant import AttentionVariant


class ScoreTerms:
    """The terms of one wave's rows.

    Args:
        variant: which terms there are.
        inverse_scale: 1 / softmax scale.
        product: this lane's slice of the tiled MMA of which the scores are the accumulator.
        bias: the bias of the wave's rows, a buffer tensor (keys of a tile, rows, first key), or None.
        slope: the head's slope of ALiBi, or None.
        positions: the key at which each query block's row of the lane stands, from the lane's first key on.
        keys: the keys of a lane, by block of 32, counted from its first.
    """

    def __init__(
        self,
        variant: AttentionVariant,
        inverse_scale: float,
        *,
        product: fx.ThrMma,
        bias: Any,
        slope: Any,
        positions: list[Any],
        keys: list[list[int]],
    ) -> None:
        self._inverse_scale, self._positions, self._keys = inverse_scale, positions, keys
        self._factor = None if slope is None else slope * -inverse_scale
        self._bias = None
        if bias is not None:
            atom = fx.make_copy_atom(fx.rocdl.BufferCopy(variant.bias_load * bias.dtype.width), bias.dtype)
            self._copy = fx.make_tiled_copy_C(atom, product.tiled_mma)
            self._bias = self._copy.get_slice(product.thr_idx).partition_S(bias)

    def begin(self, scores: fx.Tensor, first_key: fx.Numeric | int, first: int = 0) -> None:
        """Set the accumulators (V, key block, query block) to the terms of the tile from key `first_key` on.

        They are of the tile's blocks of keys from `first` on. Of the bias rows past the end have 0, keys past the end
        what follows in memory.
        """
        count = scores.shape[1].unpack()
        if self._bias is None and self._factor is None:
            scores.fill(0.0)
            return
        if self._bias is not None:
            source = self._bias[None, None, None, fx.rocdl.readfirstlane(first_key)]
            loaded = fx.make_fragment_like(source)
            fx.copy(self._copy, source, loaded)
            for n in range(count):
                scores[None, n, None].store(loaded[None, first + n, None].load().to(fx.Float32) * self._inverse_scale)
        for block, position in enumerate(self._positions):
            for n, keys in enumerate(self._keys[first : first + count]):
                if self._factor is None:
                    continue
                at, one = (position - first_key).to(fx.Float32), scores[None, n, block]
                distances = fx.Vector.from_elements([fx.absf(at - float(key)) for key in keys])
                term = distances * self._factor
                one.store(term if self._bias is None else one.load().reshape(len(keys)) + term)


def bias_of_rows(
    bias: fx.Tensor, first_row: fx.Int64, extents: tuple[fx.Int32, fx.Int32], tile: tuple[int, int], wave_tile: fx.Int32
) -> fx.Tensor:
    """The bias of a wave's rows, a buffer tensor (keys of a tile, rows, first key).

    Args:
        bias: the argument, contiguous rows of keys.
        first_row: that of the sequence, i64.
        extents: rows of the sequence, whose end is that of the buffer, and keys from row to row.
        tile: keys of a tile and rows of a wave.
        wave_tile: which of the tiles of rows is the wave's.
    """
    (seq_len, pitch), (kv_tile, rows) = extents, tile
    layout = fx.make_layout((kv_tile, (rows, MOST), MOST, MOST), (1, (pitch, rows * pitch), 1, pitch))
    of_sequence: Any = fx.make_view(start_of(bias), layout)[None, None, None, first_row]
    size = fx.Int64(seq_len) * fx.Int64(pitch) * (of_sequence.dtype.width // 8)
    of_waves = fx.rocdl.make_buffer_tensor(of_sequence, num_records_bytes=size)
    of_wave: fx.Tensor = of_waves[None, (None, wave_tile), None]
    return of_wave

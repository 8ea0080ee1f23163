# SPDX-License-Identifier: Apache-2.0
"""The softmax between the two products of attention, for 32 query rows of a wave, one tile of keys after the other.

The scores lie as the matrix instruction leaves them: query row = lane % 32, and of its keys a lane has those of one
half (`matrix`). So a row's weights are made in two lanes, and nothing but the row's maximum has to pass between them.

A weight is 2^(s c - h), with c = log2(e) / sqrt(head size) and h the row's reference: its highest s c at the last time
that it was renewed. Weights, their sum and the output all carry the same factor 2^-h, which drops out at the end, so h
need not be the maximum: it only has to keep the weights in range. It is renewed when the weights of a tile add up to
more than 2^8 in some lane (Milakov and Gimelshein 2018 renew it for every tile); in between neither maximum nor
rescaling costs anything.
"""

from __future__ import annotations

import math
from typing import Any

from ..common.language import fx
from .matrix import LANES, TILE, exp2, log2

RENEW_ABOVE = 2.0**8


def key_of(value: int) -> int:
    """The key, within a block of 32 and for the lower half of the wave, of a lane's value; the upper half's is + 4."""
    return value // 4 * 8 + value % 4


def mask(scores: list[Any], limit: Any) -> list[Any]:
    """-inf for the keys from `limit` on, counted from the lane's first key of the tile."""
    masked = []
    for block, values in enumerate(scores):
        lanes = [
            (limit > block * TILE + key_of(v)).select(values[v], fx.Float32(-math.inf)) for v in range(values.numel)
        ]
        masked.append(fx.Vector.from_elements(lanes))
    return masked


def row_maximum(scores: list[Any]) -> Any:
    """The highest score of the row, in both its lanes."""
    highest = scores[0].reduce("max")
    for values in scores[1:]:
        highest = fx.maxnumf(highest, values.reduce("max"))
    return fx.maxnumf(highest, fx.gpu.shuffle_xor(highest, TILE, LANES))


def weights(scores: list[Any], scale: float, reference: Any) -> tuple[list[Any], Any]:
    """2^(s scale - reference) of all scores, and the sums of the even and of the odd ones of this lane."""
    factor, offset = fx.full(16, scale, fx.Float32), fx.full(16, -reference, fx.Float32)
    powers = [exp2(fx.fma(values, factor, offset)) for values in scores]
    total = powers[0]
    for values in powers[1:]:
        total = total + values
    while total.numel > 2:
        middle = total.numel // 2
        low, high = total.shuffle(total, list(range(middle))), total.shuffle(total, list(range(middle, 2 * middle)))
        total = low + high
    return powers, total


def renewal(lane_total: Any, bias: float) -> tuple[Any, Any]:
    """What to add to the row's reference, and the factor of all that has the old one in it.

    `lane_total` is the sum of this lane's weights of a tile. Where the row's sum is above the limit, its weights are
    made to add up to 2^bias; a sum beyond the range of f32 is brought into it step by step.
    """
    row_total = lane_total + fx.gpu.shuffle_xor(lane_total, TILE, LANES)
    high = fx.minnumf(log2(row_total), fx.Float32(120.0)) - bias
    raised = (row_total > RENEW_ABOVE).select(high, fx.Float32(0.0))
    return raised, exp2(fx.full(1, -raised, fx.Float32))[0]

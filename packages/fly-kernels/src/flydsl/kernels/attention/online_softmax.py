# SPDX-License-Identifier: Apache-2.0
"""The softmax between the two products of attention, for a block of query rows, one tile of keys after the other.

The scores lie as the matrix instruction leaves them: a lane and the one half a wave further have a query row, and of
its keys each has half (`matrix`). So a row's weights are made in two lanes, and nothing but the row's maximum has to
pass between them.

A weight is 2^(s c - h), with c = log2(e) / sqrt(head size) and h the row's reference: its highest s c at the last time
that it was renewed. Weights, their sum and the output all carry the same factor 2^-h, which drops out at the end, so h
need not be the maximum: it only has to keep the weights in range. It is renewed when the weights of a tile add up to
more than 2^8 in some lane (Milakov and Gimelshein 2018 renew it for every tile); in between neither maximum nor
rescaling costs anything.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ..common.convert import exp2
from ..common.language import fx
from .matrix import add_pair, any_lane, geometry, pack
from .mixing import Work

RENEW_ABOVE = 2.0**8

# The reference of a row that has seen no key. It is finite, so that a score of -inf has the weight 0, and so low that
# any other score has an infinite one and calls for a renewal.
NO_KEY = -(2.0**100)

_UNIT = 2.0**-23  # of f32, relative


def mask(scores: fx.Tensor, keys: list[list[int]], begin: Any, end: Any) -> None:
    """Set to -inf the scores of the keys before `begin`, if it is not None, and from `end` on.

    Args:
        scores: accumulators of one query row (V, key block).
        keys: the keys of each block, counted from the lane's first.
        begin, end: likewise.
    """
    for block, numbers in enumerate(keys):
        of_block, lanes = scores[None, block], []
        for value, key in zip(of_block.load().reshape(len(numbers)), numbers, strict=True):
            visible = end > key if begin is None else (end > key) & (begin <= key)
            lanes.append(visible.select(value, fx.Float32(-math.inf)))
        of_block.store(fx.Vector.from_elements(lanes))


def of_block(scores: fx.Tensor, b: int) -> list[fx.Vector]:
    """The scores of a block of queries, a Vector for each block of keys."""
    return [scores[None, n, b].load().reshape(geometry().results) for n in range(scores.shape[1].unpack())]


def keep(packed: fx.Tensor, b: int, powers: list[fx.Vector]) -> None:
    """Store the weights of a block of queries, a Vector for each block of keys, in 16 bits."""
    for n, one in enumerate(powers):
        packed[None, n, b].store(pack(one, packed.dtype))


def rescale(output: fx.Tensor, b: int, factor: fx.Float32) -> None:
    """Multiply a block of queries of the accumulators (V, block of the head, block of queries)."""
    for m in fx.range_constexpr(output.shape[1].unpack()):
        one = output[None, m, b]
        one.store(one.load() * factor)


def too_large(sums: list[fx.Vector]) -> fx.Boolean:
    """Whether sums of weights, each in two parts, call for a renewal in some lane of the wave."""
    over = fx.Boolean(False)
    for one in sums:
        over = over | (one[0] + one[1] > RENEW_ABOVE)
    return any_lane(over)


def log2_of_sum(a: fx.Float32, b: fx.Float32) -> fx.Float32:
    """log2(2^a + 2^b), also where both are -inf."""
    high, low = fx.maxnumf(a, b), fx.minnumf(a, b)
    result: fx.Float32 = high + fx.log2(1.0 + exp2(fx.full(1, fx.maxnumf(low - high, -256.0), fx.Float32))[0])
    return result


def weights(scores: list[Any], scale: float, reference: Any) -> tuple[list[Any], Any]:
    """2^(s scale - reference) of all scores, and the sums of the even and of the odd ones of this lane."""
    count = scores[0].numel
    factor, offset = fx.full(count, scale, fx.Float32), fx.full(count, -reference, fx.Float32)
    powers = [exp2(fx.fma(values, factor, offset)) for values in scores]
    total = powers[0]
    for values in powers[1:]:
        total = total + values
    while total.numel > 2:
        middle = total.numel // 2
        low, high = total.shuffle(total, list(range(middle))), total.shuffle(total, list(range(middle, 2 * middle)))
        total = low + high
    return powers, total


def weights_in_turn(scores: fx.Vector, scale: float, reference: fx.Float32) -> tuple[fx.Vector, fx.Vector]:
    """`weights` of one Vector, one element after the other: NVIDIA's GPUs add while their exponentials are under way.

    Neither has to wait for all of the others there, and exponentials are what takes longest.
    """
    powers: list[Any] = []
    totals: list[Any] = [None, None]
    for number in range(scores.numel):
        power = exp2(fx.fma(scores[number], fx.Float32(scale), -reference))
        powers.append(power)
        total = totals[number % 2]
        totals[number % 2] = power if total is None else total + power
    return fx.Vector.from_elements(powers), fx.Vector.from_elements(totals)


class Weights:
    """2^(s scale - reference) of some scores of one query row, in 16 bits, and their sum, as a list of work (`mixing`).

    Args:
        scores: a Vector of f32 of a multiple of 8 elements.
        scale: what scores are multiplied with.
        reference: of the row.
        element: the type of the weights.
        rounded: the sum is of the weights in 16 bits, where `matrix.adds_pairs`; else it is of those in f32.
    """

    def __init__(self, scores: fx.Vector, scale: float, reference: fx.Float32, element: type, rounded: bool) -> None:
        self._scores, self._element, self._rounded = scores, element, rounded
        self._factor, self._offset = fx.full(2, scale, fx.Float32), fx.full(2, -reference, fx.Float32)
        self._pairs: list[list[Any]] = [[] for _ in range(scores.numel // 2)]
        self._words: list[Any] = []
        self._sums: list[Any] = []

    def work(self) -> list[Work]:
        """What is to be traced; a pair is packed while the next one's exponentials run."""
        listed: list[Work] = []
        for number in fx.range_constexpr(len(self._pairs)):
            listed.append((1, partial(self._exponents, number)))
            listed += [(4, partial(self._power, number, which)) for which in range(2)]
            if number > 0:
                listed.append((2, partial(self._pack, number - 1)))
        return [*listed, (2, partial(self._pack, len(self._pairs) - 1))]

    def found(self) -> tuple[fx.Vector, fx.Vector]:
        """The weights, a Vector, and their sum as a Vector of two parts, when all work is traced."""
        sums = self._sums
        total = fx.Vector.from_elements(sums) if self._rounded else (sums[0] + sums[1]) + (sums[2] + sums[3])
        return fx.Vector.from_elements(self._words).bitcast(self._element), total

    def _exponents(self, number: int) -> None:
        values = self._scores.shuffle(self._scores, [2 * number, 2 * number + 1])
        exponents = fx.fma(values, self._factor, self._offset)
        self._pairs[number] = [exponents[0], exponents[1]]

    def _power(self, number: int, which: int) -> None:
        self._pairs[number][which] = exp2(fx.Vector.from_elements([self._pairs[number][which]]))[0]

    def _pack(self, number: int) -> None:
        powers = fx.Vector.from_elements(self._pairs[number])
        word = pack(powers, self._element).bitcast(fx.Int32)[0]
        self._words.append(word)
        parts = 2 if self._rounded else 4
        if fx.const_expr(number < parts):
            self._sums.append(add_pair(word, fx.Float32(0.0)) if self._rounded else powers)
        elif fx.const_expr(self._rounded):
            self._sums[number % parts] = add_pair(word, self._sums[number % parts])
        else:
            self._sums[number % parts] = self._sums[number % parts] + powers


def renewed(reference: Any, scores: fx.Tensor, product: fx.ThrMma, scale: float, headroom: float) -> tuple[Any, Any]:
    """The reference raised to the highest s scale - headroom of the row, and the factor for all that has the old one.

    `scores` are accumulators of `product`, a lane's slice of a tiled MMA, of one query row (V, key block). Those that
    are no numbers are passed over. The result is the same in both lanes of the row. It is a unit in the last place
    higher than asked, so that no weight exceeds 2^headroom however large scores are: no renewal calls for another.
    """
    return raised(reference, fx.coop.tiled_reduce(scores, fx.maxnumf, product, 0) * scale, headroom)


def raised(reference: fx.Float32, highest: fx.Float32, headroom: float) -> tuple[fx.Float32, fx.Float32]:
    """`renewed` of a row whose highest s scale is known."""
    wanted = highest - headroom
    result = fx.maxnumf(reference, wanted + fx.absf(wanted) * _UNIT)
    return result, exp2(fx.full(1, reference - result, fx.Float32))[0]

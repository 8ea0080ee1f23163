# SPDX-License-Identifier: Apache-2.0
"""The loop over tiles without masked keys in which a wave mixes weights and products (`FlashConfig.pipelined`).

The weights of a block of keys are computed between the matrix instructions for the scores of the block after it and for
the output of the block before it (`mixing`). A tile has two blocks, and each half of the loop's body takes one:

    weights of         scores of                  output of
    block 1            block 0 of the next tile   block 0
    block 0 (next)     block 1 of the next tile   block 1

So keys are in LDS a tile ahead of values, and one barrier a tile is enough. When weights grow too large, references are
renewed where they stand, behind the block: its scores are still there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..common.language import fx
from .kv_staging import StagedTurns
from .matrix import STEP, by_mode, geometry, in_steps, pack, weights_as_operand
from .mixing import Mix
from .online_softmax import Weights, of_block, renewed, rescale, too_large, weights
from .score_terms import ScoreTerms

_LEAD = 1  # of `Mix`
_AHEAD = 4  # matrix instructions, of a block of queries, whose operands are asked for ahead
_BLOCKS = 2  # of keys, of a tile


class PipelinedLoop:
    """The loop of one wave.

    Args:
        element: the type of queries, keys, values and weights.
        scale: what scores are multiplied with.
        headroom: of new references (`online_softmax.renewed`).
        rounded: sums are of the weights in 16 bits (`online_softmax.Weights`).
        queries: Q^T, a fragment of the first product.
        keys: of LDS, (keys of a block, elements of the head, blocks of all stages).
        values: V^T of LDS, (elements of the head, keys of a tile, stages).
        products: this lane's slices of the tiled MMAs for scores and for the output.
        terms: where scores begin.
        turns: the tiles of keys and of values that come to LDS.
    """

    def __init__(
        self,
        element: type[fx.Numeric],
        scale: float,
        headroom: float,
        rounded: bool,
        queries: fx.Tensor,
        keys: fx.Tensor,
        values: fx.Tensor,
        products: tuple[fx.ThrMma, fx.ThrMma],
        terms: ScoreTerms,
        turns: tuple[StagedTurns, StagedTurns],
    ) -> None:
        self._element, self._scale, self._headroom, self._rounded = element, scale, headroom, rounded
        self._keys, self._values, self._terms = keys, values, terms
        (self._qk, self._pv), (self._turns_k, self._turns_v) = products, turns
        self._from_lds = fx.make_copy_atom(fx.UniversalCopy128b(), element)
        self._read_k, self._read_v = (
            fx.make_tiled_copy_A(self._from_lds, one.tiled_mma).get_slice(one.thr_idx) for one in products
        )
        self._k_mine = by_mode(self._read_k.partition_S(keys))
        self._v_mine = by_mode(self._read_v.partition_S(values))
        self._q_steps = in_steps(queries)
        self._blocks = queries.shape[1].unpack()  # of queries
        self._head_steps = keys.shape[1].unpack() // STEP
        self._head_blocks = values.shape[0].unpack() // geometry().tile

    def run(
        self, turn: fx.Int32, output: fx.Tensor, reference: list[fx.Float32], total: list[fx.Vector]
    ) -> tuple[list[fx.Float32], list[fx.Vector], fx.Int32, fx.Int32]:
        """Add the tiles of a turn and of all that follow to the accumulators `output`.

        `reference` and `total` are those of each block of queries. Returns both, how many tiles renewed references, and
        how many did not.
        """
        element, blocks = self._element, self._blocks
        taken, skipped = fx.Int32(0), fx.Int32(0)
        if turn >= 0:
            of_lane = output.shape[0].unpack()
            now, ahead = (fx.make_rmem_tensor((of_lane, 1, blocks), fx.Float32) for _ in range(2))
            packed = fx.make_rmem_tensor((of_lane, 1, blocks), element)
            self._mixed([self._scores(now, turn, 0)])
            self._mixed([self._scores(ahead, turn, 1)])
            self._turns_k.follow(turn)
            fx.barrier()
            found = self._weights(now, reference)
            reference, total, again = self._settled(now, found, packed, output, reference, total)
            taken = taken + again
            while turn > 0:
                now.store(ahead.load())
                products = [self._scores(ahead, turn - 1, 0), self._weighted(output, packed, turn, 0)]
                found = self._mixed(products, now, reference)
                reference, total, more = self._settled(now, found, packed, output, reference, total)
                taken, skipped = taken + (more & ~again), skipped + (1 - (more | again))
                turn = turn - 1
                self._turns_k.follow(turn)
                self._turns_v.follow(turn + 1)
                now.store(ahead.load())
                products = [self._scores(ahead, turn, 1), self._weighted(output, packed, turn + 1, 1)]
                found = self._mixed(products, now, reference)
                reference, total, again = self._settled(now, found, packed, output, reference, total)
                taken = taken + again
                fx.barrier()
            found = self._mixed([self._weighted(output, packed, 0, 0)], ahead, reference)
            reference, total, more = self._settled(ahead, found, packed, output, reference, total)
            taken, skipped = taken + (more & ~again), skipped + (1 - (more | again))
            self._mixed([self._weighted(output, packed, 0, 1)])
        return reference, total, taken, skipped

    def _scores(self, scores: Any, turn: Any, n: int) -> Any:
        """S^T of a block of keys of a turn's tile, of turn -1 whatever: reads, and what traces the products."""
        fragment = self._qk.make_fragment_A(self._keys[None, None, 0])
        k_steps, k_target = in_steps(fragment), by_mode(self._read_k.retile(fragment))
        first_key = self._turns_k.schedule.tile(fx.max(turn, fx.Int32(0))) * (_BLOCKS * geometry().tile)
        self._terms.begin(scores, first_key, n)
        stage = n + _BLOCKS * self._turns_k.stage_of(turn)

        def read(step: int) -> None:
            fx.copy(self._from_lds, self._k_mine[None, None, step, stage], k_target[None, None, step])

        def multiply(before: Any) -> None:
            for step in fx.range_constexpr(self._head_steps):
                one = (None, None, (None, step))
                fx.gemm(self._qk.tiled_mma, scores, k_steps[one], self._q_steps[one], scores, atom_callback=before)

        return [partial(read, step) for step in range(self._head_steps)], multiply

    def _weighted(self, output: Any, packed: Any, turn: Any, n: int) -> Any:
        """O^T += V^T P^T of a block of keys of a turn's tile: reads, and what traces the products."""
        fragment = self._pv.make_fragment_A(self._values[None, None, 0])
        v_steps, v_target = in_steps(fragment), by_mode(self._read_v.retile(fragment))
        p_steps = in_steps(weights_as_operand(packed, (1, self._blocks), self._pv, self._qk))
        per_block, stage = geometry().tile // STEP, self._turns_v.stage_of(turn)
        steps = list(range(n * per_block, (n + 1) * per_block))

        def read(step: int, m: int) -> None:
            fx.copy(self._from_lds, self._v_mine[None, m, step, stage], v_target[None, m, step])

        def multiply(before: Any) -> None:
            order = fx.GemmTraversalOrder.KNM
            for step in steps:
                a, b = v_steps[None, None, (None, step)], p_steps[None, None, (None, step - steps[0])]
                fx.gemm(self._pv.tiled_mma, output, a, b, output, traversal_order=order, atom_callback=before)

        return [partial(read, step, m) for step in steps for m in range(self._head_blocks)], multiply

    def _mixed(self, products: list[Any], scores: Any = None, reference: Any = None) -> Any:
        """Trace products, and between them the weights of `scores`; what `_weights` returns."""
        found, work = [], []
        if scores is not None:
            found = [
                Weights(of_block(scores, b)[0], self._scale, reference[b], self._element, self._rounded)
                for b in range(self._blocks)
            ]
            work = [one for each in zip(*(one.work() for one in found), strict=True) for one in each]
        reads = [one for asked, _ in products for one in asked]
        of_step = STEP // geometry().depth  # matrix instructions, for which one read is enough
        mix = Mix(work, len(reads) * self._blocks * of_step, reads, ahead=_AHEAD // of_step, lead=_LEAD)
        for _, multiply in products:
            multiply(mix.before)
        mix.rest()
        return _with_test([one.found() for one in found]) if found else None

    def _weights(self, scores: Any, reference: list[Any]) -> tuple[list[Any], list[Any], Any]:
        """The weights of each block of queries, their sums, and whether they are too large for some lane."""
        found = [weights(of_block(scores, b), self._scale, reference[b]) for b in range(self._blocks)]
        return _with_test([(pack(powers[0], self._element), sums) for powers, sums in found])

    def _settled(
        self, scores: Any, found: Any, packed: Any, output: Any, reference: list[Any], total: list[Any]
    ) -> tuple[list[Any], list[Any], Any]:
        """Keep the weights that were found, those of new references if they are too large.

        Returns references and sums, and 1 if the references are new.
        """
        packs, added, above = found
        renewals = fx.Int32(0)
        for b in fx.range_constexpr(self._blocks):
            packed[None, 0, b].store(packs[b])
        if above:
            renewals = fx.Int32(1)
            for b in fx.range_constexpr(self._blocks):
                own = scores[None, None, b]
                reference[b], factor = renewed(reference[b], own, self._qk, self._scale, self._headroom)
                total[b] = total[b] * factor
                rescale(output, b, factor)
            packs, added, _ = self._weights(scores, reference)
            for b in fx.range_constexpr(self._blocks):
                packed[None, 0, b].store(packs[b])
        return reference, [total[b] + added[b] for b in range(self._blocks)], renewals


def _with_test(found: list[Any]) -> tuple[list[Any], list[Any], Any]:
    sums = [one for _, one in found]
    return [one for one, _ in found], sums, too_large(sums)

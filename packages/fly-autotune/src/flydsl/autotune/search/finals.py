# SPDX-License-Identifier: Apache-2.0
"""Which of the fastest is the fastest: they are measured again, in turns, until their order is settled.

A first look measures one configuration after the other, and a GPU is not the same GPU all that time: its clock follows
its temperature and what ran just before. In turns, all meet the same GPU, and what counts are ratios within a round.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Settled", "settle"]

One = TypeVar("One", bound=Hashable)

ROUNDS = 25  # at most
_LEAST_ROUNDS = 5  # before anything is believed
_WITHIN = 1.1  # of the fastest of the first look: what is further behind has no chance
_MOST = 8  # take part
_SURE = 3.0  # standard errors
_EQUAL = 0.003  # of the time: who is closer than that is as fast


@dataclass(frozen=True)
class Settled(Generic[One]):
    """What came of it.

    Attributes:
        best: the fastest.
        times: medians of those that took part, in their order.
        rounds: how many there were; none where only one took part.
        certain: whether each of the others is surely slower than the fastest, or surely as fast.
    """

    best: One
    times: dict[One, float]
    rounds: int
    certain: bool


def settle(
    first: Sequence[tuple[One, float]], measure: Callable[[One], float], *, rounds: int = ROUNDS, seed: int = 0
) -> Settled[One]:
    """Measure the fastest of a first look again, in turns, until it is settled which one is the fastest.

    Args:
        first: candidates and their times, of which those within 10 % of the least take part, eight at most.
        measure: a candidate's time, now.
        rounds: how many there are at most. The order of the turns is drawn anew for each.
        seed: of these draws.

    After five rounds, and from then on after each, those leave that are surely slower than the leader: by more than
    three standard errors of the mean of their ratios, round by round. It ends when all others left, or are surely as
    fast, within 0.3 %.

    Raises:
        ValueError: there are no candidates.
        Exception: what `measure` raises.
    """
    if not first:
        raise ValueError("there is nothing to measure again")
    least = min(time for _, time in first)
    near = sorted((one for one in first if one[1] <= _WITHIN * least), key=lambda one: one[1])[:_MOST]
    if len(near) == 1:
        return Settled(near[0][0], dict(near), 0, certain=True)
    taking_part = {one for one, _ in near}
    chosen = list(dict.fromkeys(one for one, _ in first if one in taking_part))
    found: dict[One, list[float]] = {one: [] for one in chosen}
    draws, running = random.Random(seed), list(chosen)
    count, certain = 0, False
    while count < rounds and not certain:
        for one in draws.sample(running, len(running)):
            found[one].append(measure(one))
        count += 1
        if count >= _LEAST_ROUNDS:
            leader = min(running, key=lambda one: statistics.median(found[one]))
            behind = {one: _behind(found[one], found[leader]) for one in running if one != leader}
            running = [one for one in running if one == leader or behind[one][0] <= 0.0]
            certain = all(behind[one][1] <= _EQUAL for one in running if one != leader)
    best = min(running, key=lambda one: statistics.median(found[one]))

    def time_of(one: One) -> float:
        """Of one that left, by the rounds that it had with the best."""
        shared = found[best][: len(found[one])]
        return statistics.median(found[best]) * statistics.median(found[one]) / statistics.median(shared)

    return Settled(best, {one: time_of(one) for one in chosen}, count, certain)


def _behind(times: Sequence[float], leading: Sequence[float]) -> tuple[float, float]:
    """By how much, at the least and at the most, as the logarithm of a ratio, a candidate is slower than the leader."""
    ratios = [math.log(one / other) for one, other in zip(times, leading, strict=True)]
    mean, error = statistics.fmean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))
    return mean - _SURE * error, mean + _SURE * error

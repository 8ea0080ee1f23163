# SPDX-License-Identifier: Apache-2.0
"""In which order configurations are evaluated. A method is asked for the next one, and told what came of it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from ..config import Config
from .space import identity

_CROWDED = 0.03  # in logarithm: 3 % for each neighbour that a round has

__all__ = ["Exhaustive", "Halving", "Method", "by_estimate"]


class Method(Protocol):
    """A way through the candidates."""

    def ask(self) -> Config | None:
        """The next configuration to evaluate, each once; None: none, until `tell` was called or for good."""

    def tell(self, config: Config, milliseconds: float | None) -> None:
        """What a configuration that was asked for takes; None where it failed."""


def by_estimate(candidates: Sequence[Config], estimates: Sequence[float]) -> list[Config]:
    """The candidates, the best by their estimates first."""
    return [candidates[place] for place in sorted(range(len(candidates)), key=estimates.__getitem__)]


class Exhaustive:
    """All, the best by the estimate first; without one in their order."""

    def __init__(self, candidates: Sequence[Config], estimates: Sequence[float] | None = None) -> None:
        self._left = deque(candidates if estimates is None else by_estimate(candidates, estimates))

    def ask(self) -> Config | None:
        """See `Method`."""
        return self._left.popleft() if self._left else None

    def tell(self, config: Config, milliseconds: float | None) -> None:
        """See `Method`."""


class Halving:
    """Successive halving: the cheap estimate ranks all, the full one those that are left, in rounds of half the size.

    The first round takes the best half of the budget by the estimate. Then what was measured corrects the estimate (how
    far off it is for each value of each axis, as factors), and the next round takes the best of the others by that,
    half as many; and so on. A candidate beside one that the round has already is taken later: what an estimate holds
    for equal often is. Without an estimate the first round is spread over the candidates.
    """

    def __init__(self, candidates: Sequence[Config], budget: int, estimates: Sequence[float] | None = None) -> None:
        self._left = {identity(one): one for one in candidates}
        self._budget = min(budget, len(self._left))
        self._axes = {name: one.to_dict() for name, one in self._left.items()}
        self._prior = dict.fromkeys(self._left, 0.0)
        if estimates is not None:
            self._prior = dict(zip(map(identity, candidates), map(_logarithm, estimates), strict=True))
        self._spread = estimates is None
        self._round: deque[str] = deque()
        self._open: set[str] = set()
        self._residuals: dict[str, float] = {}
        self._failed: set[str] = set()

    def ask(self) -> Config | None:
        """See `Method`."""
        if not self._round and not self._open:
            self._begin_round()
        if not self._round:
            return None
        name = self._round.popleft()
        self._open.add(name)
        return self._left.pop(name)

    def tell(self, config: Config, milliseconds: float | None) -> None:
        """See `Method`."""
        name = identity(config)
        self._open.discard(name)
        if milliseconds is None:
            self._failed.add(name)
        else:
            self._residuals[name] = _logarithm(milliseconds) - self._prior[name]

    def _begin_round(self) -> None:
        spent = len(self._residuals) + len(self._failed)
        size = min(max(1, math.ceil((self._budget - spent) / 2)), self._budget - spent, len(self._left))
        if size <= 0:
            return
        names = list(self._left)
        if spent == 0 and self._spread:
            step = len(names) / size
            self._round.extend(names[int(index * step)] for index in range(size))
            return
        effects = self._effects()
        score = {name: self._prior[name] + self._correction(name, effects) for name in names}
        for _ in range(size):
            chosen = min(score, key=score.__getitem__)
            self._round.append(chosen)
            del score[chosen]
            for name in score:
                if self._is_beside(name, chosen):
                    score[name] += _CROWDED

    def _effects(self) -> dict[tuple[str, str], float]:
        """By axis and value, how much longer than the estimate (in logarithm) what was measured took, beyond the mean.

        Backfitting with shrinkage: a value that was seen once moves half as far as its residual says.
        """
        effects: dict[tuple[str, str], float] = {}
        if not self._residuals:
            return effects
        mean = sum(self._residuals.values()) / len(self._residuals)
        groups: dict[tuple[str, str], list[str]] = {}
        for name in self._residuals:
            for axis, value in self._axes[name].items():
                groups.setdefault((axis, repr(value)), []).append(name)
        for _ in range(10):
            for axis_value, members in groups.items():
                effects[axis_value] = 0.0
                left = (self._residuals[one] - mean - self._correction(one, effects) for one in members)
                effects[axis_value] = sum(left) / (len(members) + 1)
        return effects

    def _is_beside(self, one: str, other: str) -> bool:
        """Tell whether two candidates differ on one axis only."""
        values, others = self._axes[one], self._axes[other]
        return len([axis for axis in {**values, **others} if values.get(axis) != others.get(axis)]) == 1

    def _correction(self, name: str, effects: dict[tuple[str, str], float]) -> float:
        return sum(effects.get((axis, repr(value)), 0.0) for axis, value in self._axes[name].items())


def _logarithm(value: float) -> float:
    return math.log(value) if value > 0 and math.isfinite(value) else math.inf

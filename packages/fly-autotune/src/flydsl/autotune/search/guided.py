# SPDX-License-Identifier: Apache-2.0
"""Bayesian (TPE) and evolutionary (NSGA-II) searches, both Optuna's (extra `search`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..config import Config
from .methods import by_estimate
from .space import identity

__all__ = ["Guided"]

_FRUITLESS = 256  # suggestions in a row that were evaluated before or cannot run; then the candidates are taken in turn
_SEEDS = 8  # of the estimate's favourites that a search begins with


class Guided:
    """A search by a sampler of Optuna over the axes of the candidates; see `methods.Method`.

    Suggestions that are no candidate (a constraint refused them) are told to the sampler as failed, without being
    compiled; for those that were evaluated before it is told again what they took.

    Raises:
        ImportError: Optuna is not installed.
    """

    def __init__(
        self,
        kind: str,
        candidates: Sequence[Config],
        budget: int,
        seed: int,
        estimates: Sequence[float] | None = None,
    ) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            raise ImportError(f"method {kind!r} needs Optuna: pip install 'fly-autotune[search]'") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._candidates = {identity(one): one for one in candidates}
        self._left = dict(self._candidates)
        self._values = _values(candidates)
        self._names = {self._place(one): identity(one) for one in candidates}
        self._trials: dict[str, Any] = {}
        self._known: dict[str, float | None] = {}
        start = max(2, min(10, budget // 4))
        sampler = (
            optuna.samplers.TPESampler(seed=seed, n_startup_trials=start, multivariate=True, constant_liar=True)
            if kind == "bayesian"
            else optuna.samplers.NSGAIISampler(seed=seed, population_size=start)
        )
        self._study = optuna.create_study(sampler=sampler)
        self._space = {
            axis: optuna.distributions.CategoricalDistribution(range(len(values)))
            for axis, values in self._values.items()
        }
        if estimates is not None:
            for one in by_estimate(candidates, estimates)[: min(_SEEDS, max(1, budget // 2))]:
                self._study.enqueue_trial(dict(zip(self._values, self._place(one), strict=True)))

    def _place(self, config: Config) -> tuple[int, ...]:
        """Where a configuration is on each axis."""
        own = config.to_dict()
        return tuple(values.index(repr(own.get(axis))) for axis, values in self._values.items())

    def ask(self) -> Config | None:
        """See `Method`."""
        failed = self._optuna.trial.TrialState.FAIL
        for _ in range(_FRUITLESS):
            if not self._left:
                return None
            trial = self._study.ask(self._space)
            name = self._names.get(tuple(trial.params[axis] for axis in self._values))
            if name in self._left:
                self._trials[name] = trial
                return self._left.pop(name)
            known = None if name is None else self._known.get(name)
            if known is None:
                self._study.tell(trial, state=failed)
            else:
                self._study.tell(trial, known)
        return self._left.pop(next(iter(self._left)))

    def tell(self, config: Config, milliseconds: float | None) -> None:
        """See `Method`."""
        name = identity(config)
        self._known[name] = milliseconds
        trial = self._trials.pop(name, None)
        if trial is None:  # it was taken in turn
            return
        if milliseconds is None:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, milliseconds)


def _values(candidates: Sequence[Config]) -> dict[str, list[str]]:
    """The axes that the candidates differ in, with the texts of the values on each."""
    entries = [one.to_dict() for one in candidates]
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: list(dict.fromkeys(repr(entry.get(name)) for entry in entries)) for name in names}

# SPDX-License-Identifier: Apache-2.0
"""`Search`: what to look through, how, and for how long; given to `autotune` in the place of a list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..config import Config
from .guided import Guided
from .methods import Exhaustive, Halving, Method
from .space import Space

__all__ = ["METHODS", "Search"]

METHODS = ("exhaustive", "halving", "bayesian", "evolution")
_PART = 0.2  # of the candidates that a search evaluates which is no exhaustive one, where nothing is said


@dataclass(frozen=True)
class Search:
    """A search: `@autotune(configs=Search(space, method="halving", ...))`.

    Attributes:
        space: a `Space`, or a list of `Config`.
        method: "exhaustive"; "halving" (successive halving: the estimate ranks all, then `do_bench` some in ever
            smaller rounds); "bayesian" or "evolution" (Optuna's TPE and NSGA-II, which begin with the favourites of
            the estimate).
        estimate: `estimate(config, named)`, cheap and of any unit, smaller is better: what is known without compiling.
        evaluations: how many configurations are compiled and measured at most, those that failed and those of an
            earlier run that was ended among them. By default all for "exhaustive", else a fifth, at least 8.
        seconds: after how long no further configuration is begun. What was found until then counts.
        seed: of the random choices.
        sampled: on an emulated device, run only the workgroups that its model wants. That takes seconds where the
            whole launch takes hours, and measured calls leave incomplete results. Not for functions that launch a
            kernel whose way depends on what an earlier one wrote.

    Raises:
        TypeError, ValueError: a value that is none of these.
    """

    space: Space | Sequence[Config]
    method: str = "exhaustive"
    estimate: Callable[[Config, Mapping[str, Any]], float] | None = None
    evaluations: int | None = None
    seconds: float | None = None
    seed: int = 0
    sampled: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"Search: method {self.method!r} is not one of {', '.join(METHODS)}")
        if self.estimate is not None and not callable(self.estimate):
            raise TypeError(f"Search: estimate is a function of (config, named), got {self.estimate!r}")
        if self.evaluations is not None and (
            not isinstance(self.evaluations, int) or isinstance(self.evaluations, bool) or self.evaluations < 1
        ):
            raise ValueError(f"Search: evaluations is a number from 1 on, got {self.evaluations!r}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"Search: seconds is a time above 0, got {self.seconds!r}")
        if not isinstance(self.space, Space) and not all(isinstance(one, Config) for one in self.space):
            raise TypeError("Search: space is a Space, or a list of Config")

    @property
    def name(self) -> str:
        """What progress calls the space."""
        return f"{self.space.name!r}, " if isinstance(self.space, Space) else ""

    def candidates(self, named: Mapping[str, Any]) -> list[Config]:
        """The configurations for a call with these arguments (as `Space.configs`)."""
        return self.space.configs(named) if isinstance(self.space, Space) else list(self.space)

    def offers(self, config: Config) -> bool:
        """Tell whether a configuration is one of the space."""
        return config in self.space

    def budget(self, count: int) -> int:
        """How many of some candidates are evaluated at most."""
        if self.evaluations is not None:
            return min(self.evaluations, count)
        return count if self.method == "exhaustive" else min(count, max(8, math.floor(_PART * count)))

    def estimates(self, candidates: Sequence[Config], named: Mapping[str, Any]) -> tuple[float, ...] | None:
        """What `estimate` says of each candidate; None without one."""
        if self.estimate is None:
            return None
        return tuple(float(self.estimate(one, named)) for one in candidates)

    def start(
        self, candidates: Sequence[Config], estimates: Sequence[float] | None, budget: int | None = None
    ) -> Method:
        """The method, at its beginning; `budget` counts in the place of `budget(len(candidates))`.

        Raises:
            ImportError: it needs a package that is not installed.
        """
        budget = self.budget(len(candidates)) if budget is None else budget
        if self.method == "halving":
            return Halving(candidates, budget, estimates)
        if self.method == "exhaustive":
            return Exhaustive(candidates, estimates)
        return Guided(self.method, candidates, budget, self.seed, estimates)

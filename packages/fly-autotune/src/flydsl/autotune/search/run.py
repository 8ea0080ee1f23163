# SPDX-License-Identifier: Apache-2.0
"""The loop of every search: ask the method, evaluate (here or on an executor), keep, tell."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from ..config import Config
from .ledger import Ledger
from .methods import Method
from .progress import Progress

__all__ = ["Here", "Outcome", "run"]


@dataclass(frozen=True)
class Outcome:
    """What came of an evaluation: its milliseconds, or why it failed."""

    milliseconds: float | None
    error: str = ""
    exception: BaseException | None = None


class Here(Executor):
    """Evaluates in this thread, at once: what is raised by something other than a candidate passes through."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def run(
    method: Method,
    evaluate: Callable[[Config], Outcome],
    progress: Progress,
    *,
    budget: int,
    seconds: float | None = None,
    ledger: Ledger | None = None,
    executor: Executor | None = None,
    width: int = 1,
    fatal: tuple[type[Exception], ...] = (),
) -> tuple[list[tuple[Config, float]], Outcome | None]:
    """Evaluate what the method asks for; the pairs (configuration, milliseconds), and the last failure.

    Args:
        method: says what comes next.
        evaluate: an `Outcome` for a configuration; it is sent to the executor.
        progress: is told of each.
        budget: evaluations at most, those that the ledger knows among them.
        seconds: after how long nothing more is begun.
        ledger: what was evaluated before, and is from now on.
        executor: where; by default here.
        width: how many are under way at once.
        fatal: exceptions of a future that are no failure of its candidate.

    Raises:
        RuntimeError: the executor broke, or one of `fatal` came. What was evaluated is in the ledger.
    """
    executor = Here() if executor is None else executor
    deadline = None if seconds is None else time.monotonic() + seconds
    measured: list[tuple[Config, float]] = []
    failure: Outcome | None = None
    pending: dict[Future[Outcome], Config] = {}
    begun = 0
    broken: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, *fatal)

    def finish(config: Config, outcome: Outcome, *, known: bool) -> None:
        nonlocal failure
        if outcome.milliseconds is None:
            failure = outcome
        else:
            measured.append((config, outcome.milliseconds))
        if ledger is not None and not known:
            ledger.record(config, outcome.milliseconds, outcome.error)
        progress.evaluated(config, outcome.milliseconds, outcome.error, known=known)
        method.tell(config, outcome.milliseconds)

    try:
        while True:
            while begun < budget and len(pending) < width and (deadline is None or time.monotonic() < deadline):
                config = method.ask()
                if config is None:
                    break
                begun += 1
                known = None if ledger is None else ledger.known(config)
                if known is None:
                    pending[executor.submit(evaluate, config)] = config
                else:
                    finish(config, Outcome(*known), known=True)
            if not pending:
                return measured, failure
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                finish(pending.pop(future), _outcome(future, broken), known=False)
    except broken as error:
        raise RuntimeError(
            f"the search ended ({type(error).__name__}: {error}) after {len(measured)} evaluations, which are kept: "
            "search again to go on from there"
        ) from error
    finally:
        for future in pending:
            future.cancel()


def _outcome(future: Future[Outcome], broken: tuple[type[BaseException], ...]) -> Outcome:
    try:
        return future.result()
    except broken:
        raise
    except Exception as error:  # a candidate that kills every worker it meets, for example
        return Outcome(None, f"{type(error).__name__}: {error}", error)

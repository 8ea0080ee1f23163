# SPDX-License-Identifier: Apache-2.0
"""A search whose evaluations run on many machines: through any `concurrent.futures.Executor`.

The coordinator knows the method, the budget and the database; it needs no device. A worker makes the problem once, and
compiles and measures what it is sent. What a worker found is kept under the key of that worker's device, and only
workers that have one key take part in one search: a GPU's times and predictions never meet.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from flydsl.runtime.forks import new_lock

from ..config import Config
from ..disk_cache import DiskCache
from ..key import Key
from .finished import Finished
from .ledger import Ledger
from .progress import Progress
from .run import Outcome, run
from .spec import Search

if TYPE_CHECKING:
    from ..tuner import Autotuner

__all__ = ["Problem", "sweep"]

MEASURES = ("device", "predicted", "own")
_REFUSALS = 20  # of workers of another kind, for one configuration


@dataclass(frozen=True)
class Problem:
    """Something to tune, in words that every machine understands.

    Attributes:
        target: "package.module:function", which every worker can import. It returns `(tuned, arguments)`: the object
            that `@autotune` made, with a list or a `Search` for configurations, and what to call it with.
        arguments: its keyword arguments; whatever pickle sends.

    Raises:
        ValueError: `target` is not of that form.
    """

    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        module, colon, name = self.target.partition(":")
        if not (module and colon and name):
            raise ValueError(f"Problem: target is 'package.module:function', got {self.target!r}")

    def make(self) -> tuple[Autotuner, tuple[Any, ...]]:
        """Import the function and call it."""
        module, _, name = self.target.partition(":")
        tuned, arguments = getattr(importlib.import_module(module), name)(**self.arguments)
        return tuned, tuple(arguments)


@dataclass(frozen=True)
class Description:
    """What the coordinator has to know of a problem, as a worker found it."""

    function: str
    key: Key
    measure: str
    search: Search
    candidates: tuple[Config, ...]
    estimates: tuple[float, ...] | None


class OtherKind(Exception):
    """A worker has another device, tool chain or source than the search is for."""


# A worker makes a problem once; it is the same problem while its text is.
_made: dict[str, tuple[Autotuner, tuple[Any, ...]]] = {}
_lock = new_lock()


def _problem(problem: Problem) -> tuple[Autotuner, tuple[Any, ...]]:
    text = repr(problem)
    if text not in _made:
        _made.clear()  # its tensors may be large
        _made[text] = problem.make()
    return _made[text]


def _describe(problem: Problem, measure: str | None) -> Description | str:
    """On a worker: what the problem is; the measure of this worker where another one was asked for."""
    with _lock:
        tuned, arguments = _problem(problem)
        own = tuned.measure
        if measure not in (None, own):
            return own
        return tuned.describe(arguments)


def _evaluate(problem: Problem, key: Key, name: str, config: Config) -> Outcome | str:
    """On a worker: one evaluation of the sweep of that name, or what this worker is where it is of another kind."""
    with _lock:  # of the threads of a worker one at a time: a prediction is of all launches of the process
        tuned, arguments = _problem(problem)
        own = tuned._make_key(arguments, {})
        if own != key:
            return f"{tuned.measure}: {next((a for a, b in zip(own, key, strict=False) if a != b), own)}"
        finished = Finished(name)
        outcome = finished.known(config)
        if outcome is None:
            evaluated = tuned.evaluate(config, arguments)
            outcome = Outcome(evaluated.milliseconds, evaluated.error)  # pickle may not know the exception
            finished.record(config, outcome)
    return outcome


class _OneKind(Executor):
    """An executor whose evaluations are sent again when a worker of another kind took them."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Send an evaluation of `_evaluate`."""
        from concurrent.futures import Future

        future: Future[Outcome] = Future()
        self._send(future, partial(fn, *args, **kwargs), 0)
        return future

    def _send(self, future: Any, call: Callable[[], Any], refusals: int) -> None:
        def done(inner: Any) -> None:
            try:
                answer = inner.result()
            except BaseException as error:
                future.set_exception(error)
                return
            if isinstance(answer, Outcome):
                future.set_result(answer)
            elif refusals + 1 < _REFUSALS:
                self._send(future, call, refusals + 1)
            else:
                future.set_exception(_mixed(answer))

        try:
            self._executor.submit(call).add_done_callback(done)
        except BaseException as error:
            future.set_exception(error)


def _mixed(other: str) -> OtherKind:
    return OtherKind(
        f"workers of another kind than the search is for keep taking its evaluations (they have {other}): give an "
        "executor of workers of one kind, for example client.get_executor(workers=[...]) or (resources={...})"
    )


def sweep(
    problem: Problem, executor: Executor, *, measure: str | None = None, width: int = 4
) -> tuple[Config, float, str]:
    """Search on the workers of an executor; returns the best configuration, its milliseconds, and how it was measured.

    The evaluations and the result are written to the database of this machine, under the key of the workers' device: a
    call on such a device finds them (`python -m flydsl.autotune merge` takes them there). A sweep that was ended, by a
    kill or a broken executor, goes on where it was; one that ended by itself begins anew.

    Args:
        problem: what to tune.
        executor: `concurrent.futures.ProcessPoolExecutor`, Dask's `client.get_executor()`, or any other.
        measure: "device" to have GPUs measure, "predicted" to have machines without one predict, "own" where the
            problem has a `do_bench` of its own; by default whatever the worker does that answers first.
        width: how many evaluations are under way at once: as many as there are workers.

    Raises:
        ValueError: a `measure` that there is not, a `width` below 1.
        RuntimeError: no evaluation succeeded, the executor broke, no worker is of the kind that `measure` asks for, or
            workers of several kinds share the executor.
    """
    if measure is not None and measure not in MEASURES:
        raise ValueError(f"sweep: measure {measure!r} is not one of {', '.join(MEASURES)}")
    if width < 1:
        raise ValueError(f"sweep: width is a number of evaluations from 1 on, got {width!r}")
    found = _description(problem, executor, measure)
    disk = DiskCache(found.function)
    budget = found.search.budget(len(found.candidates))
    progress = Progress(budget, " (predicted)" if found.measure == "predicted" else "", running=True)
    progress.begin(
        f"{found.search.name}{budget} of {len(found.candidates)} configs, {found.search.method}, {width} at once"
    )
    measured, failure = run(
        found.search.start(found.candidates, found.estimates),
        partial(_evaluate, problem, found.key, uuid.uuid4().hex),  # type: ignore[arg-type]  # _OneKind knows the answers
        progress,
        budget=budget,
        seconds=found.search.seconds,
        ledger=Ledger(disk, found.key, found.measure),
        executor=_OneKind(executor),
        width=width,
        fatal=(OtherKind,),
    )
    if not measured:
        raise RuntimeError(
            f"All autotune configs failed: {found.function}(), {budget} configs; the last: "
            f"{'none was begun' if failure is None else failure.error}"
        )
    best, milliseconds = min(measured, key=lambda one: one[1])
    disk.add(found.key, best, milliseconds, found.measure)
    progress.end(best, milliseconds)
    return best, milliseconds, found.measure


def _description(problem: Problem, executor: Executor, measure: str | None) -> Description:
    other = ""
    for _ in range(_REFUSALS):
        answer = executor.submit(_describe, problem, measure).result()
        if isinstance(answer, Description):
            return answer
        other = answer
    raise RuntimeError(f"sweep: measure={measure!r}, but the workers of the executor have times that are {other!r}")

# SPDX-License-Identifier: Apache-2.0
"""`Autotuner`: a function whose configuration is chosen at the first call of each kind."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import MethodType
from typing import Any

import flydsl.runtime as runtime
from flydsl.runtime.forks import new_lock

from . import artifacts, fingerprint, layers, tensors, variables
from .config import Config, Hook
from .disk_cache import DiskCache
from .files import canonical_json, faithful
from .key import Key, make_key
from .options import call_options
from .parameters import Parameters
from .search.finals import settle
from .search.ledger import Ledger
from .search.methods import Exhaustive, Method
from .search.progress import Progress
from .search.run import Outcome, run
from .search.spec import Search
from .search.sweep import Description
from .streams import timed_on
from .timing import do_bench as measure
from .timing import sampling

__all__ = ["Autotuner", "Measured"]

Measured = tuple[Config, float]
"""A configuration and its time in milliseconds."""

_REP_IN_TURNS = 5  # calls of a round

Configs = Sequence[Config] | Callable[..., Sequence[Config]] | Search


class Autotuner:
    """A function with configurations; `autotune` makes it and says what the arguments mean.

    Attributes:
        fn: the function.
        configs: the configurations, or the function that makes them of a call's arguments.
        key: the arguments whose shape, dtype or value the choice depends on.
        cache: the best configurations by key, those that the file had among them.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        configs: Configs,
        key: Sequence[str] | None = None,
        warmup: int = 5,
        rep: int = 25,
        prune_configs_by: Callable[[list[Config], dict[str, Any]], Sequence[Config]] | None = None,
        reset_to_zero: Sequence[str] | None = None,
        restore_value: Sequence[str] | None = None,
        pre_hook: Hook | None = None,
        post_hook: Hook | None = None,
        do_bench_fn: Callable[..., float] | None = None,
        default: Callable[..., Config] | None = None,
        artifact_name: str | None = None,
        validate_hook: Callable[[dict[str, Any]], AbstractContextManager[object]] | None = None,
        select_config: Callable[[list[Measured]], Measured] | None = None,
    ) -> None:
        if not callable(fn):
            raise TypeError(f"@autotune decorates a function, not {type(fn).__name__}")
        functools.update_wrapper(self, fn, updated=())
        self.fn = fn
        ready = callable(configs) or isinstance(configs, Search)
        self.configs: Configs = configs if ready else _checked_configs(configs, "configs")
        self.key = list(_names("key", key))
        self.warmup, self.rep = warmup, rep
        self.prune_configs_by = prune_configs_by
        self.reset_to_zero = list(_names("reset_to_zero", reset_to_zero))
        self.restore_value = list(_names("restore_value", restore_value))
        self.pre_hook, self.post_hook = pre_hook, post_hook
        self.default = default
        self.artifact_name = artifact_name
        self.validate_hook, self.select_config = validate_hook, select_config
        self._do_bench = measure if do_bench_fn is None else do_bench_fn
        self._parameters = Parameters(fn)
        if artifact_name is not None:
            artifacts.check_name(artifact_name, self.key, self._parameters)
        for what in ("key", "reset_to_zero", "restore_value"):
            self._parameters.check(what, getattr(self, what))
        self._lock = new_lock()
        self._disk = DiskCache(self._parameters.function_name)
        self.cache: dict[Key, Config] = {}
        self._read_disk()

    # -- calls ---------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Choose a configuration (see `resolve_config`) and run the function with it; returns what that returns."""
        return self._run_config(self.resolve_config(*args, **kwargs), args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def resolve_config(self, *args: Any, **kwargs: Any) -> Config:
        """Return the configuration for a call with these arguments, without that call.

        It is the first of: what is remembered, in memory or on disk; the offline artifact, where those are enabled;
        what `default` says; the fastest of all configurations, measured now and remembered. `FLYDSL_AUTOTUNE=1` leaves
        only the last.

        Raises:
            RuntimeError: all configurations failed.
            TypeError, ValueError: arguments that do not fit the function; a `configs`, `default`, `prune_configs_by`
                or `select_config` that returned something else than it should.
        """
        given = self._parameters.given(args, kwargs)
        complete = self._parameters.complete(given)
        forced = variables.FORCE.get()
        reference = self._artifact(complete, given, required=forced)
        key = self._key_of(given, complete, reference)
        if not forced:
            known = self._remembered(key)
            if known is not None:
                return known
            if reference is not None:
                known = artifacts.load(reference, self._parameters, given)
                if known is not None:
                    self.cache[key] = known
                    return known
            if self.default is not None:
                return _checked_config(self.default(*args, **kwargs), "default")
        with self._lock:
            if not forced:  # another thread may have been faster
                known = self._remembered(key)
                if known is not None:
                    return known
            best, milliseconds, measured_by = self._tune(args, kwargs, given, key)
            self.cache[key] = best
            self._disk.add(key, best, milliseconds, measured_by)
            if forced and reference is not None:
                artifacts.save(reference, best, given)
        return best

    def _remembered(self, key: Key) -> Config | None:
        if key not in self.cache:
            self._read_disk()  # another process may have found out since
        return self.cache.get(key)

    def _read_disk(self) -> None:
        """Take over what is kept and this process does not know.

        Not taken are a configuration that was withdrawn, and one with names that the function does not take.
        """
        changes = self._disk.changes()
        if not changes:
            return
        search = self.configs if isinstance(self.configs, Search) else None
        listed = () if callable(self.configs) or isinstance(self.configs, Search) else self.configs
        offered = {canonical_json(one.to_dict()): one for one in listed if faithful(one.to_dict())}
        for key, config in changes.items():
            known: Config | None = offered.get(canonical_json(config.to_dict()), None if listed else config)
            if search is not None and not search.offers(config):
                known = None
            if known is not None and all(map(self._parameters.accepts, known.kwargs)):
                self.cache.setdefault(key, known)

    @property
    def _cache_file(self) -> Path:
        """The function's JSON file, beside the database that counts."""
        return self._disk.path

    def _make_key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
        """The key of a call: texts, the same in every process."""
        given = self._parameters.given(args, kwargs)
        complete = self._parameters.complete(given)
        return self._key_of(given, complete, self._artifact(complete, given, required=False))

    def _key_of(self, given: dict[str, Any], complete: dict[str, Any], reference: artifacts.Reference | None) -> Key:
        device = fingerprint.call_device(given)
        artifact = None if reference is None else reference.key_part
        return make_key(self.fn, self._source, self.key, given, complete, device, artifact)

    @functools.cached_property
    def _source(self) -> str:
        return fingerprint.source_fingerprint(self.fn, self._parameters.target)

    def _artifact(
        self, complete: dict[str, Any], given: dict[str, Any], *, required: bool
    ) -> artifacts.Reference | None:
        if self.artifact_name is None or not artifacts.enabled():
            return None
        device = fingerprint.replaceable()._device_descriptor(fingerprint.call_device(given))
        try:
            return artifacts.make_reference(self.artifact_name, self.key, complete, device)
        except ValueError as error:
            if required:
                raise ValueError(f"cannot generate offline config identity: {error}") from error
            return None

    def _run_config(self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The real run: `reset_to_zero` tensors are zeroed, no hook is called."""
        self._reset_tensors(args, kwargs)
        return self._launch(config, args, kwargs)

    def _launch(self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments, hints = call_options(config, self._parameters)
        twice = arguments.keys() & kwargs.keys()
        if twice:
            raise TypeError(
                f"{self._parameters.function_name}(): the caller and {config!r} both give {', '.join(sorted(twice))}"
            )
        with layers.compile_hints(hints):
            return self.fn(*args, **kwargs, **arguments)

    # -- tuning --------------------------------------------------------------------------------------------------------

    def _tune(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any], key: Key
    ) -> tuple[Config, float, str]:
        """The best configuration, its milliseconds, and how they were found out (as `results.Result` has it)."""
        candidates = self._candidates(args, kwargs, given)
        search = self.configs if isinstance(self.configs, Search) else None
        measured_by = self.measure
        unit = " (predicted)" if measured_by == "predicted" else ""
        budget = len(candidates) if search is None else search.budget(len(candidates))
        progress = Progress(budget, unit, running=search is not None)
        method: Method = Exhaustive(candidates)
        ledger = seconds = None
        if search is None:
            progress.begin(f"{budget} configs")
        else:
            progress.begin(f"{search.name}{budget} of {len(candidates)} configs, {search.method}")
            estimates = search.estimates(candidates, self._parameters.complete(given))
            method, seconds = search.start(candidates, estimates), search.seconds
            ledger = Ledger(self._disk, key, measured_by)
        snapshot = self._snapshot_tensors(given)
        try:
            measured, failure = run(
                method,
                lambda config: self._evaluate(config, args, kwargs, snapshot),
                progress,
                budget=budget,
                seconds=seconds,
                ledger=ledger,
            )
            if measured_by == "device" and len(measured) > 1:
                measured = self._in_turns(measured, args, kwargs, snapshot, progress)
        finally:
            tensors.restore(given, snapshot)
        best, milliseconds = self._best_of(measured, failure, budget)
        progress.end(best, milliseconds)
        return best, milliseconds, measured_by

    def _in_turns(
        self,
        measured: list[Measured],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        snapshot: Mapping[str, Any],
        progress: Progress,
    ) -> list[Measured]:
        """What was measured, with the times of the fastest as they are when these take turns: the best comes first.

        Raises:
            Exception: one that ran before fails now.
        """

        def again(place: int) -> float:
            rep = min(_REP_IN_TURNS, self.rep)
            return self._bench_one(measured[place][0], args, kwargs, snapshot, warmup=1, rep=rep)

        found = settle([(place, one[1]) for place, one in enumerate(measured)], again)
        if found.rounds == 0:
            return measured
        progress.in_turns(len(found.times), found.rounds, certain=found.certain)
        least = found.times[found.best]
        # A time of the first look stays, but for being less than the best.
        times = {place: max(least, found.times.get(place, one[1])) for place, one in enumerate(measured)}
        return [(measured[place][0], times[place]) for place in sorted(times, key=lambda one: one != found.best)]

    @property
    def measure(self) -> str:
        """How the current device's times are found out, as `results.Result` has it."""
        if self._do_bench is not measure:
            return "own"
        return "predicted" if runtime.current_device().emulated else "device"

    def _evaluate(
        self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any], snapshot: Mapping[str, Any]
    ) -> Outcome:
        sampled = isinstance(self.configs, Search) and self.configs.sampled
        try:
            with sampling(sampled):
                return Outcome(self._bench_one(config, args, kwargs, snapshot))
        except Exception as error:  # whatever a candidate does wrong, others may be right
            return Outcome(None, str(error), error)

    def describe(self, args: tuple[Any, ...]) -> Description:
        """What a sweep over machines has to know of a call with these arguments.

        Raises:
            TypeError: `select_config` chooses: only this process can.
        """
        if self.select_config is not None:
            raise TypeError(f"sweep: {self._parameters.function_name} has a select_config, which a sweep does not ask")
        given = self._parameters.given(args, {})
        candidates = self._candidates(args, {}, given)
        search = self.configs if isinstance(self.configs, Search) else Search(candidates)
        estimates = search.estimates(candidates, self._parameters.complete(given))
        # Functions of the search may be ones that pickle does not know; what they had to say is said.
        plain = replace(search, space=candidates, estimate=None)
        key = self._make_key(args, {})
        name = self._parameters.function_name
        return Description(name, key, self.measure, plain, tuple(candidates), estimates)

    def evaluate(self, config: Config, args: tuple[Any, ...]) -> Outcome:
        """Compile and measure one configuration for a call; the tensors are as they were afterwards."""
        given = self._parameters.given(args, {})
        snapshot = self._snapshot_tensors(given)
        try:
            return self._evaluate(config, args, {}, snapshot)
        finally:
            tensors.restore(given, snapshot)

    def _best_of(self, measured: list[Measured], failure: Outcome | None, count: int) -> Measured:
        if not measured:
            error = None if failure is None else failure.exception
            what = "" if failure is None else failure.error if error is None else f"{type(error).__name__}: {error}"
            raise RuntimeError(
                f"All autotune configs failed: {self._parameters.function_name}(), {count} configs; the last: {what}"
            ) from error
        return self._selected(measured)

    def _candidates(self, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any]) -> list[Config]:
        name = self._parameters.function_name
        if isinstance(self.configs, Search):
            configs = self.configs.candidates(self._parameters.complete(given))
        elif callable(self.configs):
            configs = _checked_configs(self.configs(*args, **kwargs), "configs")
        else:
            configs = list(self.configs)
        if not configs:
            raise ValueError(f"autotune: {name}() has no configurations to choose from")
        if self.prune_configs_by is not None:
            count = len(configs)
            configs = _checked_configs(self.prune_configs_by(configs, dict(given)), "prune_configs_by")
            if not configs:
                raise ValueError(f"autotune: prune_configs_by left none of the {count} configurations of {name}()")
        return configs

    def _bench_one(
        self,
        config: Config,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        snapshot: Mapping[str, Any],
        *,
        warmup: int | None = None,
        rep: int | None = None,
    ) -> float:
        """Milliseconds of a configuration, after the validation; by default by the tuner's numbers of calls."""
        given = self._parameters.given(args, kwargs)
        merged = {**kwargs, **config.all_kwargs()}

        def call() -> None:
            tensors.restore(given, snapshot)
            self._reset_tensors(args, kwargs)
            for hook in (config.pre_hook, self.pre_hook):
                if hook is not None:
                    hook(merged)
            self._launch(config, args, kwargs)
            if self.post_hook is not None:
                self.post_hook(merged)

        complete = self._parameters.complete(given)
        with timed_on(complete.get("stream"), fingerprint.call_device(given)):
            if self.validate_hook is not None:
                with self.validate_hook({**complete, **config.all_kwargs()}):
                    call()
            warmup, rep = self.warmup if warmup is None else warmup, self.rep if rep is None else rep
            milliseconds = self._do_bench(call, warmup=warmup, rep=rep)
        if not isinstance(milliseconds, (int, float)) or not math.isfinite(milliseconds):
            raise ValueError(f"do_bench returned {milliseconds!r}, not a time in milliseconds")
        return float(milliseconds)

    def _selected(self, measured: list[Measured]) -> Measured:
        if self.select_config is None:
            return min(measured, key=lambda one: one[1])
        chosen = self.select_config(list(measured))
        for one in measured:
            if chosen is one or (isinstance(chosen, tuple) and chosen == one):
                return one
        raise ValueError(f"select_config must return one of the measured (config, time) pairs, got {chosen!r}")

    def _snapshot_tensors(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: tensors.snapshot(name, given[name]) for name in self.restore_value if given.get(name) is not None}

    def _reset_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self.reset_to_zero:
            return
        given = self._parameters.given(args, kwargs)
        for name in self.reset_to_zero:
            if given.get(name) is not None:
                tensors.zero(name, given[name])

    def __repr__(self) -> str:
        if isinstance(self.configs, Search):
            count = self.configs.method
        else:
            count = "computed" if callable(self.configs) else str(len(self.configs))
        return f"<@autotune {self._parameters.function_name}, {count} configs, key={self.key}>"


def _names(what: str, names: Sequence[str] | None) -> Iterator[str]:
    if isinstance(names, str):
        raise TypeError(f"autotune: {what} is a list of parameter names, got the text {names!r}: [{names!r}]")
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(f"autotune: {what} is a list of parameter names, got {name!r} in it")
        yield name


def _checked_configs(configs: Any, source: str) -> list[Config]:
    try:
        found = list(configs)
    except TypeError:
        raise TypeError(f"autotune: {source} gives a list of Config, got {type(configs).__name__}") from None
    return [_checked_config(one, source) for one in found]


def _checked_config(config: Any, source: str) -> Config:
    if not isinstance(config, Config):
        raise TypeError(f"autotune: {source} gives Config objects, got {type(config).__name__} {config!r}")
    return config

# SPDX-License-Identifier: Apache-2.0
"""`do_bench`: what a call costs, measured on hardware, predicted on an emulated device."""

from __future__ import annotations

import logging
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import flydsl.runtime as runtime
from flydsl.runtime.forks import new_lock

from . import events, layers

__all__ = ["do_bench", "sampling"]

_log = logging.getLogger("flydsl")
# Launches are predicted for the whole process, and what runs beside a measured call makes it slower.
_one_at_a_time = new_lock()
_sampled: ContextVar[bool] = ContextVar("flydsl_autotune_sampled", default=False)


@contextmanager
def sampling(on: bool) -> Iterator[None]:
    """Have `do_bench` run only the workgroups that the emulator's model wants, in a `with` block."""
    token = _sampled.set(on)
    try:
        yield
    finally:
        _sampled.reset(token)


def do_bench(
    fn: Callable[[], object], warmup: int = 5, rep: int = 25, quantiles: Sequence[float] | None = None
) -> float | list[float]:
    """Return the median time of `fn()` in milliseconds, or the times at some quantiles.

    On hardware: device time between events of HIP or CUDA, in at most five batches of calls, each figure the mean of
    a batch.

    On an emulated device: the time that the emulator predicts for the launches on the device that is emulated, summed
    (docs/emulator/prediction.md says how, and how far off predictions are). It does not vary, so `fn` is called once,
    whatever the counts are. When `fn` launches no kernel there is nothing to predict: then it is the wall-clock time of
    the calls, and the log warns of it.

    One measurement runs at a time in a process: threads wait for each other.

    Args:
        fn: what is measured; takes nothing.
        warmup: calls before, not measured.
        rep: calls that are measured.
        quantiles: numbers from 0 to 1; None for the median.

    Raises:
        TypeError: `fn` is not callable.
        ValueError: `warmup` is no integer from 0 on, `rep` none from 1 on, a quantile not between 0 and 1.
        RuntimeError: there is no device, or nothing runs (`COMPILE_ONLY`).
    """
    if not callable(fn):
        raise TypeError(f"do_bench measures a function without arguments, got {type(fn).__name__}")
    _check_count("warmup", warmup, 0)
    _check_count("rep", rep, 1)
    for one in quantiles or ():
        if not 0 <= one <= 1:
            raise ValueError(f"do_bench: quantiles are numbers from 0 to 1, got {one!r}")
    if os.environ.get("COMPILE_ONLY", "").lower() in ("1", "true", "yes", "on"):
        raise RuntimeError("do_bench: COMPILE_ONLY is set, so no kernel runs and there is nothing to measure")
    emulated = runtime.current_device().emulated
    with _one_at_a_time:
        measured = _predicted(fn, warmup, rep) if emulated else events.times(fn, warmup, rep)
    if quantiles is None:
        return statistics.median(measured)
    return [_quantile(sorted(measured), one) for one in quantiles]


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"do_bench: {name} is a number of calls, an integer from {least} on, got {value!r}")


def _quantile(ordered: Sequence[float], quantile: float) -> float:
    """The value at a quantile of sorted values, by linear interpolation."""
    place = quantile * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _predicted(fn: Callable[[], object], warmup: int, rep: int) -> list[float]:
    with layers.emulator_prediction(sampled=_sampled.get()) as session:
        fn()
        runtime.synchronize_device()
    launches = session.launches
    if not launches:
        _log.warning(
            "do_bench: no kernel ran on the emulated device: this is the wall-clock time of the host, not a prediction"
        )
        return _wall_clock(fn, warmup, rep)
    seconds = sum(one.seconds for one in launches)
    _log.info("do_bench: emulated: predicted %.6g ms for %d launches; not measured", seconds * 1e3, len(launches))
    return [seconds * 1e3]


def _wall_clock(fn: Callable[[], object], warmup: int, rep: int) -> list[float]:
    for _ in range(warmup):
        fn()
    measured = []
    for _ in range(rep):
        started = time.perf_counter()
        fn()
        measured.append((time.perf_counter() - started) * 1e3)
    return measured

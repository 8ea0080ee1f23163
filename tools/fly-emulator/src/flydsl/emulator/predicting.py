# SPDX-License-Identifier: Apache-2.0
"""Predicted time of launches on a device that is not there.

from flydsl.emulator import predict

with predict("MI325X") as session:        # launches run in full, and are predicted
    gemm(a, b, c)
print(session.last)                       # "gemm_kernel on MI325X: predicted 312 us (within 28 %), bound by matrix"

with predict("MI325X", sampled=True):     # only a sample of the workgroups runs: results are incomplete
    gemm(a, b, c)

What the model knows, how it was calibrated and how far off it was is told in docs/emulator/prediction.md.

The wheel registers this module as the entry point "emulator" of the group "flydsl.autotune".
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from flydsl.emulator._library import library_path, version
from flydsl.emulator.device import Emulator
from flydsl.emulator.prediction_page import prediction_page

_BARS = "▁▂▃▄▅▆▇█"


def _shares(cycles: dict[str, int]) -> str:
    """The reasons of waiting with their shares, the longest first; those below half a percent are left out."""
    whole = sum(cycles.values())
    ordered = sorted(cycles.items(), key=lambda one: -one[1])
    return ", ".join(f"{name} {n / whole:.0%}" for name, n in ordered if n >= 0.005 * whole and n)


class Prediction:
    """The predicted time of one launch. `data` is the library's JSON object; `number` is the prediction's of this
    process, and 0 for the last one of this thread."""

    def __init__(self, data: dict[str, Any], number: int = 0) -> None:
        self.data = data
        self.number = number
        self.kernel: str = data["kernel"]
        self.device: str = data["device"]
        self.seconds = float(data["time_us"]) * 1e-6
        self.error = float(data["error"])
        """Nine of ten timings of the calibration's kernels of this kind lie within this relative error."""
        self.bound: str = data["bound"]
        """The resource that is busiest (vector, matrix, lds, l1, l2, mall, hbm), "atomic", "tail" or "latency"."""
        self.busy: dict[str, float] = data["busy"]
        """By resource, the share of the time that a compute unit (or its part of what all share) is busy."""
        self.bounds: dict[str, float] = {name: us * 1e-6 for name, us in data["bounds_us"].items()}
        """Seconds that the launch would take by one bound alone: a resource that is never idle, "latency" (workgroups
        alone on their compute unit, one round after the other), "atomic" (those on the line that most are on, one after
        the other), "launch" (without workgroups). "tail" is the part of the time that a last round with less work
        costs."""
        self.occupancy_over_time: list[float] = data["occupancy_over_time"]
        """Waves on a SIMD, the mean of the device, in equal parts of the launch's time."""
        self.stalled: dict[str, int] = data["stalled"]
        """Cycles that waves waited, summed, by reason."""

    @property
    def stalled_at(self) -> list[tuple[str, int]]:
        """Source lines (or places in the code) where waves waited most, with the cycles summed over waves."""
        return [(line, int(cycles)) for line, cycles, _ in self.data["stalled_at"]]

    @property
    def stall_reasons(self) -> list[tuple[str, dict[str, int]]]:
        """The lines of `stalled_at`, with the cycles by reason."""
        return [(line, reasons) for line, _, reasons in self.data["stalled_at"]]

    @property
    def stalled_instructions(self) -> list[dict[str, Any]]:
        """Machine instructions before which waves waited most: address, text, source ("file:line") and, by reason, the
        cycles summed over waves ("stalled")."""
        instructions: list[dict[str, Any]] = self.data["stalled_instructions"]
        return instructions

    def write_trace(self, path: str | Path) -> None:
        """Write the waves of the busiest compute unit over time as trace events, for ui.perfetto.dev (cycles are shown
        as microseconds). Needs `predict(trace=True)`; `EmulatorError` says so. The last four launches keep theirs.
        """
        Path(path).write_text(Emulator().prediction_trace(self.number))

    def write_html(self, path: str | Path) -> None:
        """Write the prediction as a page of HTML, one file that needs nothing else: time, bounds, waves in flight over
        time, and what waves waited for by source line and instruction."""
        Path(path).write_text(prediction_page(self), encoding="utf-8")

    def to_json(self) -> str:
        """The whole prediction as JSON."""
        return json.dumps(self.data)

    def report(self) -> str:
        """The prediction with its terms, as text."""
        waited = sum(self.stalled.values()) or 1
        occupancy = self.data["occupancy"]
        lines = [
            str(self),
            f"  clock {self.data['clock_ghz']:.2f} GHz; {occupancy['waves_per_simd']} waves a SIMD "
            f"(limited by {occupancy['limited_by']}), {self.data['groups_per_unit']:.2f} workgroups a compute unit",
            "  busy: " + ", ".join(f"{name} {share:.0%}" for name, share in self.busy.items()),
            "  time by each bound alone: " + ", ".join(f"{name} {us * 1e6:.4g} us" for name, us in self._bounds()),
            f"  waves a SIMD over time, at most {max(self.occupancy_over_time, default=0):.2g}: {self._occupancy()}",
            "  waves waited for: " + _shares(self.stalled),
        ]
        for line, reasons in self.stall_reasons:
            lines.append(f"    {sum(reasons.values()) / waited:5.1%}  {line}  ({_shares(reasons)})")
        lines.append("  by instruction:")
        for one in self.stalled_instructions:
            reasons = one["stalled"]
            share = sum(reasons.values()) / waited
            lines.append(f"    {share:5.1%}  {one['address']:#x} {one['text']}  ({_shares(reasons)})")
        return "\n".join(lines)

    def _bounds(self) -> list[tuple[str, float]]:
        """The bounds, the longest first."""
        return sorted(self.bounds.items(), key=lambda one: -one[1])

    def _occupancy(self) -> str:
        """The waves over time as a row of bars."""
        most = max(self.occupancy_over_time, default=0) or 1
        return "".join(_BARS[round(waves / most * (len(_BARS) - 1))] for waves in self.occupancy_over_time)

    def __str__(self) -> str:
        return (
            f"{self.kernel} on {self.device}: predicted {self.seconds * 1e6:.4g} us "
            f"(within {self.error:.0%}), bound by {self.bound}"
        )


class PredictionSession:
    """The launches that were predicted inside a `predict()` block, of all threads, in the order of their ends."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._first = emulator.prediction_count()
        self._launches: list[Prediction] | None = None

    @property
    def launches(self) -> list[Prediction]:
        """The predictions so far (the last 1024)."""
        if self._launches is not None:
            return self._launches
        found = self._emulator.predictions(self._first)
        number = self._emulator.prediction_count() - len(found) + 1
        return [Prediction(data, number + i) for i, data in enumerate(found)]

    @property
    def last(self) -> Prediction:
        """The latest; `LookupError` if nothing was launched."""
        launches = self.launches
        if not launches:
            raise LookupError("no kernel was launched on the emulator in this predict() block")
        return launches[-1]

    @property
    def seconds(self) -> float:
        """The predicted times of all launches, summed."""
        return sum(launch.seconds for launch in self.launches)

    def _close(self) -> None:
        self._launches = self.launches


@contextlib.contextmanager
def predict(
    device: str = "", *, sampled: bool = False, warm: bool = False, trace: bool = False
) -> Iterator[PredictionSession]:
    """Predict every launch of this process on the emulator while the block runs.

    `device`: "MI300X", "MI325X", "MI355X", "RX 7900 XTX", "RX 9070 XT", "gfx1250" (of which all is assumed), or an
    architecture for its best known device; by default the best known one of each launch's code. Launches of code for
    another architecture raise. `sampled`: execute only the workgroups that the model wants; what kernels compute is
    then incomplete. `warm`: the tensors are in the Infinity Cache as far as they fit, as when a launch is repeated.
    `trace`: keep the waves of the busiest compute unit over time, for `Prediction.write_trace`.
    """
    emulator = Emulator()
    session = PredictionSession(emulator)
    emulator.set_prediction(device, sampled=sampled, warm=warm, trace=trace)
    try:
        yield session
    finally:
        session._close()
        emulator.set_prediction(None)


@lru_cache(maxsize=1)
def prediction_model() -> str:
    """A text that names the model of time: the library's version, and a hash of the library that this process uses.

    Everything that a prediction depends on beside the launch is in the library, so what one text predicted another may
    predict otherwise.
    """
    return f"{version()}+{hashlib.sha256(Path(library_path()).read_bytes()).hexdigest()[:12]}"

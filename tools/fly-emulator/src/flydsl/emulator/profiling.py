# SPDX-License-Identifier: Apache-2.0
"""Counters, the issue model and the roofline of launches, as Python objects.

    from flydsl.emulator import profile

    with profile() as session:
        launch(a, b, c)                       # anything that runs on the emulator in this process
    p = session.last
    p.total.bytes_loaded                      # bytes, by lanes
    p.hottest_loop.mfma_issue_share           # 0 to 1
    p.print()                                 # a rich table

All numbers are emulated: counts are exact for the launch, cycles come from the issue model and are estimates
(docs/emulator/profiling.md says what the model holds).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flydsl.emulator.device import Emulator

if TYPE_CHECKING:
    from rich.console import Console

_SEGMENT = 64  # bytes of a memory transaction


@dataclass(frozen=True)
class Counters:
    """What one instruction, source line, loop, class or kernel did.

    `instructions` are those of waves, `lanes` the active lanes summed over them. `bytes_loaded` and `bytes_stored` are
    moved by lanes to and from global and buffer memory; `scalar_bytes` by scalar loads, kernel arguments aside;
    `transactions` are the 64-byte segments that each wave instruction touches. `flops` are those of matrix
    instructions. `issue_cycles` (the sum over waves, each alone and without overlap), its part `mfma_cycles`, and
    `slot_cycles` (with one issue slot of 4 cycles for a matrix instruction) are estimates, as is
    `lds_conflict_cycles`.
    """

    instructions: int
    lanes: int
    bytes_loaded: int
    bytes_stored: int
    scalar_bytes: int
    transactions: int
    lds_bytes: int
    lds_accesses: int
    lds_conflict_cycles: int
    flops: int
    issue_cycles: int
    mfma_cycles: int
    slot_cycles: int

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Counters:
        """From the library's JSON."""
        return cls(**{field.name: int(value[field.name]) for field in fields(cls)})

    @property
    def bytes_moved(self) -> int:
        """Bytes to and from memory: vector and scalar."""
        return self.bytes_loaded + self.bytes_stored + self.scalar_bytes

    @property
    def coalescing(self) -> float:
        """Bytes that lanes move for each byte of the segments they touch; 1.0 is full coalescing, NaN no access."""
        moved = self.bytes_loaded + self.bytes_stored
        return moved / (_SEGMENT * self.transactions) if self.transactions else float("nan")

    @property
    def mfma_issue_share(self) -> float:
        """`mfma_cycles / issue_cycles`: the density of matrix work, 0 to 1."""
        return self.mfma_cycles / self.issue_cycles if self.issue_cycles else 0.0

    @property
    def mfma_issue_bound(self) -> float:
        """The share of its matrix unit that one wave reaches if all else issues in the shadow of matrix work."""
        most = max(self.mfma_cycles, self.slot_cycles)
        return self.mfma_cycles / most if most else 0.0


@dataclass(frozen=True)
class Loop:
    """A loop of the machine code; `source` is "file:line" of its header, `iterations` counts those of waves.

    `timeline_cycles` are what the timeline's waves spent in it, `timeline_stalled` the part that they waited.
    """

    location: str
    source: str
    code_bytes: int
    iterations: int
    depth: int
    innermost: bool
    timeline_cycles: int
    timeline_stalled: int
    total: Counters

    @property
    def mfma_issue_share(self) -> float:
        """See `Counters.mfma_issue_share`."""
        return self.total.mfma_issue_share

    @property
    def mfma_issue_bound(self) -> float:
        """See `Counters.mfma_issue_bound`."""
        return self.total.mfma_issue_bound


@dataclass(frozen=True)
class InstructionLine:
    """One machine instruction: its address in the code object, its text and what it did."""

    address: int
    text: str
    source: str
    cls: str
    unit: str
    timeline_cycles: int
    timeline_stalled: int
    total: Counters


@dataclass(frozen=True)
class Occupancy:
    """Waves of the kernel that fit a SIMD; `limited_by` is vgpr, sgpr, lds or slots (8 waves)."""

    waves_per_simd: int
    groups_per_compute_unit: int
    limited_by: str
    waves_by_vgpr: int
    waves_by_sgpr: int
    waves_by_lds: int


@dataclass(frozen=True)
class Timeline:
    """The first workgroups of the launch, as many as share a compute unit, under the time model of `device`
    (docs/emulator/prediction.md): as they would be on a device that is full of such workgroups, with cold caches.

    `cycles` until the last wave ends; `busy` is the share of that time, by unit (scalar, vector, matrix, lds, memory)
    and by the unit's part of what all share (l2, mall, hbm); `stalled` the wave cycles that were waited, by reason.
    `truncated`: very long waves were cut off.
    """

    device: str
    cycles: int
    groups: int
    waves: int
    truncated: bool
    busy: dict[str, float]
    stalled: dict[str, int]


@dataclass(frozen=True)
class Roofline:
    """A launch against the peaks of the device that is emulated (all estimates).

    `bytes_moved` against `least_bytes` (what the algorithm cannot do without; None if not stated) gives `ratio`.
    The seconds: `memory` is `bytes_moved` at the peak of HBM, `matrix` the matrix cycles spread over all matrix units,
    `issue` the issue model's cycles. `intensity` is matrix FLOP per byte. `bound` names the longest of the three.
    """

    bytes_moved: int
    least_bytes: int | None
    flops: int
    memory_seconds: float
    matrix_seconds: float
    issue_seconds: float

    @property
    def ratio(self) -> float | None:
        """Bytes moved for each byte that has to be; 1.0 is the best there is."""
        return None if not self.least_bytes else self.bytes_moved / self.least_bytes

    @property
    def intensity(self) -> float:
        """Matrix FLOP per byte moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else float("inf")

    @property
    def bound(self) -> str:
        """What takes longest: "memory", "matrix" or "issue"."""
        times = {"memory": self.memory_seconds, "matrix": self.matrix_seconds, "issue": self.issue_seconds}
        return max(times, key=lambda name: times[name])


@lru_cache(maxsize=1)
def _device_models() -> dict[str, dict[str, Any]]:
    return Emulator().device_models()


def _memory_peak(device: str) -> float:
    """Bytes per second, as published."""
    return float(_device_models()[device]["facts"]["hbm_gbs"]["value"]) * 1e9


class Profile:
    """The profile of one launch. `data` is the library's JSON object."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.launch = int(data.get("launch", 0))
        self.kernel: str = data["kernel"]
        self.arch: str = data["arch"]
        self.grid: tuple[int, int, int] = tuple(data["grid"])
        self.block: tuple[int, int, int] = tuple(data["block"])
        self.registers: dict[str, int] = data["registers"]
        self.lds_bytes = int(data["lds_bytes"])
        self.scratch_bytes = int(data["scratch_bytes"])
        self.code_bytes = int(data["code_bytes"])
        self.occupancy = Occupancy(**data["occupancy"])
        self.timeline = Timeline(**data["timeline"])
        self.total = Counters.of(data["total"])
        self.classes = {name: Counters.of(value) for name, value in data["classes"].items()}
        self.lines = {name: Counters.of(value) for name, value in data["lines"].items()}

    @cached_property
    def loops(self) -> list[Loop]:
        """The loops by address."""
        names = [field.name for field in fields(Loop) if field.name != "total"]
        return [
            Loop(**{name: loop[name] for name in names}, total=Counters.of(loop["total"]))
            for loop in self.data["loops"]
        ]

    @cached_property
    def instructions(self) -> list[InstructionLine]:
        """The executed instructions by address."""
        return [
            InstructionLine(
                address=one["address"],
                text=one["text"],
                source=one["source"],
                cls=one["class"],
                unit=one["unit"],
                timeline_cycles=one["timeline_cycles"],
                timeline_stalled=one["timeline_stalled"],
                total=Counters.of(one["total"]),
            )
            for one in self.data["instructions"]
        ]

    @property
    def hottest_loop(self) -> Loop | None:
        """The innermost loop with the most issue cycles; None without loops."""
        innermost = [loop for loop in self.loops if loop.innermost]
        return max(innermost, key=lambda loop: loop.total.issue_cycles, default=None)

    @property
    def estimated_cycles(self) -> int:
        """Cycles of the launch: the timeline's, for as many rounds as the compute units need. `predict()` does better:
        it takes workgroups of the whole grid.
        """
        return int(self.data["estimated_cycles"])

    def roofline(self, least_bytes: int | None = None) -> Roofline:
        """The launch against the device's peaks; `least_bytes` is what the algorithm must move at least."""
        device = self.data["device"]
        clock = float(device["clock_hz"])
        return Roofline(
            bytes_moved=self.total.bytes_moved,
            least_bytes=least_bytes,
            flops=self.total.flops,
            memory_seconds=self.total.bytes_moved / _memory_peak(self.timeline.device),
            matrix_seconds=self.total.mfma_cycles / (device["simds"] * device["compute_units"] * clock),
            issue_seconds=self.estimated_cycles / clock,
        )

    def to_json(self) -> str:
        """The whole profile as JSON."""
        return json.dumps(self.data)

    def write_trace(self, path: str | Path) -> None:
        """Write the waves over time as trace events, for ui.perfetto.dev (cycles are shown as microseconds).

        Needs `profile(trace=True)`; `EmulatorError` says so. The last four launches keep their trace.
        """
        Path(path).write_text(Emulator().trace(self.launch))

    def print(self, console: Console | None = None, least_bytes: int | None = None) -> None:
        """Print tables by class, source line and loop, and the roofline (needs `rich`)."""
        from flydsl.emulator.profile_table import print_profile

        print_profile(self, console, least_bytes)

    def __repr__(self) -> str:
        return f"<Profile of {self.kernel} on emulated {self.arch}: {self.total.issue_cycles:,} issue cycles>"


class Session:
    """The launches that were profiled inside a `profile()` block, of all threads, in the order of their ends."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._first = emulator.profile_count()
        self._launches: list[Profile] | None = None

    @property
    def launches(self) -> list[Profile]:
        """The profiles so far (the last 1024)."""
        if self._launches is not None:
            return self._launches
        return [Profile(data) for data in self._emulator.profiles(self._first)]

    @property
    def last(self) -> Profile:
        """The latest; `LookupError` if nothing was launched."""
        launches = self.launches
        if not launches:
            raise LookupError("no kernel was launched on the emulator in this profile() block")
        return launches[-1]

    def _close(self) -> None:
        self._launches = self.launches


@contextlib.contextmanager
def profile(*, trace: bool = False) -> Iterator[Session]:
    """Profile every launch of this process on the emulator while the block runs.

    `trace`: also record the waves over time, for `Profile.write_trace`. Profiling is as it was before (off, or what
    FLYDSL_EMU_PROFILE says) after the block.
    """
    emulator = Emulator()
    before = emulator.profiling()
    session = Session(emulator)
    emulator.set_profiling(2 if trace else 1)
    try:
        yield session
    finally:
        session._close()
        emulator.set_profiling(before)

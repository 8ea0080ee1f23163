# SPDX-License-Identifier: Apache-2.0
"""Sanitizers around launches, from Python.

from flydsl.emulator import sanitize

with sanitize("all") as found:            # a launch with findings raises, with their report
    launch(x, y)
with sanitize("race", raises=False) as found:
    launch(x, y)
for report in found.reports:              # of every launch in the block
    print(report)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from flydsl.emulator.device import Emulator

_VARIABLE = "FLYDSL_EMU_SANITIZE"


@dataclass(frozen=True)
class Report:
    """A finding of a sanitizer; repeats at the same instructions are counted.

    `source` is "file:line" (empty without line information), `other_source` that of a race's other access. `lane` is
    -1 where a whole wave is meant, `thread` the lane's in its block. `address`, where there is one, is a host address
    or an offset into LDS.
    """

    sanitizer: str
    what: str
    location: str
    instruction: str
    source: str
    block: tuple[int, int, int]
    wave: int
    lane: int
    count: int
    thread: tuple[int, int, int] | None = None
    address: int | None = None
    other_location: str = ""
    other_instruction: str = ""
    other_source: str = ""

    @classmethod
    def of(cls, value: dict[str, Any]) -> Report:
        """From the library's JSON."""
        known = {one.name for one in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(item) if isinstance(item, list) else item for key, item in value.items() if key in known
        }
        return cls(**values)

    @property
    def line(self) -> int:
        """The number of the source line; 0 if it isn't known."""
        return int(self.source.rpartition(":")[2] or 0)

    def __str__(self) -> str:
        text = f"{self.sanitizer}: {self.what}\n  at {self.source or self.location}: {self.instruction}"
        if self.other_location:
            text += f"\n  and {self.other_source or self.other_location}: {self.other_instruction}"
        where = f"\n  block {self.block}, wave {self.wave}"
        return text + where + (f", lane {self.lane} (thread {self.thread})" if self.lane >= 0 else "")


@dataclass
class Findings:
    """What the launches of a `sanitize()` block brought up."""

    reports: list[Report] = field(default_factory=list)


@contextlib.contextmanager
def sanitize(*sanitizers: str, raises: bool = True, stop_at_first: bool = False) -> Iterator[Findings]:
    """Check every launch of this process on the emulator while the block runs.

    `sanitizers`: memory, race, init, wait, barrier, hazard, lint, or all (all but lint; the default). With `raises`, a
    launch with findings fails (as `hipErrorLaunchFailure`, which the caller's runtime turns into its exception);
    without, it succeeds unless it cannot go on. `stop_at_first` ends a launch at its first finding. What was switched
    on before the block is so again after it.

    FLYDSL_EMU_SANITIZE says so too while the block runs: compilers that look there mark registers that nobody writes,
    so that `init` finds them in what is compiled in the block.
    """
    emulator = Emulator()
    before = emulator.sanitizers()
    options = emulator.report_options()
    found = Findings()
    emulator.set_sanitizers(*(sanitizers or ("all",)))
    environment = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = ",".join(sanitizers or ("all",))
    emulator.set_report_options(stop_at_first=stop_at_first, most_reports=options["most_reports"], raises=raises)
    first = emulator.report_count()
    try:
        yield found
    finally:
        found.reports.extend(Report.of(value) for value in emulator.reports_after(first))
        emulator.set_sanitizers(*before)
        if environment is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = environment
        emulator.set_report_options(**options)

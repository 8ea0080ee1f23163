# SPDX-License-Identifier: Apache-2.0
"""What was compiled, from where it came, how long each stage took, and what its kernels use."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flydsl.runtime.forks import new_lock

__all__ = ["CompilationReport", "compilation_reports", "record"]

_KEPT = 256
_ORIGINS = {
    "compiled": "compiled now",
    "disk": "from the disk cache",
    "memory": "from this process's memory",
}


@dataclass(frozen=True)
class CompilationReport:
    """One specialisation of a host function.

    Attributes:
        function: the host function's name.
        arch: what it was compiled for.
        origin: `compiled`, `disk` or `memory`.
        seconds: duration of each stage in this process, in order: `key`, `trace`, and of what did not come from disk
            `verify`, the passes and `emit`.
        kernels: per kernel: its name and what it uses, as the backend says in the note; of AMD devices registers, LDS
            and scratch bytes, spills, occupancy in waves per SIMD.
        path: the artifact.
        key: its cache key.
        arguments: the types that it was specialised for, as text.
        processor_seconds: as `seconds`, but processor time of all threads of this process: it does not grow with what
            else the machine does.
    """

    function: str
    arch: str
    origin: str
    seconds: Mapping[str, float]
    kernels: Sequence[Mapping[str, Any]]
    path: Path
    key: str
    arguments: Sequence[str] = field(default=())
    processor_seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(self.seconds.values())

    def __str__(self) -> str:
        lines = [f"{self.function}({', '.join(self.arguments)}) for {self.arch}: {_ORIGINS[self.origin]}"]
        lines += [f"  artifact {self.path}", f"  key {self.key}"]
        if self.seconds:
            width = max(map(len, self.seconds))
            lines.append(f"  {'stage':<{width}}  {'ms':>8}")
            lines += [f"  {name:<{width}}  {spent * 1e3:>8.2f}" for name, spent in self.seconds.items()]
            lines.append(f"  {'total':<{width}}  {self.total * 1e3:>8.2f}")
        if self.kernels:
            width = max(6, *(len(one["name"]) for one in self.kernels))
            columns = [one for one in _COLUMNS if all(one[0] in kernel for kernel in self.kernels)]
            lines.append(f"  {'kernel':<{width}}  " + " ".join(f"{title:>{wide}}" for _, title, wide in columns))
            lines += [
                f"  {one['name']:<{width}}  " + " ".join(f"{one[key]:>{wide}}" for key, _, wide in columns)
                for one in self.kernels
            ]
        return "\n".join(lines)


# What the table of kernels shows where the backend says it: the note's name, the title, the width.
_COLUMNS = (
    ("vgpr", "vgpr", 5),
    ("agpr", "agpr", 5),
    ("sgpr", "sgpr", 5),
    ("lds_bytes", "lds", 7),
    ("scratch_bytes", "scratch", 7),
    ("spills", "spills", 6),
    ("occupancy", "waves/simd", 10),
)

_reports: deque[CompilationReport] = deque(maxlen=_KEPT)
_lock = new_lock()


def record(report: CompilationReport) -> None:
    """Remember a report."""
    with _lock:
        _reports.append(report)


def compilation_reports() -> list[CompilationReport]:
    """Return the reports of this process, oldest first: of every specialisation that was compiled or came from disk.

    The last 256 are kept. `print(flyc.compilation_reports()[-1])` shows one as a table.
    """
    with _lock:
        return list(_reports)

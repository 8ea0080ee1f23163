# SPDX-License-Identifier: Apache-2.0
"""What was compiled, from where it came, how long each stage took, and what its kernels use."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        seconds: duration of each stage in this process, in order: `trace`, `key`, and of what did not come from disk
            `verify`, the passes and `emit`.
        kernels: per kernel: name, registers, LDS and scratch bytes, spills, occupancy in waves per SIMD (of the note).
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
            lines.append(
                f"  {'kernel':<{width}}  {'vgpr':>5} {'agpr':>5} {'sgpr':>5} {'lds':>7} {'scratch':>7} {'spills':>6} "
                f"{'waves/simd':>10}"
            )
            lines += [
                f"  {one['name']:<{width}}  {one['vgpr']:>5} {one['agpr']:>5} {one['sgpr']:>5} {one['lds_bytes']:>7} "
                f"{one['scratch_bytes']:>7} {one['spills']:>6} {one['occupancy']:>10}"
                for one in self.kernels
            ]
        return "\n".join(lines)


_reports: deque[CompilationReport] = deque(maxlen=_KEPT)
_lock = threading.Lock()


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

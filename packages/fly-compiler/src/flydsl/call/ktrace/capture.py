# SPDX-License-Identifier: Apache-2.0
"""From recorded events to files and figures: `fx.ktrace.capture`, `collect` and `summary`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from flydsl.trace.event_settings import blocks_text
from flydsl.trace.hints import compile_hints
from flydsl.utils import env

from .buffer import all_buffers
from .perfetto import write_trace
from .records import TICKS_PER_SECOND, Wave
from .spans import spans_of

__all__ = ["Capture", "collect", "summarised", "summary"]


def read_all() -> list[Wave]:
    """Return what was recorded on all devices since the last reset."""
    return [wave for buffer in all_buffers() for wave in buffer.read_waves()]


def reset_all() -> None:
    """Forget what was recorded on all devices."""
    for buffer in all_buffers():
        buffer.reset()


def collect(kernel: str = "kernel", out_dir: Any = None) -> str | None:
    """Write what was recorded to a trace file, and forget it.

    Args:
        kernel: names the file: `<kernel>.ktrace.json`.
        out_dir: its folder; by default `FLYDSL_KTRACE_DUMP_DIR`, else the working directory.

    Returns:
        The path of the file, for https://ui.perfetto.dev; `None` when nothing was recorded.

    Raises:
        RuntimeError: more was recorded than the buffer holds.
    """
    waves = read_all()
    if not waves:
        return None
    path = _write(waves, kernel, out_dir)
    reset_all()
    return path


def summary() -> dict[str, Any] | None:
    """Return figures of what was recorded and not collected yet, `None` when there is nothing; see `summarised`."""
    return summarised(read_all())


def summarised(waves: Sequence[Wave]) -> dict[str, Any] | None:
    """Return figures of some waves.

    Returns:
        `launches`, `waves`, `events`, and `names`: for each name of an event its `kind` (`mark` or `range`), `count`
        and, of ranges that ended, `min_ns`, `median_ns`, `mean_ns`, `max_ns` and `total_ns`. Nanoseconds are those of
        the device's clock of 100 MHz; the emulator counts an executed instruction as a tick of it.
    """
    if not waves:
        return None
    names: dict[str, dict[str, Any]] = {}
    lengths: dict[str, list[float]] = {}
    for wave in waves:
        for span in spans_of(wave):
            kind = "mark" if span.kind == "mark" else "range"
            entry = names.setdefault(span.name, {"kind": kind, "count": 0})
            entry["count"] += 1
            if kind == "range" and span.end is not None:
                lengths.setdefault(span.name, []).append((span.end - span.begin) * 1e9 / TICKS_PER_SECOND)
    for name, values in lengths.items():
        names[name].update(
            min_ns=min(values),
            median_ns=statistics.median(values),
            mean_ns=statistics.fmean(values),
            max_ns=max(values),
            total_ns=sum(values),
        )
    return {
        "launches": len({wave.dispatch for wave in waves}),
        "waves": len(waves),
        "events": sum(len(wave.events) for wave in waves),
        "names": names,
    }


def _write(waves: Sequence[Wave], kernel: str, out_dir: Any) -> str:
    folder = Path(out_dir or env.ktrace.dump_dir or ".").expanduser()
    name = re.sub(r"[^\w.-]", "_", kernel) or "kernel"
    figures = summarised(waves)
    return str(write_trace(waves, folder / f"{name}.ktrace.json", {"kernel": kernel, "summary": figures}))


class Capture:
    """A block whose kernels record: `with fx.ktrace.capture("gemm", blocks=(0, 0, 0)) as trace: launch(...)`.

    Inside the block functions are compiled to record, as with the hint `ktrace`. At its end the records are read, and
    written to `out_dir` if that is given; afterwards they are the object's, and the buffer is empty.

    Args:
        kernel: names the files.
        blocks: which workgroups record: `(x, y, z)`, `"x,y,z"`, `"xcc:N"`, or all of them (`None`).
        out_dir: folder for the trace file.

    Raises:
        ValueError: `blocks` of another form.
    """

    def __init__(self, kernel: str = "kernel", *, blocks: Any = None, out_dir: Any = None) -> None:
        self.kernel = kernel
        self.blocks = blocks_text(blocks)
        self.out_dir = out_dir
        self.waves: list[Wave] = []
        self.path: str | None = None
        """The trace file, once it is written."""
        self._hints: AbstractContextManager[None] | None = None

    def __enter__(self) -> Capture:
        if self._hints is not None:
            raise RuntimeError("this capture is active already; make another one")
        reset_all()
        self.waves, self.path = [], None
        hints: dict[str, Any] = {"ktrace": True, **({"ktrace_blocks": self.blocks} if self.blocks else {})}
        self._hints = compile_hints(hints)
        self._hints.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        assert self._hints is not None
        self._hints.__exit__(kind, error, trace)
        self._hints = None
        if kind is None:
            self.read()
            if self.out_dir is not None:
                self.export()

    def clear(self) -> None:
        """Forget what was captured so far."""
        reset_all()
        self.waves = []

    def read(self) -> Capture:
        """Take what was recorded since the last reading to what is captured already, and return the capture.

        Raises:
            RuntimeError: more was recorded than the buffer holds.
        """
        self.waves += read_all()
        reset_all()
        return self

    def summary(self) -> dict[str, Any] | None:
        """Return figures of what is captured, `None` when that is nothing; see `fx.ktrace.summary`."""
        return summarised(self.waves)

    def launches(self) -> list[dict[str, Any]]:
        """Return a summary of each launch, in order, with its `queue` and `dispatch`."""
        return [
            {"queue": dispatch[0], "dispatch": dispatch[1], **(summarised(waves) or {})}
            for dispatch, waves in self._by_launch().items()
        ]

    def export(self) -> str | None:
        """Write one trace file of everything, and return its path; `None` when nothing is captured."""
        self.path = _write(self.waves, self.kernel, self.out_dir) if self.waves else None
        return self.path

    def export_launches(self, names: Sequence[str] | None = None) -> list[str]:
        """Write a trace file for each launch, and return their paths.

        Args:
            names: of the files; by default the capture's name and a number.

        Raises:
            ValueError: not as many names as launches.
        """
        launches = list(self._by_launch().values())
        names = [f"{self.kernel}_{number}" for number in range(len(launches))] if names is None else names
        if len(names) != len(launches):
            raise ValueError(f"{len(launches)} launches were captured, but there are {len(names)} names")
        return [_write(waves, name, self.out_dir) for waves, name in zip(launches, names, strict=True)]

    def _by_launch(self) -> dict[tuple[int, int], list[Wave]]:
        found: dict[tuple[int, int], list[Wave]] = {}
        for wave in self.waves:
            found.setdefault(wave.dispatch, []).append(wave)
        return found

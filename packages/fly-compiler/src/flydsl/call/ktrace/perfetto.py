# SPDX-License-Identifier: Apache-2.0
"""Trace files for https://ui.perfetto.dev and chrome://tracing: the JSON of the Trace Event Format.

A process is a workgroup of a launch, a thread one of its waves. Times are in microseconds from the first event.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flydsl.utils.file import atomic_write

from .records import TICKS_PER_SECOND, Wave
from .spans import Span, spans_of

__all__ = ["trace_events", "write_trace"]


def trace_events(waves: Sequence[Wave], *, ticks_per_second: float = TICKS_PER_SECOND) -> list[dict[str, Any]]:
    """Return the events of a trace file."""
    if not waves:
        return []
    start = min(wave.events[0].time for wave in waves)
    last = max(event.time for wave in waves for event in wave.events)
    scale = 1e6 / ticks_per_second
    groups: dict[Any, int] = {}
    events: list[dict[str, Any]] = []
    launches: dict[Any, int] = {}
    for wave in waves:
        launch = launches.setdefault(wave.dispatch, len(launches))
        key = (wave.dispatch, wave.block)
        if key not in groups:
            groups[key] = len(groups) + 1
            name = f"launch {launch}, workgroup {wave.block}"
            events.append({"ph": "M", "name": "process_name", "pid": groups[key], "args": {"name": name}})
        at = {"pid": groups[key], "tid": wave.wave}
        events.append({"ph": "M", "name": "thread_name", **at, "args": {"name": f"wave {wave.wave}"}})
        for number, span in enumerate(spans_of(wave)):
            events += _events(span, at, number, start, last, scale)
    return events


def _events(span: Span, at: dict[str, int], number: int, start: int, last: int, scale: float) -> list[dict[str, Any]]:
    args = {**span.payloads, "xcc": span.xcc_id}
    begin = (span.begin - start) * scale
    if span.kind == "mark":
        return [{"ph": "i", "s": "t", "name": span.name, **at, "ts": begin, "args": args}]
    end = span.end
    if end is None:  # drawn to the end of the trace
        end, args["unfinished"] = last, True
    if span.kind == "push":
        return [{"ph": "X", "name": span.name, **at, "ts": begin, "dur": (end - span.begin) * scale, "args": args}]
    # Ranges with tokens may overlap, so each has a track of its own.
    track = {"cat": "range", "id": f"{at['pid']}.{at['tid']}.{number}", "name": span.name, **at}
    return [
        {"ph": "b", **track, "ts": begin, "args": args},
        {"ph": "e", **track, "ts": (end - start) * scale},
    ]


def write_trace(waves: Sequence[Wave], path: Path, about: dict[str, Any]) -> Path:
    """Write a trace file, whole or not at all, and return its path.

    Args:
        waves: what to draw.
        path: the file; its folder is made if need be.
        about: what else the file says of itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"traceEvents": trace_events(waves), "displayTimeUnit": "ns", "otherData": about})
    with atomic_write(path, mode="w") as file:
        file.write(text)
    return path

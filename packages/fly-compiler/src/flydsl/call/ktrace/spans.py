# SPDX-License-Identifier: Apache-2.0
"""Ranges of time: the events of a wave, each beginning with its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .records import Event, Wave

__all__ = ["Span", "spans_of"]


@dataclass(frozen=True)
class Span:
    """A range, or a mark (which has no length).

    Attributes:
        name: of the event that began it.
        kind: `mark`, `push` or `start`, by which function began it.
        begin: ticks.
        end: ticks; `None` when it never ended.
        payloads: of its beginning and its end, as far as there are any.
        xcc_id: the die.
        depth: how many ranges that were pushed are around it.
    """

    name: str
    kind: str
    begin: int
    end: int | None
    payloads: dict[str, Any]
    xcc_id: int
    depth: int


def spans_of(wave: Wave) -> list[Span]:
    """Return the marks and ranges of a wave in the order in which they began.

    A pop ends the innermost range that was pushed; a stop ends the start that its token names. Ends without a
    beginning are left out.
    """
    found: dict[int, Span] = {}
    pushed: list[Event] = []
    started = {event.slot: event for event in wave.events if event.kind == "range_start"}
    for event in wave.events:
        if event.kind == "mark":
            found[event.slot] = _span(event, "mark", event, len(pushed))
        elif event.kind == "range_push":
            found[event.slot] = _span(event, "push", None, len(pushed))
            pushed.append(event)
        elif event.kind == "range_start":
            found[event.slot] = _span(event, "start", None, 0)
        elif event.kind == "range_pop" and pushed:
            begin = pushed.pop()
            found[begin.slot] = _span(begin, "push", event, len(pushed))
        elif event.kind == "range_stop" and event.token in started:
            found[event.token] = _span(started[event.token], "start", event, 0)
    return [found[slot] for slot in sorted(found)]


def _span(begin: Event, kind: str, end: Event | None, depth: int) -> Span:
    payloads = {} if begin.payload is None else {"payload": begin.payload}
    if end is not None and end is not begin and end.payload is not None:
        payloads["end payload"] = end.payload
    return Span(begin.name, kind, begin.time, None if end is None else end.time, payloads, begin.xcc_id, depth)

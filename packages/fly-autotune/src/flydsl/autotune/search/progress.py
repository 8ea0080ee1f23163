# SPDX-License-Identifier: Apache-2.0
"""What a search says while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..config import Config

__all__ = ["Progress", "text_of"]


def text_of(milliseconds: float) -> str:
    """A time, for people."""
    return f"{milliseconds:.3f} ms" if milliseconds >= 1 else f"{milliseconds:.4g} ms"


class Progress:
    """A line for each evaluation; with `running`, also the best so far and how long the search runs."""

    def __init__(self, count: int, unit: str, *, running: bool, say: Callable[[str], None] | None = None) -> None:
        self._count, self._unit, self._running = count, unit, running
        self._say = say or (lambda text: print(text, flush=True))
        self._done = 0
        self._best: float | None = None
        self._started = time.monotonic()

    def begin(self, text: str) -> None:
        """The first line."""
        self._say(f"[autotune] tuning {text}...")

    def evaluated(self, config: Config, milliseconds: float | None, error: str, *, known: bool = False) -> None:
        """A configuration was evaluated, now or (`known`) by an earlier run."""
        self._done += 1
        if milliseconds is not None:
            self._best = milliseconds if self._best is None else min(self._best, milliseconds)
        result = f"FAILED: {error}" if milliseconds is None else f"{text_of(milliseconds)}{self._unit}"
        more = ", known" if known else ""
        if self._running:
            best = "none yet" if self._best is None else text_of(self._best)
            more += f" | best so far {best}, {time.monotonic() - self._started:.0f} s"
        self._say(f"[autotune]   [{self._done}/{self._count}] {config!r} -> {result}{more}")

    def in_turns(self, count: int, rounds: int, *, certain: bool) -> None:
        """So many of the fastest were measured again, in turns."""
        result = "settled" if certain else "too close to tell"
        self._say(f"[autotune]   the fastest {count} again, in turns, {rounds} rounds: {result}")

    def end(self, config: Config, milliseconds: float) -> None:
        """The last line."""
        self._say(f"[autotune] best: {config!r} ({text_of(milliseconds)}{self._unit})")

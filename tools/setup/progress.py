# SPDX-License-Identifier: Apache-2.0
"""How far a setup step is: on one line of a terminal, in a log a line now and then."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import TextIO

SIDE_BY_SIDE = False
"""Whether several commands run at a time: a line of a terminal is then no command's own."""

_STEP = re.compile(r"\[(\d+)/(\d+)\] ")  # how ninja begins its lines


class Progress:
    """Watches the output of a command, and tells how many of its steps are done and how long the others may take.

    A command that does not count its steps is said to be still at it.
    """

    def __init__(
        self, what: str, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, every: float = 30.0
    ) -> None:
        self._what, self._stream, self._clock, self._every = what, stream or sys.stderr, clock, every
        self._started = self._said = clock()
        self._done = self._total = 0
        self._live = self._stream.isatty() and not SIDE_BY_SIDE
        self._width = 0

    def see(self, line: str) -> None:
        """Take note of a line of the output."""
        step = _STEP.match(line)
        if step:
            self._done, self._total = int(step[1]), int(step[2])

    def tick(self) -> None:
        """Say how far it is, if it is time to; call it about once a second."""
        now = self._clock()
        if self._live:
            if now - self._started >= 2:
                self._write("\r" + self._text(now).ljust(self._width))
        elif now - self._said >= self._every:
            self._said = now
            self._write(self._text(now) + "\n")

    def close(self) -> None:
        """End the line of a terminal, and say how long it took if that was long."""
        taken = self._clock() - self._started
        if self._live and self._width:
            self._write("\r" + " " * self._width + "\r")
        if taken > 5:
            self._write(f"tools/dev:   … {duration(taken)}\n")

    def _text(self, now: float) -> str:
        elapsed = now - self._started
        text = f"tools/dev:   {self._what}: "
        if not self._total:
            return text + f"{duration(elapsed)} so far"
        text += f"{self._done} of {self._total} steps, {duration(elapsed)} so far"
        # The first steps are no measure for the others: they configure, or wait for nothing.
        if self._done >= 10 and self._done < self._total:
            text += f", about {duration(elapsed / self._done * (self._total - self._done))} left"
        return text

    def _write(self, text: str) -> None:
        self._width = max(self._width, len(text.strip("\r\n")))
        self._stream.write(text)
        self._stream.flush()


def duration(seconds: float) -> str:
    """Seconds for people."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"

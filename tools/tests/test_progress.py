# SPDX-License-Identifier: Apache-2.0
"""What `tools/dev` says while a step runs."""

from __future__ import annotations

import io
import sys

import pytest
from setup.progress import Progress
from setup.shell import SetupError, run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_steps_and_an_estimate() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress("building fly-dialect", stream, clock)
    for seconds in range(1, 61):
        clock.now = float(seconds)
        progress.see(f"[{seconds}/600] Building CXX object {seconds}.o\n")
        progress.see("warning: [3/4] is not at the start\n")
        progress.tick()
    progress.close()
    assert stream.getvalue().splitlines() == [
        "tools/dev:   building fly-dialect: 30 of 600 steps, 30 s so far, about 10 min left",
        "tools/dev:   building fly-dialect: 60 of 600 steps, 60 s so far, about 9 min left",
        "tools/dev:   … 60 s",
    ]


def test_a_terminal_has_one_line_that_changes() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress("building", stream, clock)
    for seconds in range(1, 5):
        clock.now = float(seconds)
        progress.see(f"[{seconds}/8] x\n")
        progress.tick()
    assert stream.getvalue().count("\r") == 3
    assert "\n" not in stream.getvalue()
    progress.close()
    assert stream.getvalue().endswith(" \r")


def test_a_command_that_counts_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress("installing", stream, clock)
    clock.now = 31.0
    progress.tick()
    assert stream.getvalue() == "tools/dev:   installing: 31 s so far\n"


def test_a_command_gives_its_output() -> None:
    assert run([sys.executable, "-c", "print('[1/2] a'); print('b')"], what="a step") == "[1/2] a\nb\n"


def test_a_command_that_fails_shows_its_output() -> None:
    with pytest.raises(SetupError, match=r"(?s)a step: failed with exit code 3\n.*    why\ndo this"):
        run([sys.executable, "-c", "print('why'); raise SystemExit(3)"], what="a step", hint="do this")
    with pytest.raises(SetupError, match=r"no-such-program is not installed\. do this"):
        run(["no-such-program"], what="a step", hint="do this")

# SPDX-License-Identifier: Apache-2.0
"""Running commands: said before and while they run, their output kept out of the way unless they fail."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from .progress import Progress

_ALONE: dict[str, threading.RLock] = {}
_GUARD = threading.Lock()


def alone(what: str) -> threading.RLock:
    """The lock of something that one thread makes, while others that need it wait: a wheel, an environment."""
    with _GUARD:
        return _ALONE.setdefault(what, threading.RLock())


class SetupError(Exception):
    """A step of the setup failed; the text says which, and what to do."""


def say(text: str) -> None:
    """Tell the person what happens now."""
    print(f"tools/dev: {text}\n", end="", file=sys.stderr, flush=True)  # in one piece, beside other threads


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    hint: str = "",
) -> str:
    """Run a setup step and return what it printed.

    Raises SetupError with the last lines of its output if it fails; `hint` is what the reader can do about it.
    """
    say(what)
    words = [str(word) for word in command]
    try:
        process = subprocess.Popen(
            words,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except FileNotFoundError as error:
        raise SetupError(f"{what}: {words[0]} is not installed. {hint}".rstrip()) from error
    progress = Progress(what.partition(":")[0])
    lines: list[str] = []

    def read() -> None:
        for line in process.stdout or ():
            lines.append(line)
            progress.see(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while True:
            try:
                code = process.wait(timeout=1)
                break
            except subprocess.TimeoutExpired:
                progress.tick()
    except BaseException:  # Ctrl-C: the command must not go on alone
        process.kill()
        process.wait()
        raise
    finally:
        progress.close()
    reader.join()
    if code != 0:
        tail = "".join("    " + line for line in lines[-60:]).rstrip()
        raise SetupError(f"{what}: failed with exit code {code}\n  {' '.join(words)}\n{tail}\n{hint}".rstrip())
    return "".join(lines)

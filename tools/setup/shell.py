# SPDX-License-Identifier: Apache-2.0
"""Running commands: said before they run, their output kept out of the way unless they fail."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


class SetupError(Exception):
    """A step of the setup failed; the text says which, and what to do."""


def say(text: str) -> None:
    """Tell the person what happens now."""
    print(f"tools/dev: {text}", file=sys.stderr, flush=True)


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
    started = time.monotonic()
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
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
    if done.returncode != 0:
        tail = "\n".join("    " + line for line in done.stdout.splitlines()[-60:])
        raise SetupError(
            f"{what}: failed with exit code {done.returncode}\n  {' '.join(words)}\n{tail}\n{hint}".rstrip()
        )
    if time.monotonic() - started > 5:
        say(f"  … {time.monotonic() - started:.0f} s")
    return done.stdout

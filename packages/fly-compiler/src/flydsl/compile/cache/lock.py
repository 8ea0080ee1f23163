# SPDX-License-Identifier: Apache-2.0
"""Advisory locks between processes; the kernel releases them when a process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["exclusive"]


@contextmanager
def exclusive(path: Path, *, timeout: float, what: str) -> Iterator[None]:
    """Hold the lock file `path` for the length of a block.

    Args:
        path: the lock file; it is created and stays.
        timeout: seconds to wait for another holder.
        what: what the holder does, for the error.

    Raises:
        TimeoutError: another process did not give the lock up in time.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline, pause = time.monotonic() + timeout, 0.002
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise TimeoutError(
                        f"another process has been {what} for more than {timeout:.0f} s ({path})"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 0.1)
        yield
    finally:
        os.close(descriptor)

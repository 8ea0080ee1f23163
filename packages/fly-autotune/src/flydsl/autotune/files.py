# SPDX-License-Identifier: Apache-2.0
"""Files that several processes write: whole or not at all, and values that survive the way there and back."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["canonical_json", "exclusive", "faithful", "read_file", "remove_abandoned", "write_json"]

_PATIENCE = 60.0  # seconds for a lock: whoever has it writes for milliseconds
_ABANDONED = 3600.0  # seconds after which a file that is being written was left behind by a killed process


def canonical_json(value: object) -> str:
    """The one text for a value: sorted keys, no spaces, numbers that JSON has.

    Raises:
        TypeError: JSON has nothing for a part of it.
        ValueError: an infinite number, or none.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def faithful(value: object) -> bool:
    """Tell whether a value read back from JSON is equal to it, and of the same types throughout."""
    try:
        return _same(json.loads(canonical_json(value)), value)
    except (TypeError, ValueError, RecursionError):
        return False


def _same(read: Any, written: Any) -> bool:
    if type(read) is not type(written):
        return False
    if isinstance(read, dict):
        return read.keys() == written.keys() and all(_same(read[key], written[key]) for key in read)
    if isinstance(read, list):
        return len(read) == len(written) and all(map(_same, read, written))
    return bool(read == written)


def read_file(path: Path, *, links: bool = True) -> bytes:
    """The bytes of a regular file; without `links`, of one that is really there.

    Raises:
        OSError: it cannot be read, or is no regular file (to open a FIFO would wait for its writer).
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read()


def write_json(path: Path, value: object) -> None:
    """Put a value into a file, in the place of what was there; it is on the disk before it has the name.

    Raises:
        OSError: the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2, sort_keys=True, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def remove_abandoned(folder: Path) -> None:
    """Remove what writers that were killed have left in a folder (`write_json`). What cannot be removed stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and ".json-" in entry.name:
                with suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                        os.unlink(entry.path)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep others that call this for the same lock file out of a `with` block; nothing is written to that file.

    Raises:
        OSError: the file cannot be made, is a link or no regular file.
        TimeoutError: another process has had the lock for a minute.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"another process holds {path}") from None
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)

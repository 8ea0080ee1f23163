# SPDX-License-Identifier: Apache-2.0
"""Files that a trace read: a change of one is a reason to trace anew."""

from __future__ import annotations

import os
import stat

from .context import maybe_current

__all__ = ["note_file", "state_of_file"]


def state_of_file(path: str) -> tuple[int, ...] | None:
    """Return what differs when a file or folder was written, replaced, made or removed; `None` when it is not there."""
    try:
        own = _facts(os.lstat(path))
    except (OSError, ValueError):
        return None
    if not stat.S_ISLNK(own[2]):
        return own
    try:  # what it points to counts, and where it points
        return (*own, *_facts(os.stat(path)))
    except OSError:
        return own


def _facts(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns)


def note_file(path: object) -> None:
    """Note that the present trace is about to read a file; what is no path (a descriptor, say) is passed over."""
    trace = maybe_current()
    if trace is None or not isinstance(path, (str, bytes, os.PathLike)):
        return
    name = os.path.abspath(os.fsdecode(path))
    trace.files.setdefault(name, state_of_file(name))

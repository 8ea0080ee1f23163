# SPDX-License-Identifier: Apache-2.0
"""Files that a trace read: a change of one is a reason to trace anew.

No program sets a file's time of change (`st_ctime`), as `os.utime` sets that of modification; the clock of most file
systems ticks only every few milliseconds, though, and has room for another write of as many bytes in a tick. So of what
was that young when it was noted, the content is compared as well.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from typing import Any

from .context import maybe_current

__all__ = ["WORKING_FOLDER", "note_file", "reader_of_file", "state_of_file"]

WORKING_FOLDER = os.curdir
"""Stands among the files of a trace for the working folder, where it opened one by a relative name."""
_TICK_NS = 20_000_000


def state_of_file(path: str) -> tuple[Any, ...] | None:
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


def _with_content(path: str) -> tuple[Any, ...] | None:
    """Return the state of a file with a hash of what is in it; of a folder, with the names in it."""
    state = state_of_file(path)
    try:
        if state is not None and os.path.isdir(path):
            return (*state, "names:", *sorted(os.listdir(path)))
        if state is not None and os.path.isfile(path):
            with open(path, "rb") as file:
                return (*state, hashlib.sha256(file.read()).hexdigest())
    except OSError:  # it has gone since, or may not be read
        pass
    return state


def reader_of_file(path: str, state: tuple[Any, ...] | None) -> Callable[[str], object]:
    """Return what reads the state of a file again, to be compared with one that was noted."""
    if path == WORKING_FOLDER:
        return _working_folder
    return _reader_of_young(state) if state is not None and isinstance(state[-1], str) else state_of_file


def _reader_of_young(state: tuple[Any, ...]) -> Callable[[str], object]:
    """Return a reader that looks at the content until a tick of the clock is over, then no more than is needed."""
    facts = tuple(one for one in state if isinstance(one, int))
    settled = False

    def read(path: str) -> object:
        nonlocal settled
        if settled and state_of_file(path) == facts:
            return state
        over = time.time_ns() - facts[-1] > _TICK_NS
        found = _with_content(path)
        settled = over and found == state
        return found

    return read


def _working_folder(_: str) -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _facts(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def note_file(path: object) -> None:
    """Note that the present trace is about to read a file; what is no path (a descriptor, say) is passed over."""
    trace = maybe_current()
    if trace is None or not isinstance(path, (str, bytes, os.PathLike)):
        return
    given = os.fsdecode(path)
    name = os.path.abspath(given)
    if not os.path.isabs(given):
        trace.files.setdefault(WORKING_FOLDER, os.getcwd())
    if name not in trace.files:
        state = state_of_file(name)
        young = state is not None and abs(time.time_ns() - state[-1]) < _TICK_NS
        trace.files[name] = _with_content(name) if young else state

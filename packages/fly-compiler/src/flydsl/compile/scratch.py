# SPDX-License-Identifier: Apache-2.0
"""The folder where this process makes its files.

It belongs to the process that made it: one that was forked off makes its own, and only its maker takes it away. Its
maker holds a lock on it, which the kernel releases when the process ends, however it ends; a folder that nobody holds
was left behind by a killed process, and goes when the next one is made.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import resource
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flydsl.runtime.forks import new_lock

__all__ = ["scratch_folder", "why_unwritable"]

_PREFIX = "flydsl-scratch-"
_ATTEMPTS = 10
_LITTLE, _FEW = 1 << 20, 8
"""Bytes and files: with less a disk counts as full. What could not be written whole was removed, which made room."""
_LARGE = 64 << 20
"""Bytes that no artifact has."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Scratch(NamedTuple):
    path: Path
    descriptor: int  # of the folder; carries the lock
    process: int
    facts: os.stat_result  # of the folder

    def is_there(self) -> bool:
        """Whether the name still stands for the folder that was made, and the descriptor for its lock."""
        try:
            return os.path.samestat(os.lstat(self.path), self.facts) and self._is_open()
        except OSError:
            return False

    def close(self) -> None:
        """Give the lock up. Whoever closed all descriptors, as daemons do, may have another file at this number."""
        with suppress(OSError):
            if self._is_open():
                os.close(self.descriptor)

    def _is_open(self) -> bool:
        return os.path.samestat(os.fstat(self.descriptor), self.facts)


_current: _Scratch | None = None
_lock = new_lock()


def scratch_folder() -> Path:
    """Return this process's folder for what is being made; it is private to the user, and goes with the process.

    Raises:
        OSError: it cannot be made; the text names the place.
    """
    global _current
    with _lock:
        if _current is None or not _current.is_there():
            if _current is not None:
                _current.close()
                _current = None
            _sweep(Path(tempfile.gettempdir()))
            _current = _make()
        return _current.path


def why_unwritable() -> str | None:
    """Return what may keep files from being made in the folder for temporary ones, `None` where nothing is seen."""
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    try:
        facts = os.statvfs(folder)
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if not os.path.isdir(folder):
        return f"TMPDIR={folder} is no folder"
    if facts.f_bavail * facts.f_frsize < _LITTLE or (facts.f_files and facts.f_favail < _FEW):
        return f"{os.strerror(errno.ENOSPC)}: {folder}. Make room there, or set TMPDIR to another folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} cannot be written. Set TMPDIR to another folder"
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if 0 <= largest < _LARGE:  # RLIM_INFINITY is -1
        return f"{os.strerror(errno.EFBIG)}: this process may write files of {largest} bytes at most (RLIMIT_FSIZE)"
    return None


def _make() -> _Scratch:
    for _ in range(_ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            descriptor = os.open(path, _OPEN)
        except FileNotFoundError:
            continue  # swept by another process before it was locked
        made = _Scratch(path, descriptor, os.getpid(), os.fstat(descriptor))
        if _take(descriptor) is not False and made.is_there():
            return made
        made.close()
    raise OSError(f"cannot make a folder {_PREFIX}… in {tempfile.gettempdir()} that other processes leave alone")


def _take(descriptor: int) -> bool | None:
    """Lock a folder: whether that was possible, or `None` where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _sweep(folder: Path) -> None:
    """Remove what killed processes of this user have left behind. What cannot be removed stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_abandoned(entry)


def _remove_abandoned(entry: os.DirEntry[str]) -> None:
    if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
        return
    descriptor = os.open(entry.path, _OPEN)
    try:
        if _take(descriptor) and os.path.samestat(os.lstat(entry.path), os.fstat(descriptor)):
            shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _remove_own() -> None:
    if _current is not None and _current.process == os.getpid() and _current.is_there():
        shutil.rmtree(_current.path, ignore_errors=True)


def _forget() -> None:
    """In a process that was forked off: the folder is its parent's."""
    global _current
    if _current is not None:
        _current.close()  # the parent's descriptor keeps the lock
        _current = None


atexit.register(_remove_own)
os.register_at_fork(after_in_child=_forget)

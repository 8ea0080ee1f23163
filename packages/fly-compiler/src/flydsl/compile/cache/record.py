# SPDX-License-Identifier: Apache-2.0
"""What is known of tool chains whose files were read: the hash of their content, and what the files were then.

A record is a file in `~/.flydsl/toolchains`, or in the cache folder of a user without a home that can be written. It
holds while all of its files and folders have the same facts, and only there: nothing is taken from it unchecked.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flydsl.utils import env
from flydsl.utils.file import atomic_write

__all__ = ["Facts", "Known", "add", "facts_of", "find", "now"]

_HOME = "~/.flydsl/toolchains"
_IN_CACHE = ".toolchains"
_MOST_RECORDS = 16
_YOUNG_NS = 2_000_000_000
_HASH = 32
_FORM = 2

Facts = tuple[int, int, int, int, int]
"""Device, inode, size, time of modification, time of change. No installer, archive or `touch` sets the time of change
or the inode. So files of equal facts have equal content, and folders the same files."""


class Known(NamedTuple):
    """A tool chain."""

    digest: str
    """Hash of the content of its files."""
    youngest: int
    """The latest time of a change of one of them, in ns."""
    facts: dict[str, Facts]
    """Of all files and folders that were looked at, by path."""


def now() -> int:
    """Return the time in ns, on the clock that files have theirs from, whatever `time.time` was made to say."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def facts_of(paths: Iterable[str]) -> dict[str, Facts]:
    """Return what the file system says of files and folders.

    Raises:
        OSError: one is not there.
    """
    found = {}
    for path in paths:
        one = os.stat(path)
        found[path] = (one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns)
    return found


def find(name: str) -> Known | None:
    """Return what is recorded under a name, if all of its files are as they were then."""
    for folder in _folders():
        content = _content(folder / name, name)
        if content is None:
            continue
        known = Known(*marshal.loads(content))
        with suppress(OSError):
            if facts_of(known.facts) == known.facts:
                return known
    return None


def add(name: str, known: Known) -> None:
    """Record what is known under a name.

    Nothing is recorded while a file or folder is so young that it may change again within one tick of the file system's
    clock. Nothing is raised either: without a record the files are read again.
    """
    if max(facts[-1] for facts in known.facts.values()) > now() - _YOUNG_NS:
        return
    content = marshal.dumps(tuple(known))
    digest = _digest(name, content)
    for folder in _folders():
        with suppress(OSError):
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            with atomic_write(folder / name, mode="wb", sync=False) as file:
                file.write(digest + content)
            _keep_newest(folder)
            return


def _keep_newest(folder: Path) -> None:
    """Remove the records that were made longest ago, if there are many."""
    found = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
    for path in found[_MOST_RECORDS:]:
        path.unlink()


def _folders() -> list[Path]:
    """Return where records may be, the preferred place first."""
    found = [Path(env.runtime.cache_dir) / _IN_CACHE]
    with suppress(RuntimeError):  # there is no home
        found.insert(0, Path(_HOME).expanduser())
    return found


def _digest(name: str, content: bytes) -> bytes:
    """Return the hash that stands before the content of a record.

    The name goes into it, so that a record under the name of another tool chain is none; so does the form of a record,
    which is to have another number when it changes.
    """
    return hashlib.sha256(f"{_FORM} {name}\n".encode() + content).digest()


def _content(path: Path, name: str) -> bytes | None:
    """Return what stands in a record of this user's that is whole and has this name, behind its hash."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content[_HASH:] if content[:_HASH] == _digest(name, content[_HASH:]) else None

# SPDX-License-Identifier: Apache-2.0
"""An artifact's file: opened once, so that what was checked is what is read and what is loaded (docs/security.md)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from . import _library
from .errors import ArtifactError

_MOST_BYTES = 1 << 30
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# What dlopen replaces in a name: the file that it would open is another one than the name says.
_LOADER_TOKEN = re.compile(r"\$\{?(ORIGIN|LIB|PLATFORM)\b")


class OpenFile(NamedTuple):
    """A regular file that is open for reading, and its bytes."""

    path: Path
    descriptor: int
    status: os.stat_result
    data: bytes

    @property
    def identity(self) -> tuple[int, int]:
        """What stays the same while the file is open or loaded, whatever its name."""
        return self.status.st_dev, self.status.st_ino

    def is_unchanged(self) -> bool:
        """Whether the file still holds the bytes that were read when it was opened.

        Its times say neither that it does (a clock tick has room for a write) nor that it does not: another process
        that finds the same artifact in the cache touches it.

        Raises ArtifactError where it cannot be read any more.
        """
        try:
            with open(self.descriptor, "rb", closefd=False) as file:
                file.seek(0)
                return file.read(len(self.data) + 1) == self.data
        except OSError as error:
            raise ArtifactError(f"{self.path}: cannot be read: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _refuse_kind(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    raise ArtifactError(f"{path}: cannot be read: it is {kinds.get(stat.S_IFMT(mode), 'no regular file')}")


@contextmanager
def opened(path: Path) -> Iterator[OpenFile]:
    """Open a file in a `with` block, and read it. Nothing but a regular file is ever opened.

    Raises ArtifactError for what is no regular file, cannot be read, or has a name that the loader would change.
    """
    if _LOADER_TOKEN.search(str(path)):
        raise ArtifactError(f"{path}: refused: the system's loader replaces $ORIGIN, $LIB and $PLATFORM in names")
    descriptors: list[int] = []
    try:
        try:
            # Only looked at: a FIFO would block, and devices do things when they are opened.
            descriptors.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
            status = os.fstat(descriptors[0])
            _refuse_kind(path, status.st_mode)
            if status.st_size > _MOST_BYTES:
                raise ArtifactError(
                    f"{path}: not an artifact: it has {status.st_size} bytes, the most is {_MOST_BYTES}"
                )
            descriptors.append(os.open(f"/proc/self/fd/{descriptors[0]}", os.O_RDONLY | os.O_CLOEXEC))
            with open(descriptors[1], "rb", closefd=False) as file:
                data = file.read(status.st_size)
        except OSError as error:
            raise ArtifactError(f"{path}: cannot be read: {_reason(error)}") from error
        except ValueError as error:  # a NUL in the name
            raise ArtifactError(f"{path!r}: cannot be read: {error}") from error
        yield OpenFile(path, descriptors[1], status, data)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def refuse_untrusted(file: OpenFile) -> None:
    """Raise ArtifactError unless nobody can have written the file who could not put code into this process anyway.

    Those are this user, root, and the owner of the runtime's own library.
    """
    status = file.status
    if status.st_uid not in (os.geteuid(), 0) and status.st_uid != _library.library_path().stat().st_uid:
        raise ArtifactError(
            f"{file.path}: refused: it belongs to user {status.st_uid}, whose code would run in this process. If you "
            "trust it, make a copy of your own"
        )
    if status.st_mode & _OTHERS_WRITE:
        raise ArtifactError(
            f"{file.path}: refused: it may be written by others (mode {stat.S_IMODE(status.st_mode):04o}), whose code "
            f"would run in this process. If you trust it: chmod go-w {file.path}"
        )

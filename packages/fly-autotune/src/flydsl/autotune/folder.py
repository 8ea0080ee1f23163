# SPDX-License-Identifier: Apache-2.0
"""The folder of results: a file in it decides what runs, so it is taken only from where nobody else can write."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["UntrustedError", "is_private", "private_folder"]

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ADVICE = "or set FLYDSL_AUTOTUNE_CACHE_DIR to a folder of yours"


class UntrustedError(OSError):
    """A folder or file that others may write to, or no folder or file at all; the text says what to do."""


def private_folder(path: Path, *, make: bool) -> Path:
    """Check a folder that others must not write to; with `make`, create it for its owner alone.

    Raises:
        UntrustedError: it belongs to somebody other than this user and root, others may write to it, everybody may
            replace it (a parent is writable by all, and not sticky), or it is no folder.
        FileNotFoundError: it is not there, and `make` is false.
        OSError: it cannot be made.
    """
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
    facts = path.stat()
    if not stat.S_ISDIR(facts.st_mode):
        raise UntrustedError(f"{path} is not a folder")
    if not is_private(facts):
        raise UntrustedError(
            f"others may write to {path} (owner {facts.st_uid}, mode {stat.S_IMODE(facts.st_mode):04o}): "
            f"`chmod go-w {path}` after looking at what is in it, {_ADVICE}"
        )
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise UntrustedError(f"everybody may replace {path}, because {parent} is writable by all: {_ADVICE}")
    return path


def is_private(facts: os.stat_result) -> bool:
    """Tell whether only this user and root can write."""
    return facts.st_uid in (os.geteuid(), 0) and not facts.st_mode & _OTHERS

# SPDX-License-Identifier: Apache-2.0
"""Folders that only their owner may write to: what lies in them is loaded into the process as code."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["ADVICE", "CacheFolderError", "UnwritableCacheError", "private_folder"]

ADVICE = "Set FLYDSL_RUNTIME_CACHE_DIR to a folder of yours, or FLYDSL_RUNTIME_ENABLE_CACHE=0"


class CacheFolderError(RuntimeError):
    """The cache folder cannot be trusted or used; the text says which folder, why, and what to do."""


class UnwritableCacheError(CacheFolderError):
    """Nothing can be added to the cache folder: it is read-only, full, or cannot be made."""


def private_folder(path: Path) -> Path:
    """Create `path` for its owner alone, or check the one that is there.

    Raises:
        UnwritableCacheError: it cannot be made.
        CacheFolderError: it belongs to somebody else, others may write to it, or it is no folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        facts = path.stat()
    except OSError as error:
        raise UnwritableCacheError(f"cannot use the cache folder {path}: {error}. {ADVICE}") from None
    if not stat.S_ISDIR(facts.st_mode):
        raise CacheFolderError(f"the cache folder {path} is not a folder")
    if facts.st_uid != os.geteuid():
        raise CacheFolderError(
            f"the cache folder {path} belongs to user {facts.st_uid}, who could put code into this process. Set "
            "FLYDSL_RUNTIME_CACHE_DIR to a folder of yours"
        )
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheFolderError(
            f"the cache folder {path} may be written by others (mode {stat.S_IMODE(facts.st_mode):04o}), who could put "
            f"code into this process. Run `chmod go-w {path}`, or set FLYDSL_RUNTIME_CACHE_DIR to a private folder"
        )
    return path

# SPDX-License-Identifier: Apache-2.0
"""Folders that only their owner may write to: what lies in them is loaded into the process as code."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["ADVICE", "CacheFolderError", "UnwritableCacheError", "check_parents", "private_folder"]

ADVICE = "Set FLYDSL_RUNTIME_CACHE_DIR to a folder of yours, or FLYDSL_RUNTIME_ENABLE_CACHE=0"


class CacheFolderError(RuntimeError):
    """The cache folder cannot be trusted or used; the text says which folder, why, and what to do."""


class UnwritableCacheError(CacheFolderError):
    """Nothing can be added to the cache folder: it is read-only, full, or cannot be made."""


def _make_parents(path: Path) -> None:
    """Make the folders above the cache that are missing, writable by their owner alone whatever the umask."""
    if not path.is_dir():
        _make_parents(path.parent)
        path.mkdir(mode=0o755, exist_ok=True)


def private_folder(path: Path) -> Path:
    """Create `path` for its owner alone, or check the one that is there.

    Raises:
        UnwritableCacheError: it cannot be made.
        CacheFolderError: it belongs to somebody else, others may write to it, or it is no folder.
    """
    try:
        try:
            facts = os.stat(path)
        except FileNotFoundError:
            _make_parents(path.parent)
            with suppress(FileExistsError):
                path.mkdir(mode=0o700)
            facts = os.stat(path)
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


def check_parents(path: Path) -> None:
    """See that nobody else can put another folder in the place of one that leads to `path`.

    Who may write to a folder may rename what is in it, unless the folder is sticky, as /tmp is.

    Raises:
        CacheFolderError: a parent belongs to somebody else than the user or root, or others may write to it.
    """
    advice = "Set FLYDSL_RUNTIME_CACHE_DIR to a folder below one of yours"
    for parent in {*_above(os.path.join(os.getcwd(), path)), *_above(os.path.realpath(path))}:
        try:
            facts = os.stat(parent)
        except OSError as error:
            raise UnwritableCacheError(f"cannot use the cache folder {path}: {error}. {ADVICE}") from None
        if facts.st_mode & stat.S_ISVTX:
            continue
        if facts.st_uid not in (0, os.geteuid()):
            raise CacheFolderError(
                f"the cache folder {path} lies in {parent}, which belongs to user {facts.st_uid}, who could put "
                f"another folder in its place. {advice}"
            )
        if facts.st_mode & stat.S_IWOTH or (facts.st_mode & stat.S_IWGRP and not _is_own_group(facts.st_gid)):
            raise CacheFolderError(
                f"the cache folder {path} lies in {parent}, which others may write to (mode "
                f"{stat.S_IMODE(facts.st_mode):04o}): they could put another folder in its place. Run `chmod go-w "
                f"{parent}`. {advice}"
            )


def _above(path: str) -> list[str]:
    """Return the folders above an absolute path. Strings: this is part of each first call, and pathlib takes longer."""
    found = []
    while (parent := os.path.dirname(path)) != path:
        found.append(parent)
        path = parent
    return found


def _is_own_group(group: int) -> bool:
    """Tell whether a group is root's, or has the user alone, as many systems make one for each user."""
    if group == 0:
        return True
    try:
        user = pwd.getpwuid(os.geteuid())
        facts = grp.getgrgid(group)
    except KeyError:
        return False
    return facts.gr_name == user.pw_name and set(facts.gr_mem) <= {user.pw_name}

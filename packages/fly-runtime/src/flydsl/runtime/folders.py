# SPDX-License-Identifier: Apache-2.0
"""Folders that their user alone may change: what lies in them decides what a process runs (docs/security.md).

The cache of compiled kernels and the database of tuned configurations are such folders. This is the one rule for them.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["make_private_folder", "refusal", "refusal_above"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_LINKS = 40
"""That Linux follows in one name."""


def make_private_folder(path: Path) -> None:
    """Make a folder for its owner alone, and those above it that are missing, which only their owner may write to.

    It may be there already, as anything. The umask does not matter.

    Raises:
        OSError: it cannot be made.
    """
    _make_parents(path.parent)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)


def _make_parents(path: Path) -> None:
    if not path.is_dir():
        _make_parents(path.parent)
        path.mkdir(mode=0o755, exist_ok=True)


def refusal(path: Path, what: str, variable: str, *, of_root: bool) -> str | None:
    """Say why a folder itself must not decide what this process runs; `None` where it may.

    Args:
        path: of the folder. Links are followed.
        what: it is, for the text: "cache folder".
        variable: the environment variable that names another folder.
        of_root: whether a folder of root's is as good as one of the user's.

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    facts = os.stat(path)
    mode = stat.S_IMODE(facts.st_mode)
    if not stat.S_ISDIR(facts.st_mode):
        return f"the {what} {path} is not a folder"
    if facts.st_uid != os.geteuid() and not (of_root and facts.st_uid == 0):
        return (
            f"the {what} {path} belongs to user {facts.st_uid}, who could change what this process runs. Set "
            f"{variable} to a folder of yours"
        )
    if mode & _OTHERS_WRITE:
        return (
            f"the {what} {path} may be written by others (mode {mode:04o}), who could change what this process runs. "
            f"Look at what is in it, then run `chmod go-w {path}`, or set {variable} to a private folder"
        )
    return None


def refusal_above(path: Path, what: str, variable: str) -> str | None:
    """Say who else could put another folder in the place of one, or of one that leads to it; `None` where nobody can.

    Who may write to a folder may rename what is in it; where the folder is sticky, as /tmp is, only what is theirs. The
    owner of a folder may always. Links count with the folders in which they stand.

    Args:
        path: of a folder that is there.
        what: it is, for the text: "cache folder".
        variable: the environment variable that names another folder.

    Raises:
        OSError: one of the folders cannot be looked at.
    """
    advice = f"Set {variable} to a folder below one of yours"
    trusted = (0, os.geteuid())
    seen: dict[str, os.stat_result] = {}
    # The working folder may be gone, and is none of an absolute path's concern.
    for folder, entry, facts in _steps(str(path) if path.is_absolute() else os.path.join(os.getcwd(), path)):
        if folder not in seen:
            above = seen[folder] = os.stat(folder)
            if above.st_uid not in trusted:
                return (
                    f"the {what} {path} lies in {folder}, which belongs to user {above.st_uid}, who could put another "
                    f"folder in its place. {advice}"
                )
            if not above.st_mode & stat.S_ISVTX and _others_write(folder, above):
                return (
                    f"the {what} {path} lies in {folder}, which others may write to (mode "
                    f"{stat.S_IMODE(above.st_mode):04o}): they could put another folder in its place. Run `chmod go-w "
                    f"{folder}`. {advice}"
                )
        if seen[folder].st_mode & stat.S_ISVTX and facts.st_uid not in trusted:
            return (
                f"the {what} {path} is found through {entry}, which belongs to user {facts.st_uid}, who could put "
                f"another one in its place. {advice}"
            )
    return None


def _steps(path: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Go from the root to where an absolute path leads; each folder in which a name is looked up, and what it is there.

    Strings: this is part of each first call, and pathlib takes longer.
    """
    folder, names, links = "/", path.split("/")[::-1], 0
    while names:
        name = names.pop()
        if name in ("", "."):
            continue
        if name == "..":
            folder = os.path.dirname(folder)  # no link is left in it
            continue
        entry = os.path.join(folder, name)
        facts = os.lstat(entry)
        yield folder, entry, facts
        if not stat.S_ISLNK(facts.st_mode):
            folder = entry
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(entry)
        names += target.split("/")[::-1]
        if target.startswith("/"):
            folder = "/"


def _others_write(folder: str, facts: os.stat_result) -> bool:
    if facts.st_mode & stat.S_IWOTH:
        return True
    return bool(facts.st_mode & stat.S_IWGRP) and (not _is_own_group(facts.st_gid) or _has_access_list(folder))


def _is_own_group(group: int) -> bool:
    """Tell whether a group is root's, or has the user alone, as many systems make one for each user."""
    import grp
    import pwd

    if group == 0:
        return True
    try:
        user = pwd.getpwuid(os.geteuid())
        facts = grp.getgrgid(group)
    except KeyError:
        return False
    return facts.gr_name == user.pw_name and set(facts.gr_mem) <= {user.pw_name}


def _has_access_list(folder: str) -> bool:
    """Tell whether users or groups are named who have rights of their own; the mode's bits for the group bound them."""
    try:
        os.getxattr(folder, "system.posix_acl_access")
    except OSError:
        return False
    return True

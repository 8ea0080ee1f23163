# SPDX-License-Identifier: Apache-2.0
"""The folder of results: a file in it decides what runs, so it is taken only from where nobody else can write."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flydsl.runtime.folders import make_private_folder, refusal, refusal_above

__all__ = ["UntrustedError", "is_private", "private_folder"]

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WHAT = "folder of tuned configurations"
_VARIABLE = "FLYDSL_AUTOTUNE_CACHE_DIR"


class UntrustedError(OSError):
    """A folder or file that others may write to, or no folder or file at all; the text says what to do."""


def private_folder(path: Path, *, make: bool) -> Path:
    """Check a folder that others must not write to nor replace; with `make`, create it for its owner alone.

    Raises:
        UntrustedError: it, or a folder that leads to it, belongs to somebody other than this user and root, others may
            write to one of them, or it is no folder.
        FileNotFoundError: it is not there, and `make` is false.
        OSError: it cannot be made.
    """
    if make:
        make_private_folder(path)
    reason = refusal(path, _WHAT, _VARIABLE, of_root=True) or refusal_above(path, _WHAT, _VARIABLE)
    if reason is not None:
        raise UntrustedError(reason)
    return path


def is_private(facts: os.stat_result) -> bool:
    """Tell whether only this user and root can write."""
    return facts.st_uid in (os.geteuid(), 0) and not facts.st_mode & _OTHERS

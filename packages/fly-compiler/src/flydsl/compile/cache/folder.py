# SPDX-License-Identifier: Apache-2.0
"""Folders that only their owner may write to: what lies in them is loaded into the process as code."""

from __future__ import annotations

from pathlib import Path

from flydsl.runtime.folders import make_private_folder, refusal, refusal_above

__all__ = ["ADVICE", "CacheFolderError", "UnwritableCacheError", "check_parents", "private_folder"]

_WHAT = "cache folder"
_VARIABLE = "FLYDSL_RUNTIME_CACHE_DIR"
ADVICE = f"Set {_VARIABLE} to a folder of yours, or FLYDSL_RUNTIME_ENABLE_CACHE=0"


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
        try:
            reason = refusal(path, _WHAT, _VARIABLE, of_root=False)
        except FileNotFoundError:
            make_private_folder(path)
            reason = refusal(path, _WHAT, _VARIABLE, of_root=False)
    except OSError as error:
        raise UnwritableCacheError(f"cannot use the {_WHAT} {path}: {error}. {ADVICE}") from None
    if reason is not None:
        raise CacheFolderError(reason)
    return path


def check_parents(path: Path) -> None:
    """See that nobody else can put another folder in the place of one that leads to `path`.

    Raises:
        CacheFolderError: a folder above it belongs to somebody else than the user or root, or others may write to it.
    """
    try:
        reason = refusal_above(path, _WHAT, _VARIABLE)
    except OSError as error:
        raise UnwritableCacheError(f"cannot use the {_WHAT} {path}: {error}. {ADVICE}") from None
    if reason is not None:
        raise CacheFolderError(reason)

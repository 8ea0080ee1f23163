# SPDX-License-Identifier: Apache-2.0
"""The size of the disk cache: when it is over its limit, what was used longest ago goes."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

from flydsl.utils import log

__all__ = ["bytes_of", "evict", "touch"]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
_KEPT = (".so", ".code")
"""What the files end in that the cache holds: artifacts and rewritten functions."""
_LEFT = 0.8
"""The share of the limit that eviction leaves, so that it is not done for every new artifact."""
_GRACE = 60.0
"""Seconds in which what is new or was just used stays: another process may be about to open it."""
_ABANDONED = 3600.0
"""Seconds after which a temporary file of a writer counts as left behind by a killed process."""


def bytes_of(text: str) -> int:
    """Return a size such as `500M`, `10G` or `1048576` in bytes; units are powers of 1024, 0 is no limit.

    Raises:
        ValueError: another text.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"FLYDSL_CACHE_MAX_SIZE={text!r}: expected a size such as 500M or 10G, or 0 for no limit")
    return int(found[1]) * _UNITS[found[2].upper()]


def touch(path: Path) -> None:
    """Note that an artifact was used now; a cache that cannot be written keeps its times."""
    with suppress(OSError):
        os.utime(path)


def evict(root: Path, limit: int) -> int:
    """Remove the files that were used longest ago until the cache is well below its limit.

    Only those of the cache's own naming are looked at, and temporary files that killed writers left. An
    artifact that a process has loaded stays usable in it: a removed file lives on as long as it is open.

    Args:
        root: the cache folder.
        limit: bytes; 0 is no limit.

    Returns:
        How many files were removed.
    """
    if limit <= 0:
        return 0
    now = time.time()
    found: list[tuple[float, int, str]] = []
    for folder in _folders(root):
        with suppress(OSError), os.scandir(folder) as entries:
            for one in entries:
                with suppress(OSError):
                    facts = one.stat(follow_symlinks=False)
                    if not one.is_file(follow_symlinks=False):
                        continue
                    if one.name.endswith(_KEPT):
                        found.append((facts.st_mtime, facts.st_blocks * 512, one.path))
                    elif _is_partial(one.name) and now - facts.st_mtime > _ABANDONED:
                        os.unlink(one.path)
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return 0
    removed = 0
    for used, size, path in sorted(found):
        if total <= _LEFT * limit or now - used < _GRACE:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size
            removed += 1
    log().info("the disk cache was over its limit of %d bytes: %d files were removed", limit, removed)
    return removed


def _is_partial(name: str) -> bool:
    """Tell whether a file is one that a writer had not finished (`atomic_write`)."""
    return name.startswith(".") and any(f"{ending}-" in name for ending in _KEPT)


def _folders(root: Path) -> list[str]:
    try:
        with os.scandir(root) as entries:
            return [one.path for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:
        return []

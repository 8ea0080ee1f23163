# SPDX-License-Identifier: Apache-2.0
"""JSON files that several processes write: whole or not at all, and values that survive the way there and back."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["canonical_json", "exclusive", "faithful", "write_json"]


def canonical_json(value: Any) -> str:
    """The one text for a value: sorted keys, no spaces, numbers that JSON has.

    Raises:
        TypeError: JSON has nothing for a part of it.
        ValueError: an infinite number, or none.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def faithful(value: Any) -> bool:
    """Tell whether a value read back from JSON is equal to it, and of the same types throughout."""
    try:
        return _same(json.loads(canonical_json(value)), value)
    except (TypeError, ValueError, RecursionError):
        return False


def _same(read: Any, written: Any) -> bool:
    if type(read) is not type(written):
        return False
    if isinstance(read, dict):
        return read.keys() == written.keys() and all(_same(read[key], written[key]) for key in read)
    if isinstance(read, list):
        return len(read) == len(written) and all(map(_same, read, written))
    return bool(read == written)


def write_json(path: Path, value: Any) -> None:
    """Put a value into a file, in the place of what was there.

    Raises:
        OSError: the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2, sort_keys=True, allow_nan=False)
            file.write("\n")
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep other processes that call this for the same file out of a `with` block, by a lock file beside it.

    Raises:
        OSError: the lock file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f"{path.name}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

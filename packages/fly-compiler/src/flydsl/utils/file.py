# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["atomic_write"]

_MODE = 0o644


@contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, mode: str, encoding: str | None = None, sync: bool = True
) -> Iterator[IO[Any]]:
    """Write a file in a `with` block; it takes its place when the block ends without an exception.

    Otherwise what was at `path` stays as it was, and nothing else is left behind.

    Args:
        path: the file; its folder exists.
        mode: `w` or `wb`.
        encoding: of a text, by default UTF-8.
        sync: whether the file is whole after a crash of the machine too; without, its reader has to see that it is.

    Raises:
        ValueError: another mode.
        OSError: the folder is missing or cannot be written.
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"atomic_write makes a new file, with mode 'w' or 'wb', not {mode!r}")
    target = Path(path)
    if mode == "w" and encoding is None:
        encoding = "utf-8"
    descriptor, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), _MODE)
            if sync:  # a rename may reach the disk before the content: after a crash the file would be there, and empty
                os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise

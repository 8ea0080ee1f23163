# SPDX-License-Identifier: Apache-2.0
"""Hashes of programs that take part in a compilation."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["file_hash"]


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content, which is read again when the file is another one."""
    facts = path.stat()
    return _content_hash(str(path), facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


@lru_cache(maxsize=8)
def _content_hash(path: str, *_facts: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)


def _digest(file: Any) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()

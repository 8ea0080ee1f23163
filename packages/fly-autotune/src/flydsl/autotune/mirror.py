# SPDX-License-Identifier: Apache-2.0
"""`<function>.json`: what programs read that know one file per function, and what older versions of the tuner wrote.

A JSON object from the JSON text of a key (a list of texts) to a configuration's `to_dict()`. The database is what
counts; this is written from it, and read where the database does not know the file as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .config import Config
from .files import faithful, read_file, write_json
from .key import Key

__all__ = ["config_of", "read", "state_of", "write"]

State = tuple[int, int, int]
"""What tells a file from another of its name: inode, bytes, time of its last change in nanoseconds."""

_ENTRY = re.compile(r'"(?:[^"\\\n]|\\.)*"\s*:\s*(?=\{)')


def state_of(path: Path) -> State | None:
    """What the file is now; None where there is none."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def read(path: Path) -> dict[Key, dict[str, Any]]:
    """The results of a file: of a damaged one those that are whole, of something else none."""
    try:
        text = read_file(path, links=False).decode(errors="replace")
    except OSError:
        return {}
    try:
        content = json.loads(text)
        entries = list(content.items()) if isinstance(content, dict) else []
    except (ValueError, RecursionError):
        entries = list(_whole_entries(text))
    found = {}
    for name, entry in entries:
        try:
            key = json.loads(name)
        except (ValueError, RecursionError):
            continue
        if isinstance(key, list) and all(isinstance(part, str) for part in key) and config_of(entry) is not None:
            found[tuple(key)] = entry
    return found


def _whole_entries(text: str) -> Iterator[tuple[str, Any]]:
    """Name and value of each entry that can be read; the search goes on behind whatever cannot."""
    decoder = json.JSONDecoder()
    for match in _ENTRY.finditer(text):
        try:
            name, _ = decoder.raw_decode(text, match.start())
            value, _ = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        yield name, value


def config_of(entry: Any) -> Config | None:
    """The configuration that was written down; None where it cannot be one."""
    try:
        return Config.from_dict(entry) if faithful(entry) else None
    except (TypeError, ValueError):
        return None


def write(path: Path, results: Mapping[Key, Mapping[str, Any]]) -> None:
    """Replace the file.

    Raises:
        OSError: the folder cannot be written.
    """
    write_json(path, {json.dumps(list(key)): dict(entry) for key, entry in results.items()})

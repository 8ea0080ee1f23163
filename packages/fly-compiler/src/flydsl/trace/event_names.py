# SPDX-License-Identifier: Apache-2.0
"""Numbers of event names, the same in every process: a record has the number, the artifact's note the name."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from flydsl.runtime.forks import new_lock

__all__ = ["event_id", "name_of", "remember"]

_IDS = (1 << 24) - 1
_lock = new_lock()
_names: dict[int, str] = {}


def event_id(name: str) -> int:
    """Return the number of an event name, from 1 to 2**24 - 1.

    Raises:
        TypeError: no text.
        ValueError: an empty text, or one whose number another name of this process has.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a ktrace event is a str, got {type(name).__name__}")
    if not name:
        raise ValueError("the name of a ktrace event must not be empty")
    number = zlib.crc32(name.encode()) % _IDS + 1
    remember({name: number})
    return number


def remember(ids: Mapping[str, int]) -> None:
    """Add the names of a program that is compiled or loaded.

    Raises:
        ValueError: another name has the same number.
    """
    with _lock:
        for name, number in ids.items():
            if _names.setdefault(number, name) != name:
                raise ValueError(
                    f"the ktrace events {_names[number]!r} and {name!r} have the same number {number}; rename one of "
                    "them"
                )


def name_of(number: int) -> str:
    """Return the name of a number."""
    return _names.get(number, f"event {number}")

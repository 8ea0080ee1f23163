# SPDX-License-Identifier: Apache-2.0
"""The state of an object whose method is compiled, as a part of the key in memory.

Objects of equal state share what was compiled. Only attributes that the traced code names count.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Any

from .attributes import data_attributes
from .foreign import is_foreign_class
from .reach import ATOMS

__all__ = ["state_of"]


def state_of(value: Any, names: set[str] | None, found: list[Any]) -> Any:
    """Return something to hash and compare for what code can read of an object.

    Args:
        value: the object.
        names: attributes that count; `None`: all.
        found: gets the classes that have a part in it, and all that is told apart by identity: functions, objects of
            other people's classes, members of enumerations. All of it is to be watched as long as the result is used,
            which keeps it alive, too: the result says nothing of what is in these objects.
    """
    return _State(names, found).of(value)


_PLAIN = frozenset(ATOMS)
_COMPARED: tuple[Any, ...] = (dict, list, tuple, set, frozenset, deque)
"""Containers that are compared by their items; all others by identity, and what is in them is watched."""


def _holds_more(base: type) -> bool:
    """Tell whether objects may hold more than attributes that code of the user's names: numbers, buffers, tables."""
    return is_foreign_class(base) and base.__module__ not in ("abc", "typing")


class _State:
    def __init__(self, names: set[str] | None, found: list[Any]) -> None:
        self.names = names
        self.found = found
        self.open: dict[int, int] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind is float:
            return (kind, value.hex())
        if kind in _PLAIN:
            return (kind, repr(value) if kind in (slice, complex) else value)
        if isinstance(value, Enum):
            self.found.append(value)
            return (kind, id(value))
        if id(value) in self.open:  # a cycle: the object is further out
            return ("outer", self.open[id(value)])
        self.open[id(value)] = len(self.open)
        try:
            return self._compound(value)
        finally:
            del self.open[id(value)]

    def _compound(self, value: Any) -> Any:
        kind = type(value)
        parts: list[Any] = [kind]
        base = next((one for one in _COMPARED if isinstance(value, one)), None)
        if base is None and (isinstance(value, type) or is_foreign_class(kind)):
            self.found.append(value)
            return (kind, id(value))
        # What a class redefines is not called: it is code of the user's.
        if base is dict:
            parts += [(self.of(key), self.of(one)) for key, one in dict.items(value)]
        elif base in (set, frozenset):
            parts.append(frozenset(map(self.of, base.__iter__(value))))
        elif base is not None:
            parts += map(self.of, base.__iter__(value))
        if base not in (None, kind) or not is_foreign_class(kind):
            if any(_holds_more(one) for one in kind.__mro__ if one not in (object, base)):
                self.found.append(value)
                parts.append(id(value))
            self.found.append(kind)
            attributes = data_attributes(value, self.names)
            parts += [(name, self.of(attributes[name])) for name in sorted(attributes)]
        return tuple(parts)

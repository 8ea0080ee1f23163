# SPDX-License-Identifier: Apache-2.0
"""The state of an object whose method is compiled, as a part of the key in memory.

Objects of equal state share what was compiled. Only attributes that the traced code names count.
"""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

from .attributes import data_attributes
from .foreign import is_foreign_class
from .reach import ATOMS, CONTAINERS

__all__ = ["state_of"]


def state_of(value: Any, names: set[str] | None, found: list[Any]) -> Any:
    """Return something to hash and compare for what code can read of an object.

    Args:
        value: the object.
        names: attributes that count; `None`: all.
        found: gets the classes and functions that have a part in it, and what is told apart by identity: all are to
            be kept alive as long as the result is used, and code among them to be watched.
    """
    return _State(names, found).of(value)


class _State:
    def __init__(self, names: set[str] | None, found: list[Any]) -> None:
        self.names = names
        self.found = found
        self.open: dict[int, int] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, float):
            return (kind, value.hex())
        if isinstance(value, ATOMS):
            return (kind, repr(value) if isinstance(value, (slice, complex)) else value)
        if isinstance(value, Enum):
            return (kind, value.name)
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
        if isinstance(value, dict):
            parts += [(self.of(key), self.of(one)) for key, one in value.items()]
        elif isinstance(value, (set, frozenset)):
            parts.append(frozenset(map(self.of, value)))
        elif isinstance(value, (tuple, *CONTAINERS)):
            parts += map(self.of, value)
        elif isinstance(value, (type, FunctionType)) or is_foreign_class(kind):
            self.found.append(value)
            return (kind, id(value), getattr(value, "_version", None))
        if not is_foreign_class(kind):
            self.found.append(kind)
            attributes = data_attributes(value, self.names)
            parts += [(name, self.of(attributes[name])) for name in sorted(attributes)]
        return tuple(parts)

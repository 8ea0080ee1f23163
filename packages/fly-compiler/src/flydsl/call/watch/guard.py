# SPDX-License-Identifier: Apache-2.0
"""Guards of what a trace read: each knows what was there, can look again, and can say so in a line of generated code.

A comparison is by identity: equal values of other types (`1`, `1.0`, `True`) make other programs.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from types import CellType, MappingProxyType
from typing import Any

__all__ = ["MISSING", "Absent", "Attribute", "Cell", "Code", "Content", "Guard", "Item", "State"]


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING: Any = _Missing()
"""The value of what is not there."""


class Guard:
    """One place that was read: a name, a closure cell, an attribute, the items of a container, a state.

    Attributes:
        label: what it is, for messages.
        value: what was there.
    """

    __slots__ = ("label", "value")
    is_global = False

    def __init__(self, label: str, value: Any) -> None:
        self.label = label
        self.value = value

    def now(self) -> Any:
        """Return what is there now."""
        raise NotImplementedError

    def changed(self) -> bool:
        """Tell whether something else is there."""
        return self.now() is not self.value

    def test(self, scope: dict[str, Any], number: int) -> str:
        """Return an expression that is true, as fast as can be, while nothing changed; what it names goes to `scope`.

        It may raise `KeyError`, `ValueError` or `AttributeError` for a change.
        """
        scope[f"_fly_changed_{number}"] = self.changed
        return f"not _fly_changed_{number}()"


class Item(Guard):
    """A name of a module, of an object's dictionary or of a class."""

    __slots__ = ("is_global", "mapping", "name")

    def __init__(self, label: str, mapping: Mapping[str, Any], name: str, value: Any, *, is_global: bool) -> None:
        super().__init__(label, value)
        self.mapping = mapping
        self.name = name
        self.is_global = is_global

    def now(self) -> Any:
        """Return what the name means now."""
        return self.mapping.get(self.name, MISSING)

    def test(self, scope: dict[str, Any], number: int) -> str:
        """Look the name up."""
        space = f"_fly_space_{id(self.mapping)}"
        scope[space] = self.mapping
        scope[f"_fly_value_{number}"] = self.value
        return f"{space}[{self.name!r}] is _fly_value_{number}"


class Absent(Guard):
    """Names that were not there."""

    __slots__ = ("mapping",)

    def __init__(self, label: str, mapping: Mapping[str, Any], names: frozenset[str]) -> None:
        super().__init__(label, names)
        self.mapping = mapping

    def now(self) -> Any:
        """Return those of the names that are there now."""
        return self.value & self.mapping.keys()

    def changed(self) -> bool:
        """Tell whether one of them is there."""
        return bool(self.now())

    def test(self, scope: dict[str, Any], number: int) -> str:
        """Look for all names at once."""
        space = f"_fly_space_{id(self.mapping)}"
        scope[space] = self.mapping
        scope[f"_fly_value_{number}"] = self.value
        if len(self.value) <= 2:
            return " and ".join(f"{one!r} not in {space}" for one in sorted(self.value))
        return f"{space}.keys().isdisjoint(_fly_value_{number})"


class Cell(Guard):
    """A closure variable."""

    __slots__ = ("cell",)

    def __init__(self, label: str, cell: CellType) -> None:
        self.cell = cell
        super().__init__(label, self.now())

    def now(self) -> Any:
        """Return what the variable holds now."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def test(self, scope: dict[str, Any], number: int) -> str:
        """Look into the cell."""
        if self.value is MISSING:
            return super().test(scope, number)
        scope[f"_fly_cell_{number}"] = self.cell
        scope[f"_fly_value_{number}"] = self.value
        return f"_fly_cell_{number}.cell_contents is _fly_value_{number}"


class Attribute(Guard):
    """An attribute that is found without running any code of the user's, such as a slot or `__code__`."""

    __slots__ = ("holder", "name")

    def __init__(self, label: str, holder: Any, name: str) -> None:
        self.holder = holder
        self.name = name
        super().__init__(label, self.now())

    def now(self) -> Any:
        """Return the attribute's value now."""
        look_up = type.__getattribute__ if isinstance(self.holder, type) else object.__getattribute__
        try:
            return look_up(self.holder, self.name)
        except AttributeError:
            return MISSING

    def test(self, scope: dict[str, Any], number: int) -> str:
        """Get the attribute."""
        if self.value is MISSING:
            return super().test(scope, number)
        scope[f"_fly_holder_{id(self.holder)}"] = self.holder
        scope[f"_fly_value_{number}"] = self.value
        return f"_fly_holder_{id(self.holder)}.{self.name} is _fly_value_{number}"


class Code(Attribute):
    """The code or the defaults of a function. Python tells of assignments to them (`audit`), and calls look at that."""

    __slots__ = ()


_BASES = (OrderedDict, dict, list, set, deque, MappingProxyType)


class Content(Guard):
    """The items of a container; of a mapping its keys, and its values as `value`.

    What a subclass redefines is not called: it is code of the user's.
    """

    __slots__ = ("base", "container", "items")

    def __init__(self, label: str, container: Any) -> None:
        self.container = container
        self.base: Any = next(one for one in _BASES if isinstance(container, one))
        self.items = tuple(self._keys())
        super().__init__(label, tuple(self._values()))

    def _keys(self) -> Iterable[Any]:
        return self.container if self.base is MappingProxyType else self.base.__iter__(self.container)  # type: ignore[no-any-return]

    def _values(self) -> Iterable[Any]:
        return self.base.values(self.container) if hasattr(self.base, "values") else ()

    def now(self) -> Any:
        """Return the container."""
        return self.container

    def changed(self) -> bool:
        """Tell whether any item is another one, or their number or order is."""
        if self.base.__len__(self.container) != len(self.items):
            return True
        try:
            return not (
                all(map(operator.is_, self._keys(), self.items)) and all(map(operator.is_, self._values(), self.value))
            )
        except RuntimeError:  # it changes while it is looked at
            return True


class State(Guard):
    """Something whose state has to be read as a whole: an array's content, the environment."""

    __slots__ = ("owner", "read")

    def __init__(self, label: str, owner: Any, read: Callable[[Any], Any], value: object = MISSING) -> None:
        self.owner = owner
        self.read = read
        super().__init__(label, read(owner) if value is MISSING else value)

    def now(self) -> Any:
        """Read it."""
        return self.read(self.owner)

    def changed(self) -> bool:
        """Tell whether it reads otherwise."""
        return bool(self.now() != self.value)

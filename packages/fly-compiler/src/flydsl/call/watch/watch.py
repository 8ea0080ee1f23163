# SPDX-License-Identifier: Apache-2.0
"""Whether everything that a compiled function was traced from still is the same."""

from __future__ import annotations

import hashlib
import operator
import os
import reprlib
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Set
from enum import Enum
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

from flydsl.frontend.control.audit import heard, listen
from flydsl.frontend.control.outside import is_handled
from flydsl.trace.files import WORKING_FOLDER, reader_of_file, state_of_file

from .guard import MISSING, Absent, Attribute, Cell, Code, Content, Guard, Item, State
from .known import answers_alike
from .library import ENVIRONMENT
from .modules import guards_of_modules
from .reach import ATOMS, CONTAINERS, Reach
from .states import SETTINGS, of_callers

__all__ = ["Watch", "source_digest"]

_COMPARED = SETTINGS.keys() | ENVIRONMENT
"""Functions whose answer is compared."""

_INLINE = 64
"""So many tests are spelled out in the generated call; more would make it slow to generate."""

_PLAIN = (deque, dict, list, set)
"""Containers of these very classes are compared many at once."""


class Watch:
    """What some roots read when they were traced.

    Args:
        roots: the function, and the classes that its arguments bring.
        files: the files that it read, each with its state before it did.
        names: the names of attributes and modules that it computed.
        asked: functions of Python's and of packages that it called, by module and name.
        unwatched: why to look for nothing, as was found before: it counts as changed at each call.
    """

    def __init__(
        self,
        roots: Iterable[Any],
        files: Mapping[str, Any] | None = None,
        names: Set[str] = frozenset(),
        asked: Set[tuple[str, str]] = frozenset(),
        *,
        unwatched: str = "",
    ) -> None:
        listen()
        self._assignments = heard.assignments  # before anything is looked at
        self._scopes: list[dict[str, Any]] = []
        self.roots = list(roots)
        self.reach = Reach(() if unwatched else self.roots, names)
        self.is_too_much = self.reach.too_much
        self.unwatched = unwatched or self._why_unwatched(asked)
        if self.unwatched:
            self.reach = Reach(())  # which keeps nothing alive: a weak reference may tell
            self.reach.guards = [State("what the code reaches", None, of_callers)]  # is never the same
        else:
            self.reach.guards += guards_of_modules([*asked, *self.reach.asked])
        missing = self.reach.missing()
        if missing:  # they come by an import elsewhere, or by their file
            self.reach.guards.append(Absent("a module", sys.modules, missing))
            files = {**{one: state_of_file(one) for one in filter(os.path.isdir, sys.path)}, **(files or {})}
        for path, state in (files or {}).items():
            label = "the working folder" if path == WORKING_FOLDER else f"the file {path}"
            self.reach.guards.append(State(label, path, reader_of_file(path, state), state))
        self._texts = {
            id(one): reprlib.repr(one.value)
            for one in self.reach.guards
            if isinstance(one, Item) and one.is_global and type(one.value) in (list, dict, set)
        }

    @property
    def names(self) -> set[str] | None:
        """The attributes that the code reads of objects; `None`: any."""
        return None if self.reach.reflective or self.unwatched else self.reach.names

    def _why_unwatched(self, asked: Set[tuple[str, str]]) -> str:
        """Return why nobody can tell whether something changed; "" where everything can be compared."""
        if self.reach.too_much:
            modules = Counter(one.__module__.partition(".")[0] for one in self.reach.functions)
            names = ", ".join(name for name, _ in modules.most_common(3))
            return f"reaches so much code (of {names}) that it takes too long to look whether something of it changed"
        if self.reach.unknown:
            what, value = self.reach.unknown[0]
            found = next((one.label for one in self.reach.guards if one.value is value), None)
            where = "" if found is None else f" ({found})"
            return f"reads {what}{where}, of which nothing tells whether it changed"
        unknown = [one for one in asked if not answers_alike(*one, _COMPARED)]
        for one in self.reach.asked:
            if is_handled(*one) or not answers_alike(*one, _COMPARED):
                unknown.append(one)
        if unknown:
            return f"calls {'.'.join(min(unknown))}(), of which nothing tells whether it answers as before"
        return ""

    def changed(self) -> list[Guard]:
        """Return the guards that fail: something else is there now."""
        assignments = heard.assignments
        failed = [one for one in self.reach.guards if one.changed()]
        if not failed and assignments != self._assignments:  # they were to other functions
            self._assignments = assignments
            for scope in self._scopes:
                scope["_fly_assignments"] = assignments
        return failed

    def tests(self, scope: dict[str, Any]) -> list[str]:
        """Return expressions that are all true while nothing changed; what they name goes to `scope`."""
        contents = [one for one in self.reach.guards if isinstance(one, Content)]
        guards = [one for one in self.reach.guards if not isinstance(one, (Code, Content))]
        scope |= {"_fly_heard": heard, "_fly_assignments": self._assignments}
        self._scopes.append(scope)
        texts = ["_fly_heard.assignments == _fly_assignments"]
        texts += [one.test(scope, number) for number, one in enumerate(guards[:_INLINE])]
        rest = guards[_INLINE:] + contents
        if rest:
            scope["_fly_rest"] = _all_same(rest)
            texts.append("_fly_rest()")
        return texts

    def error(self, guards: list[Guard]) -> str | None:
        """Return what is wrong when data of a module was changed that the function has compiled in, else `None`.

        Nothing is when code was replaced too, as in a notebook: what is traced anew for that reads the values of now.
        """
        if any(callable(one.value) for one in guards):
            return None
        for one in guards:
            if not isinstance(one, Item) or not one.is_global or not _is_data(one.value):
                continue
            if one.value is not one.now() and self.reach.loads_global(one.mapping, one.name):
                return f"global '{one.name}' = {_shown(one.value)}, which is now {_shown(one.now())}"
        for one in self.reach.guards:
            text = self._texts.get(id(one))
            if (
                text is not None
                and isinstance(one, Item)
                and self._content_changed(one.value, guards)
                and self.reach.loads_global(one.mapping, one.name)
            ):
                return f"global '{one.name}' = {text}, which is now {_shown(one.value)}"
        return None

    def _content_changed(self, value: Any, guards: list[Guard]) -> bool:
        """Tell whether the items of a container, or of containers in it, are among the changes."""
        inside = [value]
        seen: set[int] = set()
        while inside:
            one = inside.pop()
            if id(one) in seen or type(one) not in (list, dict, set, tuple):
                continue
            seen.add(id(one))
            if any(isinstance(guard, Content) and guard.container is one for guard in guards):
                return True
            inside += one.values() if isinstance(one, dict) else one
        return False


def same_value(guard: Guard) -> bool:
    """Tell whether there is another object now that means the same to a trace: an equal number or text."""
    now, before = guard.now(), guard.value
    if type(now) is not type(before) or not isinstance(before, ATOMS):
        return False
    return repr(now) == repr(before)  # tells -0.0 from 0.0


def _is_data(value: Any) -> bool:
    """Tell whether a value is a constant: a number, a text, or a container; other objects can be replaced."""
    return isinstance(value, (*ATOMS, *CONTAINERS, tuple, frozenset, Enum))


def _shown(value: Any) -> str:
    return reprlib.repr(value)


def _all_same(guards: list[Guard]) -> Callable[[], bool]:
    """Return a function that checks many guards."""
    # All loops over guards of a kind run in C.
    by_kind: dict[Any, list[Any]] = {}
    for one in guards:
        kind = (type(one), one.name) if isinstance(one, Attribute) and one.value is not MISSING else type(one)
        by_kind.setdefault(kind, []).append(one)
    items: list[Item] = by_kind.pop(Item, [])
    columns: list[list[Any]] = [[one.mapping for one in items], [one.name for one in items]]
    rows: list[tuple[Any, list[list[Any]], list[Any]]] = [(operator.getitem, columns, [one.value for one in items])]
    for kind in [one for one in by_kind if isinstance(one, tuple)]:
        found: list[Attribute] = by_kind.pop(kind)
        rows.append((operator.attrgetter(kind[1]), [[one.holder for one in found]], [one.value for one in found]))
    absent: list[Absent] = by_kind.pop(Absent, [])
    apart = [(one.mapping.keys(), one.value) for one in absent]
    contents: list[Content] = by_kind.pop(Content, [])
    same_contents = _all_same_contents([one for one in contents if type(one.container) in _PLAIN])
    by_kind[Content] = [one for one in contents if type(one.container) not in _PLAIN]
    others = [one.changed for kind in by_kind.values() for one in kind]

    def same() -> bool:
        for look, arguments, values in rows:
            if not all(map(operator.is_, map(look, *arguments), values)):
                return False
        for keys, names in apart:
            if not keys.isdisjoint(names):
                return False
        return same_contents() and not any(changed() for changed in others)

    return same


def _all_same_contents(guards: list[Content]) -> Callable[[], bool]:
    """Return a function that looks at the items of many containers of Python's own classes."""
    containers = [one.container for one in guards]
    lengths = [len(one.items) for one in guards]
    items = [item for one in guards for item in one.items]
    mappings = [one.container for one in guards if type(one.container) is dict]
    values = [value for one in guards if type(one.container) is dict for value in one.value]

    def same() -> bool:
        try:  # equal lengths first: then each item is compared with the one that was in its place
            return (
                all(map(operator.eq, map(len, containers), lengths))
                and all(map(operator.is_, chain.from_iterable(containers), items))
                and all(map(operator.is_, chain.from_iterable(map(dict.values, mappings)), values))
            )
        except RuntimeError:  # one changes while it is looked at
            return False

    return same


def source_digest(function: FunctionType) -> str:
    """Return a hash of the code of a function and of all user code that it reaches, with the numbers and texts it uses.

    It is the same in every process, and made to tell versions of a program apart; nothing relies on its seeing all.
    """
    reach = Reach([function])
    kinds = (Item, Cell, Attribute, Content)
    lines = [f"{one.__module__}.{one.__qualname__} {_code_text(one.__code__)}" for one in reach.functions]
    for guard in (one for one in reach.guards if isinstance(one, kinds)):
        values = guard.value if isinstance(guard, Content) else (guard.value,)
        if all(isinstance(one, ATOMS) for one in values):
            lines.append(f"{guard.label} {values!r}")
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()


def _code_text(code: CodeType) -> str:
    constants = [_code_text(one) if isinstance(one, CodeType) else _stable(one) for one in code.co_consts]
    return f"{code.co_name} {code.co_code.hex()} {code.co_names} {constants}"


def _stable(value: Any) -> str:
    return f"frozenset {sorted(map(repr, value))}" if isinstance(value, frozenset) else repr(value)

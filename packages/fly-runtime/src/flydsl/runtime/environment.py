# SPDX-License-Identifier: Apache-2.0
"""The one registry of environment variables: typed, documented, and shared by all layers.

A layer declares its variables with the constructors below and hands them to `register`; each belongs to a group
(`runtime`, `compile`, `debug`, …), and `group(name)` presents a group's variables as attributes. A wheel whose
variables should be found before it is imported names the module that declares them as an entry point of the group
`flydsl.variables`, under the name of its variables' group. Values are read from the environment at every access, so a
change takes effect at once; a value that isn't valid raises ValueError with the variable's name.

    cache_dir = register(path("FLYDSL_RUNTIME_CACHE_DIR", default="~/.flydsl/cache", group="runtime", help="…"))
    cache_dir.get(), group("runtime").cache_dir
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from .forks import new_lock

T = TypeVar("T")

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


@dataclass(frozen=True)
class Variable(Generic[T]):
    """One environment variable: how it is read, and what it means."""

    name: str
    default: T
    group: str
    attribute: str
    """Its name within the group: "cache_dir"."""
    help: str
    expected: str
    """What values are valid, for errors and for the help: "an integer from 0 to 3"."""
    parse: Callable[[str], T]
    """Raises ValueError for a text that isn't valid."""

    def get(self) -> T:
        """The present value: the default when the variable is unset or empty.

        Raises ValueError, with the variable's name and what was expected, for a value that isn't valid.
        """
        text = os.environ.get(self.name, "")
        if not text:
            return self.default
        try:
            return self.parse(text)
        except ValueError as error:
            raise ValueError(f"environment variable {self.name}={text!r}: expected {self.expected}") from error

    def is_set(self) -> bool:
        """Whether the environment has a non-empty value."""
        return bool(os.environ.get(self.name))


_variables: dict[str, Variable[Any]] = {}
_lock = new_lock()


def register(variable: Variable[T]) -> Variable[T]:
    """Add a variable to the registry and return it.

    Raises ValueError when another declaration has its name, or its attribute in the same group. Registering an equal
    declaration again (a reloaded module) is harmless and gives the first one.
    """
    with _lock:
        for other in _variables.values():
            same_name = other.name == variable.name
            if same_name and (other.group, other.default, other.help) == (
                variable.group,
                variable.default,
                variable.help,
            ):
                return other
            if same_name or (other.group, other.attribute) == (variable.group, variable.attribute):
                raise ValueError(
                    f"variable {variable.name} ({variable.group}.{variable.attribute}) is declared already, "
                    f"by {other.name} ({other.group}.{other.attribute})"
                )
        _variables[variable.name] = variable
    return variable


def _attribute(name: str, group: str, given: str | None) -> str:
    """`cache_dir` for FLYDSL_RUNTIME_CACHE_DIR in the group `runtime`."""
    if given is not None:
        return given
    short = name.removeprefix("FLYDSL_")
    return short.removeprefix(f"{group.upper()}_").lower()


def boolean(name: str, *, default: bool, group: str, help: str, attribute: str | None = None) -> Variable[bool]:
    """A switch: 1/true/yes/on or 0/false/no/off, in any case."""

    def parse(text: str) -> bool:
        word = text.strip().lower()
        if word not in _TRUE + _FALSE:
            raise ValueError(text)
        return word in _TRUE

    expected = "one of " + ", ".join(_TRUE + _FALSE)
    return Variable(name, default, group, _attribute(name, group, attribute), help, expected, parse)


def integer(
    name: str,
    *,
    default: int,
    group: str,
    help: str,
    least: int | None = None,
    most: int | None = None,
    attribute: str | None = None,
) -> Variable[int]:
    """An integer, decimal or 0x…, within optional bounds."""

    def parse(text: str) -> int:
        value = int(text.strip(), 0)
        if (least is not None and value < least) or (most is not None and value > most):
            raise ValueError(text)
        return value

    bounds = "".join((f" from {least}" if least is not None else "", f" to {most}" if most is not None else ""))
    return Variable(name, default, group, _attribute(name, group, attribute), help, f"an integer{bounds}", parse)


def choice(
    name: str, values: Sequence[str], *, default: str, group: str, help: str, attribute: str | None = None
) -> Variable[str]:
    """One of some words; upper and lower case are the same."""
    words = {value.lower(): value for value in values}

    def parse(text: str) -> str:
        if text.strip().lower() not in words:
            raise ValueError(text)
        return words[text.strip().lower()]

    expected = "one of " + ", ".join(values)
    return Variable(name, default, group, _attribute(name, group, attribute), help, expected, parse)


def string(name: str, *, default: str = "", group: str, help: str, attribute: str | None = None) -> Variable[str]:
    """Any text."""
    return Variable(name, default, group, _attribute(name, group, attribute), help, "a text", str)


def path(name: str, *, default: str, group: str, help: str, attribute: str | None = None) -> Variable[Path]:
    """A file or folder; `~` is the user's home. It need not exist.

    Where the system knows no home, as of users that a container was just given, a folder of the user's among the
    temporary ones takes its place.
    """

    def parse(text: str) -> Path:
        try:
            return Path(text).expanduser()
        except RuntimeError as error:
            home, _, rest = text.partition("/")
            if home != "~":
                raise ValueError(str(error)) from None
        import tempfile

        return Path(tempfile.gettempdir(), f"flydsl-{os.geteuid()}", rest)

    return Variable(name, parse(default), group, _attribute(name, group, attribute), help, "a path", parse)


class Group:
    """The variables of one group, as attributes: `group("runtime").cache_dir`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def variables(self) -> tuple[Variable[Any], ...]:
        """The group's declarations, by name of the variable."""
        return tuple(sorted((v for v in _variables.values() if v.group == self._name), key=lambda v: v.name))

    def __getattr__(self, attribute: str) -> Any:
        for variable in _variables.values():
            if variable.attribute == attribute and variable.group == self._name:
                return variable.get()
        raise AttributeError(
            f"no environment variable {attribute!r} in group {self._name!r}; there are: "
            + ", ".join(variable.attribute for variable in self.variables())
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(variable.attribute for variable in self.variables())]

    def to_dict(self) -> dict[str, Any]:
        """Present values by attribute; raises ValueError for the first one that isn't valid."""
        return {variable.attribute: variable.get() for variable in self.variables()}

    def help(self) -> str:
        """One paragraph per variable: name, what it does, valid values, default, present setting."""
        lines = []
        for variable in self.variables():
            setting = f", now {os.environ[variable.name]!r}" if variable.is_set() else ""
            default = f" (default {variable.default})" if variable.default != "" else ""
            lines.append(f"{variable.name}: {variable.help}\n    {variable.expected}{default}{setting}")
        return "\n".join(lines)


ENTRY_POINTS = "flydsl.variables"
"""The group of entry points by which wheels say which module declares which group of variables."""


def group(name: str) -> Group:
    """The group of that name; what installed wheels registered for it as an entry point is imported.

    Raises ValueError when no layer that is installed has declared a variable in it.
    """
    if name not in groups():
        # Here, because it brings email, csv and more: a tenth of the time that importing the language takes.
        from importlib import metadata

        for entry in metadata.entry_points(group=ENTRY_POINTS, name=name):
            entry.load()
    if name not in groups():
        raise ValueError(f"no group of environment variables {name!r}; there are: {', '.join(groups())}")
    return Group(name)


def groups() -> tuple[str, ...]:
    """The names of all groups that have a variable."""
    return tuple(sorted({variable.group for variable in _variables.values()}))


def all_variables() -> Iterator[Variable[Any]]:
    """Every declared variable, by group and name."""
    for name in groups():
        yield from Group(name).variables()

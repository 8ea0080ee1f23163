# SPDX-License-Identifier: Apache-2.0
"""What modules of Python's library keep for themselves, and functions of theirs go by: tables, defaults, classes.

`json.dumps(x)` goes by `json._default_encoder` and by what the methods of `json.JSONEncoder` are. No traced code names
these, but somebody may set them. So where traced code called a function of a module in Python, all that the module and
the others of its package have is compared: which object each name is, and what is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from .attributes import own_attributes
from .guard import Content, Guard, Item, State
from .known import is_known_kind
from .states import reader_of

__all__ = ["guards_of_modules"]

_CHANGE_BY_THEMSELVES = frozenset(
    (
        *("abc", "builtins", "genericpath", "importlib", "inspect", "linecache", "logging", "os", "posixpath"),
        *("random", "re", "sre_compile", "sre_parse", "sys", "tempfile", "threading", "traceback", "typing"),
        *("warnings", "weakref"),
    )
)
"""Modules that keep what they have seen, or the state of the process, which is compared elsewhere."""
_OF_TORCH = "torch.nn.modules."


def guards_of_modules(asked: Iterable[tuple[str, str]]) -> list[Guard]:
    """Return guards of the modules of functions that a trace called, by module and qualified name."""
    modules = dict.fromkeys(module for module, name in asked if _is_in_python(module, name))
    guards: list[Guard] = []
    seen: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        module = sys.modules.get(name)
        if name in seen or module is None:
            continue
        seen.add(name)
        todo += _look_at(module, guards)
    return guards


def _is_in_python(module: str, name: str) -> bool:
    """Tell whether a function is one in Python, of a module that may keep something."""
    root = module.partition(".")[0]
    if root in _CHANGE_BY_THEMSELVES or not (root in sys.stdlib_module_names or module.startswith(_OF_TORCH)):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type):
        spec = getattr(sys.modules[module], "__spec__", None)
        return str(getattr(spec, "origin", "")).endswith(".py") and module not in ("collections", "functools")
    return isinstance(found, FunctionType)


def _look_at(module: ModuleType, guards: list[Guard]) -> Iterator[str]:
    """Add the guards of a module, and yield the other modules of its package that it uses."""
    own, package = vars(module), module.__name__.partition(".")[0]
    for name, value in list(own.items()):
        if name.startswith("__"):
            continue
        label = f"{module.__name__}.{name}"
        guards.append(Item(label, own, name, value, is_global=False))
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        is_inside = isinstance(home, str) and home.partition(".")[0] == package and package != "torch"
        if isinstance(value, (FunctionType, ModuleType)):
            if is_inside:
                yield str(home)
        elif isinstance(value, type):
            if is_inside or home == module.__name__:
                members = value.__dict__
                guards += [
                    Item(f"{label}.{key}", members, key, one, is_global=False)
                    for key, one in members.items()
                    if isinstance(one, FunctionType) or not key.startswith("__")
                ]
            if is_inside:
                yield str(home)
        elif isinstance(value, (list, dict, set)):
            guards.append(Content(label, value))
        else:
            _look_into(label, value, guards)


def _look_into(label: str, value: Any, guards: list[Guard]) -> None:
    """Add guards of an object that a module keeps."""
    read = reader_of(value)
    if read is not None:
        guards.append(State(label, value, read))
        return
    attributes = own_attributes(value)
    if attributes and is_known_kind(type(value)):
        guards += [
            Item(f"{label}.{key}", attributes, key, one, is_global=False) for key, one in list(attributes.items())
        ]

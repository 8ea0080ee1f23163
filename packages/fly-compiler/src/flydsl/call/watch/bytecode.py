# SPDX-License-Identifier: Apache-2.0
"""Which names compiled code of Python has."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import BuiltinMethodType, CodeType, FunctionType, ModuleType
from typing import Any

from .foreign import is_foreign, is_foreign_class

__all__ = ["WHOLE_MODULE", "add_names", "callables_in", "loads_global", "looked_up", "matches_classes"]

WHOLE_MODULE = frozenset(["__globals__", "eval", "exec", "f_globals", "globals"])
"""What code names that can read everything in its module."""
_OF_MODULE = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL")
_LOADS = {dis.opmap[one]: one == "LOAD_GLOBAL" for one in _OF_MODULE if one in dis.opmap}
"""Instructions that take a name of the module; true of the one whose number has a flag in its lowest bit."""
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
_IMPORT = dis.opmap["IMPORT_NAME"]
_HAS_FLAG = sys.version_info >= (3, 11)


def add_names(code: CodeType, names: set[str], texts: set[str]) -> None:
    """Add the names that code, and code in it, has to `names`, and its constant texts to `texts`."""
    names.update(code.co_names)
    for one in code.co_consts:
        if isinstance(one, CodeType):
            add_names(one, names, texts)
        elif isinstance(one, str):
            texts.add(one)
        elif isinstance(one, (tuple, frozenset)):
            texts.update(part for part in one if isinstance(part, str))


def looked_up(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code, and code in it, looks up in its module, and those of modules that it imports by a
    statement, as they stand there."""
    names: set[str] = set()
    modules: set[str] = set()
    raw, extended = code.co_code, 0
    for at in range(0, len(raw), 2):
        operation, number = raw[at], raw[at + 1] | extended
        extended = number << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _LOADS:
            names.add(code.co_names[number >> 1 if _HAS_FLAG and _LOADS[operation] else number])
        elif operation == _IMPORT:
            modules.add(code.co_names[number])
    for one in code.co_consts:
        if isinstance(one, CodeType):
            inner = looked_up(one)
            names |= inner[0]
            modules |= inner[1]
    return names, modules


def matches_classes(code: CodeType) -> bool:
    """Tell whether code, or code in it, has a pattern of a class (`case C(x)`)."""
    return _MATCH_CLASS in code.co_code[::2] or any(
        matches_classes(one) for one in code.co_consts if isinstance(one, CodeType)
    )


def loads_global(code: CodeType, name: str) -> bool:
    """Tell whether code, or code in it, reads a name of its module as a global, or all of them."""
    if name in code.co_names and any(
        one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL") and one.argval == name
        for one in dis.get_instructions(code)
    ):
        return True
    if not WHOLE_MODULE.isdisjoint(code.co_names):
        return True
    return any(isinstance(one, CodeType) and loads_global(one, name) for one in code.co_consts)


_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")


def callables_in(function: FunctionType) -> Iterator[object]:
    """Yield the functions and classes of others that a function's code takes from its module, modules and classes.

    Names are looked up as they stand; what comes in another way, through a variable or a container, is not found.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    known = {}
    for name, cell in cells.items():
        try:
            known[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    yield from _callables_in(function.__code__, function.__globals__, known)


def _callables_in(code: CodeType, namespace: dict[str, Any], known: dict[str, Any]) -> Iterator[Any]:
    known, value, imported = dict(known), None, None
    built_in = namespace.get("__builtins__")
    hidden: Any = built_in if isinstance(built_in, dict) else vars(built_in) if built_in is not None else {}
    for one in dis.get_instructions(code):
        name = one.argval
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = namespace.get(name, hidden.get(name))
        elif one.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")) and isinstance(name, str):
            value = known.get(name)
        elif one.opname == "IMPORT_NAME":
            value = imported = sys.modules.get(name)
        elif one.opname in _ATTRIBUTES:
            value = _part(imported if one.opname == "IMPORT_FROM" else value, name)
        elif one.opname in ("STORE_FAST", "STORE_DEREF"):
            if value is not None:
                known[name] = value
            value = None
        elif one.opname not in _OF_CALLS:
            value = None
        if _is_of_others(value):
            yield value
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _callables_in(one, namespace, known)


_OF_CALLS = ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL")


def _is_of_others(value: Any) -> bool:
    if isinstance(value, FunctionType):
        return is_foreign(value.__globals__.get("__name__") or "")
    if isinstance(value, BuiltinMethodType):
        return isinstance(value.__self__, (ModuleType, type, type(None)))
    return isinstance(value, type) and is_foreign_class(value)


def _part(value: Any, name: str) -> Any:
    """Return an attribute of a module or of somebody else's class."""
    if isinstance(value, ModuleType):
        return vars(value).get(name)
    return getattr(value, name, None) if isinstance(value, type) and is_foreign_class(value) else None

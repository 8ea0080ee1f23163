# SPDX-License-Identifier: Apache-2.0
"""Which names compiled code of Python has."""

from __future__ import annotations

import dis
import sys
from types import CodeType

__all__ = ["WHOLE_MODULE", "add_names", "loads_global", "looked_up", "matches_classes"]

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

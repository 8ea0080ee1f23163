# SPDX-License-Identifier: Apache-2.0
"""The attributes of objects, read without running code of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from .foreign import is_foreign_class

__all__ = ["data_attributes", "data_names", "gets_attributes", "own_attributes"]


def data_names(namespace: Mapping[str, Any], *, functions: bool = False) -> set[str]:
    """Return the names of values that are no code, or functions too."""
    code = (ModuleType, type) if functions else (FunctionType, ModuleType, type)
    return {
        name
        for name, value in list(namespace.items())
        if not (name.startswith("__") and name.endswith("__")) and not isinstance(value, code)
    }


def gets_attributes(cls: type) -> bool:
    """Tell whether a class of somebody else's looks attributes up by itself."""
    return "__getattr__" in vars(cls) and is_foreign_class(cls)


def own_attributes(value: Any) -> dict[str, Any] | None:
    """Return the dictionary of an object without running code of its class; `None` when it has none."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


def data_attributes(value: Any, names: set[str] | None) -> dict[str, Any]:
    """Return the attributes of an object that code can read: those of some names, or all."""
    found = dict(own_attributes(value) or {})
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, MemberDescriptorType) and not is_foreign_class(base):
                with suppress(AttributeError):
                    found[name] = member.__get__(value)
    if names is None or any(map(gets_attributes, type(value).__mro__)):
        return found
    return {name: one for name, one in found.items() if name in names}

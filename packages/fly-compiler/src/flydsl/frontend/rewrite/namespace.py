# SPDX-License-Identifier: Apache-2.0
"""What the names around a function stand for, as far as rewriting it depends on that."""

from __future__ import annotations

import builtins
from types import FunctionType, ModuleType
from typing import Any

from flydsl.trace.library import is_of_compiler

__all__ = ["Namespace"]

_MISSING = object()


class Namespace:
    """The globals and closure values of a function, asked for facts about names.

    Attributes:
        answers: each fact that was asked for, by its name and that of the variable. Where these are the same, and the
            source and the code of the function too, the rewritten function is.
    """

    def __init__(self, function: FunctionType) -> None:
        self.answers: dict[tuple[str, str], bool] = {}
        self._globals = function.__globals__
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def _value(self, name: str) -> Any:
        cell = self._cells.get(name)
        if cell is None:
            return self._globals.get(name, _MISSING)
        try:
            return cell.cell_contents
        except ValueError:  # not bound yet; it certainly is no module
            return None

    def is_builtin(self, name: str) -> bool:
        """Tell whether a name that the function does not bind is Python's own."""
        found = self._value(name) is _MISSING and hasattr(builtins, name)
        self.answers["is_builtin", name] = found
        return found

    def is_compiler_module(self, name: str) -> bool:
        """Tell whether a name that the function does not bind is a module of this library, whose functions stay."""
        value = self._value(name)
        found = isinstance(value, ModuleType) and (
            is_of_compiler(value.__name__) or value.__name__.startswith("flydsl._mlir")
        )
        self.answers["is_compiler_module", name] = found
        return found

    def is_const_expr(self, path: str) -> bool:
        """Tell whether a dotted name is this library's `const_expr`, and no function of the user's of that name."""
        root, *rest = path.split(".")
        value = self._value(root)
        for one in rest:
            value = getattr(value, one, None) if isinstance(value, ModuleType) else None
        found = getattr(value, "__name__", None) == "const_expr" and is_of_compiler(getattr(value, "__module__", ""))
        self.answers["is_const_expr", path] = found
        return found

    def agrees(self, answers: dict[tuple[str, str], bool]) -> bool:
        """Tell whether all of these facts hold here."""
        return all(getattr(self, fact)(name) == answer for (fact, name), answer in answers.items())

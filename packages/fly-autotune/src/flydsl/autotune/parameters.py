# SPDX-License-Identifier: Apache-2.0
"""The parameters of the function that is tuned, and calls bound to them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import Any

__all__ = ["Parameters"]


class Parameters:
    """The parameters of a callable: of what it wraps, when it is a `@flyc.jit` function or something like it.

    Attributes:
        function_name: for files and messages.
        names: of the parameters; empty where the callable has no signature.
        open: the callable takes keyword arguments of any name.
    """

    def __init__(self, fn: Any) -> None:
        target = fn if isinstance(fn, functools.partial) else inspect.unwrap(fn)
        if not inspect.isroutine(target) and inspect.isfunction(getattr(target, "func", None)):
            target = target.func
        self.target = target
        self.function_name: str = getattr(target, "__name__", None) or type(fn).__name__
        try:
            self._signature: inspect.Signature | None = inspect.signature(target)
        except (TypeError, ValueError):  # a builtin
            self._signature = None
        parameters = () if self._signature is None else tuple(self._signature.parameters.values())
        self._defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        self._positional = tuple(
            one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        )
        self._keywords = frozenset(
            one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
        )
        self.names = tuple(one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL))
        self.open = self._signature is None or any(one.kind is one.VAR_KEYWORD for one in parameters)

    def accepts(self, name: str) -> bool:
        """Tell whether the callable takes a keyword argument of that name."""
        return self.open or name in self.names

    def check(self, what: str, names: Iterable[str]) -> None:
        """Raise ValueError unless all names are those of parameters; `what` is where they were given."""
        for name in names:
            if not self.accepts(name):
                raise ValueError(
                    f"autotune: {what} names {name!r}, which is no parameter of {self.function_name}"
                    f"({', '.join(self.names)})"
                )

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, without defaults; those that configurations fill in may be missing.

        Raises:
            TypeError: they do not fit the parameters.
        """
        taken = self._positional[: len(args)]
        if len(taken) == len(args) and self._keywords.issuperset(kwargs) and not any(map(kwargs.__contains__, taken)):
            return {**dict(zip(taken, args, strict=True)), **kwargs}
        return self._bound(args, kwargs)

    def complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """Some arguments by name with the defaults of those that are missing."""
        return {**self._defaults, **given}

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What Python makes of a call that is no plain one: `*args`, `**kwargs`, or an error."""
        if self._signature is None:
            return {**{f"argument {index}": value for index, value in enumerate(args)}, **kwargs}
        try:
            bound = self._signature.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.function_name}(): {error}") from None
        named: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                named.update(value)
            else:
                named[name] = value
        return named

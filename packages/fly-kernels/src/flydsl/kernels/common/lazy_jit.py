# SPDX-License-Identifier: Apache-2.0
"""`@flyc.jit` functions of modules: made at their first use, since no module may import the compiler at its top."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["LazyJit"]


class LazyJit:
    """What `make()` returns, a `@flyc.jit` function, from its first use on."""

    def __init__(self, make: Callable[[], Callable[..., object]]) -> None:
        self._make = make
        self._jit: Callable[..., object] | None = None

    @property
    def jit(self) -> Callable[..., object]:
        """The `@flyc.jit` function."""
        if self._jit is None:
            self._jit = self._make()
        return self._jit

    def __call__(self, *arguments: object, **keywords: object) -> object:
        """Launch."""
        return self.jit(*arguments, **keywords)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.jit, name)

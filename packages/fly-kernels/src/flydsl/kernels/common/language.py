# SPDX-License-Identifier: Apache-2.0
"""`flyc` and `fx`, imported when a builder first uses them.

This wheel must import where only fly-runtime is installed, so no module of it may import the compiler at its top.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flydsl.runtime.imports import without_collections_of_imports


class _Lazy:
    """A module that is imported at its first use.

    Raises ImportError, with what to install, when the compiler is missing.
    """

    def __init__(self, load: Callable[[], ModuleType]) -> None:
        self._load = load
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            try:
                self._module = self._load()
            except ModuleNotFoundError as error:
                if not (error.name or "").startswith("flydsl"):
                    raise
                raise ImportError(
                    "building a kernel needs the compiler, which is not installed: pip install 'fly-kernels[jit]'. "
                    "A kernel that was exported runs without it: flydsl.runtime.load_artifact(path)"
                ) from error
        return getattr(self._module, attribute)


def _compiler() -> ModuleType:
    with without_collections_of_imports():
        import flydsl.compiler
    return flydsl.compiler


def _expr() -> ModuleType:
    with without_collections_of_imports():
        import flydsl.expr
    return flydsl.expr


if TYPE_CHECKING:
    import flydsl.compiler as flyc
    import flydsl.expr as fx
else:
    flyc = _Lazy(_compiler)
    fx = _Lazy(_expr)

__all__ = ["flyc", "fx"]

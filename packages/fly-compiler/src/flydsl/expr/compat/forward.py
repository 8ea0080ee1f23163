# SPDX-License-Identifier: Apache-2.0
"""Module paths that existing code imports names of the language from: they give the very objects of `flydsl.expr`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["forward"]


def forward(module: str, source: str = "flydsl.expr") -> Callable[[str], Any]:
    """Return a module `__getattr__` that looks public names up in `source`.

    Raises:
        AttributeError: (when called) `source` has no such public name.
    """

    def lookup(name: str) -> Any:
        if not name.startswith("_"):
            origin = importlib.import_module(source)
            if name in origin.__all__:
                return getattr(origin, name)
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return lookup

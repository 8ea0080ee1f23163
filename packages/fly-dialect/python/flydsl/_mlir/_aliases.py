# SPDX-License-Identifier: Apache-2.0
"""Aliases of types: the names that kernels in use give them, with the keywords of their `get`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Names = Mapping[str, tuple[str, Mapping[str, str]]]
"""Alias to our name and the keywords that are called otherwise here."""


def _with_keywords(get: Callable[..., Any], keywords: Mapping[str, str]) -> Callable[..., Any]:
    @functools.wraps(get)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        return get(*args, **{keywords.get(name, name): value for name, value in kwargs.items()})

    return renamed


def aliases(types: ModuleType, names: Names) -> dict[str, Any]:
    """Return the types under their aliases; their `get` takes the keywords of either spelling from now on."""
    found = {}
    for name, (own, keywords) in names.items():
        found[name] = kind = getattr(types, own)
        if keywords:
            kind.get = staticmethod(_with_keywords(kind.get, keywords))
    return found

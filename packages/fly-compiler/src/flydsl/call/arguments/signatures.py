# SPDX-License-Identifier: Apache-2.0
"""Fast signatures: what of an argument its specialisation depends on, in a fraction of a microsecond.

Two values with equal signatures have equal specs (`classify`), not the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .kinds import kind_of

__all__ = ["SIGNATURES", "signature"]


class _Signatures(dict[type, Callable[[Any], Any]]):
    """From a class to the function that gives the signature of its objects."""

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        function = self[kind] = kind_of(kind).signature(kind)
        return function


SIGNATURES = _Signatures()


def signature(value: Any) -> Any:
    """Return the signature of an argument."""
    return SIGNATURES[type(value)](value)

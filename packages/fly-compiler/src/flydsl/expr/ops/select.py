# SPDX-License-Identifier: Apache-2.0
"""`fx.select`: modes of a tuple or layout, or one of two values."""

from __future__ import annotations

from typing import Any

from ..values.layout.modes import select as _modes
from ..values.numeric.base import select as _values

__all__ = ["select"]


def select(x: Any, *args: Any, indices: Any = None) -> Any:
    """Return the modes of a layout or int-tuple that `indices` lists; with three arguments, one of two values.

    `select(x, indices)`, `select(x, indices=[...])`; `select(condition, true_value, false_value)`.
    """
    if indices is not None and not args:
        return _modes(x, indices)
    if len(args) == 1 and indices is None:
        return _modes(x, args[0])
    if len(args) == 2 and indices is None:
        return _values(x, *args)
    raise TypeError("select takes (x, indices) or (condition, true_value, false_value)")

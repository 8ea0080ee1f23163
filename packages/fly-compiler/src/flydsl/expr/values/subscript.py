# SPDX-License-Identifier: Apache-2.0
"""What may stand in the brackets of tensors, pointers, arrays and vectors: integers, but no truth values.

NumPy takes a Boolean in brackets for a mask. Here it would be 0 or 1, and `y[i > 3] = v` would write two elements.
"""

from __future__ import annotations

from typing import Any

from .numeric.base import Numeric

__all__ = ["refuse_boolean"]


def refuse_boolean(index: Any, what: str) -> None:
    """Refuse a truth value as index, or as one of the coordinates of a tuple.

    Raises:
        TypeError: it is one.
    """
    kind = type(index)
    if kind is int:
        return
    if kind is tuple or kind is list:
        for one in index:
            refuse_boolean(one, what)
    elif kind is bool or (isinstance(index, Numeric) and kind.width == 1):
        raise TypeError(
            f"{what} is indexed with integers, got {'a bool' if kind is bool else 'a Boolean'}; where it is a mask, "
            "write `if condition: y[i] = ...` or condition.select(a, b); for 0 or 1 convert it, condition.to(fx.Int32)"
        )

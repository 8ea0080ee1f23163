# SPDX-License-Identifier: Apache-2.0
"""LDS bank maps."""

from __future__ import annotations

from ..errors import LayoutError
from ..text.printing import text_of
from .grid import Picture
from .layouts import layout_grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["bank_map"]


def bank_map(layout: Any, elem_bits: int, *, banks: int = 32, base: int = 0, compare: Any = None) -> Picture:
    """The bank of each element of a tile in LDS; a column of one colour is a conflict waiting for a column access.

    Args:
        layout: element indices; with a swizzle, what LDS really holds where.
        elem_bits: width of an element.
        banks: number of 4-byte banks.
        base: byte address of element 0.
        compare: a second layout (say, the same with a swizzle) drawn beside the first.

    Raises:
        LayoutError: see `show`; or the widths are not positive.
    """
    if elem_bits < 1 or banks < 1:
        raise LayoutError(f"bank_map({layout}): elem_bits {elem_bits} and banks {banks} are positive")

    def bank(index: int) -> int:
        return (base * 8 + index * elem_bits) // 32 % banks

    layouts = [layout] if compare is None else [layout, compare]
    grids = [layout_grid(a, text_of(a), bank, lines=lambda index: (str(bank(index)),)) for a in layouts]
    return Picture(tuple(grids), f"bank (of {banks}) of each {elem_bits}-bit element")

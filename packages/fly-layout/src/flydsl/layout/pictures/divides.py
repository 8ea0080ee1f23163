# SPDX-License-Identifier: Apache-2.0
"""A layout before and after a divide."""

from __future__ import annotations

from ..algebra.divide import logical_divide, zipped_divide
from ..int_tuple import product
from ..layout import Layout
from ..text.printing import text_of
from ..tile import Tile
from .grid import Cell, Grid, Picture
from .layouts import breaks, check, layout_grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["divide"]


def divide(layout: Any, divisor: Any) -> Picture:
    """Left the layout with its tiles in colour, right its `zipped_divide`: a tile per column.

    Elements of one tile have one colour on both sides.

    Raises:
        LayoutError: see `zipped_divide` and `show`.
    """
    check(layout)
    zipped = zipped_divide(layout, divisor)
    check(zipped)
    # The divide of the identity says to which tile each linear coordinate belongs.
    plain = layout.plain()
    positions = zipped_divide(Layout(plain.shape), divisor)
    per_tile = positions[0].size()
    tile_of = {positions(i): i // per_tile for i in range(positions.size())}
    before = layout_grid(layout, f"before: {text_of(layout)}", lambda _: None)
    rows = len(before.rows)
    colored = tuple(
        tuple(Cell(cell.lines, tile_of.get(i + j * rows)) if cell is not None else None for j, cell in enumerate(row))
        for i, row in enumerate(before.rows)
    )
    row_breaks, col_breaks = _tile_breaks(layout, divisor)
    before = Grid(before.title, colored, before.row_labels, before.col_labels, row_breaks, col_breaks)
    after = layout_grid(zipped, f"after: {text_of(zipped)}", lambda _: None)
    after = Grid(
        after.title,
        tuple(tuple(Cell(c.lines, j) if c is not None else None for j, c in enumerate(row)) for row in after.rows),
        after.row_labels,
        after.col_labels,
        after.row_breaks,
        after.col_breaks,
        "tile",
    )
    shown = Tile(divisor) if isinstance(divisor, tuple) else divisor
    return Picture((before, after), f"zipped_divide({text_of(layout)}, {text_of(shown)})")


def _tile_breaks(layout: Any, divisor: Any) -> tuple[frozenset[int], frozenset[int]]:
    """Heavy lines around tiles that are contiguous blocks of rows and columns; none for others."""
    divided = logical_divide(layout, divisor).plain()
    if not isinstance(divisor, (tuple, Tile)) or divided.rank != 2 or type(divided.shape[0]) is not tuple:
        return frozenset(), frozenset()
    modes = divisor.modes if isinstance(divisor, Tile) else divisor
    found = []
    for i, m in enumerate((*modes, None)[:2]):
        extent = product(divided[i].shape)
        found.append(breaks((m, extent), extent) if isinstance(m, int) else frozenset())
    return found[0], found[1]

# SPDX-License-Identifier: Apache-2.0
"""Layouts as grids of cells: their indices, the banks of these, a layout before and after a divide."""

from __future__ import annotations

from ..algebra.divide import logical_divide, zipped_divide
from ..errors import LayoutError, LayoutTypeError, fail
from ..int_tuple import product
from ..layout import Layout, LayoutLike
from ..printing import text_of
from ..tile import Tile
from .grid import Cell, Grid
from .picture import Picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import AnyLayout, Shape, Tiler

__all__ = ["bank_map", "divide", "layout_grid", "show"]

MAX_CELLS = 1 << 14


def show(layout: AnyLayout, *, colors: int = 8, max_rows: int | None = None, max_cols: int | None = None) -> Picture:
    """A layout of one or two modes: rows are mode 0, columns the other modes, and each cell has its index.

    Colours repeat with the index, so that equal colours lie ``colors`` indices apart. Heavy lines separate the
    sub-modes of a nested mode.

    Args:
        layout: a static layout, composed layout or coordinate tensor.
        colors: number of colours.
        max_rows, max_cols: draw only that many, from the first.

    Raises:
        LayoutError: the layout is not static, or there are more than 16384 cells to draw.
    """
    grid = layout_grid(layout, text_of(layout), lambda index: _color(index, colors), max_rows, max_cols)
    return Picture((grid,), f"{text_of(layout)}  (size {layout.size()})")


def _color(index: Any, colors: int) -> int | None:
    return index % colors if isinstance(index, int) else None


def layout_grid(
    layout: AnyLayout,
    title: str,
    color: Callable[[Any], int | None],
    max_rows: int | None = None,
    max_cols: int | None = None,
    lines: Callable[[Any], tuple[str, ...]] | None = None,
) -> Grid:
    """The grid of a layout; ``color`` and ``lines`` make a cell from its index."""
    check(layout)
    shape = layout.shape
    row_shape, col_shape = (1, shape) if type(shape) is not tuple or len(shape) == 1 else (shape[0], shape[1:])
    rows, cols = product(row_shape), product(col_shape)
    shown_rows = rows if max_rows is None else min(rows, max_rows)
    shown_cols = cols if max_cols is None else min(cols, max_cols)
    if shown_rows * shown_cols > MAX_CELLS:
        raise fail(
            "show", f"{shown_rows} x {shown_cols} cells are more than {MAX_CELLS}; slice it or give max_rows", layout
        )
    text = lines or (lambda index: (text_of(index),))
    cells = []
    for i in range(shown_rows):
        # The linear coordinate of (i, j) is i + j * rows, whatever the nesting.
        indices = [layout(i + j * rows) for j in range(shown_cols)]
        cells.append(tuple([Cell(text(x), color(x)) for x in indices]))
    return Grid(
        title,
        tuple(cells),
        tuple(map(str, range(shown_rows))) if rows > 1 else ("",),
        tuple(map(str, range(shown_cols))),
        breaks(row_shape, shown_rows),
        breaks(col_shape, shown_cols),
    )


def check(layout: AnyLayout) -> None:
    """Raise unless ``layout`` is one that can be drawn."""
    if not isinstance(layout, LayoutLike):
        raise fail("show", "the operand is no layout", layout, kind=LayoutTypeError)
    if not layout.is_static:
        raise fail("show", "the layout is not static; specialize it first", layout)


def breaks(shape: Shape, count: int) -> frozenset[int]:
    """Places at which the first sub-mode of a nested mode starts again."""
    while type(shape) is tuple and len(shape) == 1:
        shape = shape[0]
    if type(shape) is not tuple:
        return frozenset()
    step = product(shape[0])
    return frozenset(range(step, count, step)) if step > 1 else frozenset()


def bank_map(
    layout: AnyLayout, elem_bits: int, *, banks: int = 32, base: int = 0, compare: AnyLayout | None = None
) -> Picture:
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


def divide(layout: AnyLayout, divisor: Tiler) -> Picture:
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

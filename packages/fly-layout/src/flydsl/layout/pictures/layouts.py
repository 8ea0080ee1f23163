# SPDX-License-Identifier: Apache-2.0
"""A layout as a grid of indices."""

from __future__ import annotations

from ..errors import LayoutTypeError, fail
from ..int_tuple import product
from ..layout import LayoutLike
from ..text.printing import text_of
from .grid import Cell, Grid, Picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["layout_grid", "show"]

MAX_CELLS = 1 << 14


def show(layout: Any, *, colors: int = 8, max_rows: int | None = None, max_cols: int | None = None) -> Picture:
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
    layout: Any,
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


def check(layout: Any) -> None:
    """Raise unless ``layout`` is one that can be drawn."""
    if not isinstance(layout, LayoutLike):
        raise fail("show", "the operand is no layout", layout, kind=LayoutTypeError)
    if not layout.is_static:  # type: ignore[attr-defined]
        raise fail("show", "the layout is not static; specialize it first", layout)


def breaks(shape: Any, count: int) -> frozenset[int]:
    """Places at which the first sub-mode of a nested mode starts again."""
    while type(shape) is tuple and len(shape) == 1:
        shape = shape[0]
    if type(shape) is not tuple:
        return frozenset()
    step = product(shape[0])
    return frozenset(range(step, count, step)) if step > 1 else frozenset()

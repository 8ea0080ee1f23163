# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows when a layout is the last expression."""

from __future__ import annotations

from xml.sax.saxutils import escape

from ..printing import text_of
from .layouts import show
from .picture import Picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout

__all__ = ["notebook_html", "notebook_svg"]

_SIDE = 64


def _picture(layout: Any) -> Picture | None:
    """The picture of a static layout, at most 64 x 64 of it; None for one with symbolic leaves or no elements."""
    n = layout.size()
    if not layout.is_static or n == 0:
        return None
    picture = show(layout, max_rows=_SIDE, max_cols=_SIDE)
    grid = picture.grids[0]
    drawn = len(grid.rows) * len(grid.col_labels)
    if drawn < n:
        return Picture(picture.grids, f"{picture.caption}, the first {len(grid.rows)} x {len(grid.col_labels)} shown")
    return picture


def notebook_svg(layout: AnyLayout) -> str | None:
    """SVG, or None where there is nothing to draw."""
    picture = _picture(layout)
    return None if picture is None else picture.svg()


def notebook_html(layout: AnyLayout) -> str | None:
    """The picture; the text alone where there is nothing to draw."""
    picture = _picture(layout)
    if picture is None:
        return f"<code>{escape(text_of(layout))}</code>"
    return picture._repr_html_()

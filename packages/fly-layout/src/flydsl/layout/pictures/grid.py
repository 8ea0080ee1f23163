# SPDX-License-Identifier: Apache-2.0
"""The model that all pictures share: coloured cells in rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import LayoutError

__all__ = ["Cell", "Grid", "Picture"]


@dataclass(frozen=True)
class Cell:
    """One cell: lines of text and the index of its colour class (None is white)."""

    lines: tuple[str, ...]
    color: int | None


@dataclass(frozen=True)
class Grid:
    """Cells with labels.

    Attributes:
        title: a line above.
        rows: the cells; None leaves a gap.
        row_labels, col_labels: texts at the left and above.
        row_breaks, col_breaks: row (column) numbers before which a heavy line is drawn.
        corner: text where the labels meet.
    """

    title: str
    rows: tuple[tuple[Cell | None, ...], ...]
    row_labels: tuple[str, ...]
    col_labels: tuple[str, ...]
    row_breaks: frozenset[int] = frozenset()
    col_breaks: frozenset[int] = frozenset()
    corner: str = ""


@dataclass(frozen=True)
class Picture:
    """One or more grids side by side, with a caption."""

    grids: tuple[Grid, ...]
    caption: str

    def text(self) -> str:
        """Plain text for a terminal."""
        from .text import to_text

        return to_text(self)

    def svg(self) -> str:
        """An SVG document."""
        from .svg import to_svg

        return to_svg(self)

    def html(self) -> str:
        """A standalone HTML page; it loads nothing."""
        from .html import to_html

        return to_html(self)

    def tikz(self) -> str:
        """A ``tikzpicture`` environment for LaTeX; it needs the ``tikz`` and ``xcolor`` packages."""
        from .tikz import to_tikz

        return to_tikz(self)

    def write(self, path: str | Path) -> Path:
        """Write the picture to a file, in the form that the suffix names: .svg, .html, .tex or .txt.

        Raises:
            LayoutError: another suffix.
        """
        target = Path(path)
        forms = {".svg": self.svg, ".html": self.html, ".tex": self.tikz, ".txt": self.text}
        if target.suffix not in forms:
            raise LayoutError(f"write({str(path)!r}): the suffix is none of {', '.join(forms)}")
        target.write_text(forms[target.suffix](), encoding="utf-8")
        return target

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        from .html import to_fragment

        return to_fragment(self)

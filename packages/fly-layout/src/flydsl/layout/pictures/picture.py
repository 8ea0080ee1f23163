# SPDX-License-Identifier: Apache-2.0
"""The picture: grids with a caption, and the forms that it can be written in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import LayoutError
from .grid import Grid
from .svg import to_fragment, to_html, to_svg
from .text import to_text
from .tikz import to_tikz

__all__ = ["Picture"]


@dataclass(frozen=True)
class Picture:
    """One or more grids side by side, with a caption."""

    grids: tuple[Grid, ...]
    caption: str

    def text(self) -> str:
        """Plain text for a terminal."""
        return to_text(self.grids, self.caption)

    def svg(self) -> str:
        """An SVG document."""
        return to_svg(self.grids, self.caption)

    def html(self) -> str:
        """A standalone HTML page; it loads nothing."""
        return to_html(self.svg(), self.text(), self.caption)

    def tikz(self) -> str:
        """A ``tikzpicture`` environment for LaTeX; it needs the ``tikz`` and ``xcolor`` packages."""
        return to_tikz(self.grids, self.caption)

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
        return to_fragment(self.svg())

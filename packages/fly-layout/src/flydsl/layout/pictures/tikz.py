# SPDX-License-Identifier: Apache-2.0
"""Pictures as TikZ, for papers."""

from __future__ import annotations

from .grid import Grid
from .palette import color_of, ink_on, number_of

__all__ = ["to_tikz"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
}
_SPECIAL |= {"^": r"\^{}", "~": r"\~{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)


def to_tikz(grids: tuple[Grid, ...], caption: str) -> str:
    """A ``tikzpicture``; one unit is one cell."""
    used = sorted({number_of(c.color) for g in grids for row in g.rows for c in row if c and c.color is not None})
    lines = [f"% {caption}"]
    lines += [rf"\definecolor{{fly{k}}}{{HTML}}{{{color_of(k)[1:].upper()}}}" for k in used]
    longest = max([len(t) for g in grids for row in g.rows for c in row if c for t in c.lines] + [1])
    lines.append(
        rf"\begin{{tikzpicture}}[x={max(0.55, 0.16 * longest + 0.2):.2f}cm,y=-0.6cm,font=\ttfamily\scriptsize]"
    )
    at = 0
    for grid in grids:
        lines += _grid(grid, at)
        at += len(grid.col_labels) + 2
    lines.append(r"\end{tikzpicture}")
    return "\n".join(lines) + "\n"


def _grid(grid: Grid, x0: int) -> list[str]:
    rows, cols = len(grid.rows), len(grid.col_labels)
    lines = [rf"\node[anchor=south west] at ({x0},-1) {{{_escaped(grid.title)}}};"]
    lines += [
        rf"\node[gray] at ({x0 + j + 0.5},-0.4) {{{_escaped(label)}}};" for j, label in enumerate(grid.col_labels)
    ]
    for i, row in enumerate(grid.rows):
        if grid.row_labels[i]:
            lines.append(rf"\node[gray] at ({x0 - 0.4},{i + 0.5}) {{{_escaped(grid.row_labels[i])}}};")
        for j, cell in enumerate(row):
            if cell is None:
                continue
            text = r"\\".join(map(_escaped, cell.lines))
            if cell.color is not None:
                lines.append(rf"\fill[fly{number_of(cell.color)}] ({x0 + j},{i}) rectangle +(1,1);")
            ink = "white" if cell.color is not None and ink_on(color_of(cell.color)) == "#ffffff" else "black"
            lines.append(rf"\node[{ink},align=center] at ({x0 + j + 0.5},{i + 0.5}) {{{text}}};")
    lines.append(rf"\draw[very thin,gray] ({x0},0) grid[step=1] ({x0 + cols},{rows});")
    lines.append(rf"\draw[thick] ({x0},0) rectangle ({x0 + cols},{rows});")
    lines += [rf"\draw[thick] ({x0 + j},0) -- ({x0 + j},{rows});" for j in sorted(grid.col_breaks)]
    lines += [rf"\draw[thick] ({x0},{i}) -- ({x0 + cols},{i});" for i in sorted(grid.row_breaks)]
    return lines

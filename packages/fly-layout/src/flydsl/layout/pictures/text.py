# SPDX-License-Identifier: Apache-2.0
"""Pictures as plain text."""

from __future__ import annotations

from .grid import Grid

__all__ = ["to_text"]


def to_text(grids: tuple[Grid, ...], caption: str) -> str:
    """The grids one below the other, with rules at the heavy lines."""
    parts = [_grid(g) for g in grids]
    if caption not in (g.title for g in grids):
        parts.append(caption)
    return "\n\n".join(parts)


def _grid(grid: Grid) -> str:
    texts = [[" ".join(c.lines) if c is not None else "" for c in row] for row in grid.rows]
    widths = [max(len(label), *(len(row[j]) for row in texts)) for j, label in enumerate(grid.col_labels)]
    margin = max(map(len, (*grid.row_labels, grid.corner)))

    def line(label: str, cells: list[str]) -> str:
        out = label.rjust(margin) + " |"
        for j, cell in enumerate(cells):
            out += (" |" if j in grid.col_breaks else "") + " " + cell.rjust(widths[j])
        return out

    header = line(grid.corner, list(grid.col_labels))
    rule = "-" * (margin + 1) + "+" + "-" * (len(header) - margin - 2)
    lines = [grid.title, header, rule]
    for i, row in enumerate(texts):
        if i in grid.row_breaks:
            lines.append(rule)
        lines.append(line(grid.row_labels[i], row))
    return "\n".join(lines)

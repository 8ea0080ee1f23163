# SPDX-License-Identifier: Apache-2.0
"""What all pictures are made of: coloured cells in rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "Grid"]


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

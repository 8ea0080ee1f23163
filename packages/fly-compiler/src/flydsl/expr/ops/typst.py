# SPDX-License-Identifier: Apache-2.0
"""Layouts, atoms and tilings as Typst drawings."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from .atom import CopyAtom, MmaAtom
from .copy import TiledCopy
from .drawing import described
from .mma import TiledMma

__all__ = ["print_typst", "typst"]

_CELL = 14
_PALETTE = ("f4cccc", "cfe2f3", "d9ead3", "fff2cc", "d9d2e9", "fce5cd", "d0e0e3", "ead1dc")


def _grid(rows: int, columns: int, cells: list[list[tuple[str, str]]]) -> str:
    lines = [f"#table(columns: {columns}, inset: 2pt, align: center + horizon,"]
    for r in range(rows):
        row = ", ".join(f'table.cell(fill: rgb("{fill}"))[{text}]' for text, fill in cells[r])
        lines.append(f"  {row},")
    return "\n".join([*lines, ")"])


def _matrix(layout: Any, color: Any) -> str:
    """Draw a layout of rank 1 or 2 as a table of indices."""
    from flydsl.layout import size

    modes = [size(layout[i]) for i in range(layout.rank)] if layout.rank > 1 else [1, size(layout)]
    if len(modes) != 2:
        raise ValueError(f"a layout of rank 1 or 2 can be drawn, not one of rank {len(modes)}")
    cells = []
    for r in range(modes[0]):
        row = []
        for c in range(modes[1]):
            index = layout((r, c)) if layout.rank > 1 else layout(c)
            row.append((str(index), _fill(index, color)))
        cells.append(row)
    return _grid(modes[0], modes[1], cells)


def _fill(index: Any, color: Any) -> str:
    if callable(color):
        return str(color(index)).lstrip("#")
    return _PALETTE[int(index) % len(_PALETTE)] if isinstance(index, int) else "ffffff"


def _owners(layout_tv: Any, extents: tuple[int, int], color: Any) -> str:
    """Draw who holds each element: thread and value of a (thread, value) layout."""
    from flydsl.layout import size

    rows, columns = extents
    held: dict[int, list[str]] = {}
    first: dict[int, int] = {}
    for thread in range(size(layout_tv[0])):
        for value in range(size(layout_tv[1])):
            at = layout_tv((thread, value))
            held.setdefault(at, []).append(f"T{thread} V{value}")
            first.setdefault(at, thread)
    cells = [
        [(held.get(r + rows * c, ["–"])[0], _fill(first.get(r + rows * c, 0), color)) for c in range(columns)]
        for r in range(rows)
    ]
    return _grid(rows, columns, cells)


def typst(value: Any, *, color: Any = None) -> str:
    """Return a Typst drawing of a layout, copy atom, MMA atom, tiled copy or tiled MMA; `color` maps index to rgb.

    Raises:
        ValueError: the layout is not static, or has more than two modes.
        TypeError: what cannot be drawn.
    """
    drawn = described(value)
    parts = [f'#set page(width: auto, height: auto, margin: {_CELL}pt)\n#set text(size: 6pt, font: "DejaVu Sans Mono")']
    if isinstance(value, (TiledMma, MmaAtom)):
        m, n, k = drawn.tile_size_mnk if isinstance(value, TiledMma) else drawn.shape_mnk
        for operand, extents in (("A", (m, k)), ("B", (n, k)), ("C", (m, n))):
            layout = drawn.tv_layout(operand) if isinstance(value, TiledMma) else drawn.layout_tv(operand)
            parts.append(f"= {operand} {extents[0]} x {extents[1]}\n" + _owners(layout, extents, color))
    elif isinstance(value, TiledCopy):
        from flydsl.layout.atoms.tiled_copy import tile_extents

        rows, columns = (1, *tile_extents(drawn.tile_mn))[-2:]
        for side in ("src", "dst"):
            layout = getattr(drawn, f"layout_{side}_tv_tiled")
            parts.append(f"= {side}\n" + _owners(layout, (rows, columns), color))
    elif isinstance(value, CopyAtom):
        for side in ("src", "dst"):
            parts.append(f"= {side}\n" + _matrix(getattr(drawn, f"layout_{side}_tv"), color))
    elif hasattr(drawn, "rank") and hasattr(drawn, "stride"):
        parts.append(_matrix(drawn, color))
    else:
        raise TypeError(f"print_typst draws layouts, atoms and tilings, not '{type(value).__name__}'")
    return "\n\n".join(parts) + "\n"


def print_typst(value: Any, *, color: Any = None, file: str | TextIO | None = None) -> None:
    """Print a Typst drawing of a layout, atom or tiling to stdout, an open file, or a path."""
    text = typst(value, color=color)
    if isinstance(file, str):
        with open(file, "w", encoding="utf-8") as target:
            target.write(text)
        return
    (file or sys.stdout).write(text)

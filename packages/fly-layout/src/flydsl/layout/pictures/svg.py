# SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG, and HTML around it."""

from __future__ import annotations

from xml.sax.saxutils import escape

from .grid import Grid
from .palette import color_of, ink_on, number_of

__all__ = ["to_fragment", "to_html", "to_svg"]

_FONT = 11  # pixels; a digit is about 0.6 of it wide
_LINE = 13
_MARGIN = 12
_GAP = 36
_WIDE = 1400  # grids that are wider together are put one below the other


def to_svg(grids: tuple[Grid, ...], caption: str) -> str:
    """One SVG document: the grids side by side (or, if wide, one below the other), the caption below."""
    body: list[str] = []
    sizes = [_measure(g) for g in grids]
    beside = sum(w + _GAP for w, _ in sizes) <= _WIDE
    x, y, right, bottom = _MARGIN, _MARGIN, 0, 0
    for grid, (width, height) in zip(grids, sizes):
        _draw(grid, x, y, body)
        right, bottom = max(right, x + width), max(bottom, y + height)
        if beside:
            x += width + _GAP
        else:
            y += height + _GAP // 2
    below = "" if caption in (g.title for g in grids) else caption
    total_width = max(right + _MARGIN, round(len(below) * _FONT * 0.62) + 2 * _MARGIN)
    if below:
        bottom += _LINE + 6
        body.append(f'<text class="t" x="{_MARGIN}" y="{bottom}">{escape(below)}</text>')
    total_height = bottom + _MARGIN
    used = sorted({number_of(c.color) for g in grids for row in g.rows for c in row if c and c.color is not None})
    style = (
        f"text{{font:{_FONT}px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}}"
        ".t{text-anchor:start}.l{fill:#555}.g{fill:none;stroke:#999;stroke-width:.5}.b{fill:none;stroke:#000;stroke-width:2}"
        + "".join([f".c{k}{{fill:{color_of(k)}}}.i{k}{{fill:{ink_on(color_of(k))}}}" for k in used])
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total_width}" height="{total_height}" '
        f'viewBox="0 0 {total_width} {total_height}" role="img">'
        f"<title>{escape(caption)}</title><style>{style}</style>"
        f'<rect width="{total_width}" height="{total_height}" fill="#fff"/>' + "".join(body) + "</svg>"
    )


def _cell_size(grid: Grid) -> tuple[int, int]:
    """All cells alike: wide enough for the longest text, at least square."""
    longest = max([len(t) for row in grid.rows for c in row if c is not None for t in c.lines] + [2])
    longest = max([longest, *map(len, grid.col_labels)])
    lines = max([len(c.lines) for row in grid.rows for c in row if c is not None] + [1])
    height = 9 + _LINE * lines
    return max(height, 8 + round(longest * _FONT * 0.62)), height


def _margin(grid: Grid) -> int:
    return 8 + round(max(map(len, (*grid.row_labels, grid.corner))) * _FONT * 0.62)


def _measure(grid: Grid) -> tuple[int, int]:
    """Width and height of a drawn grid with its labels and title."""
    w, h = _cell_size(grid)
    width = max(_margin(grid) + len(grid.col_labels) * w, round(len(grid.title) * _FONT * 0.62))
    return width, 2 * _LINE + 8 + len(grid.rows) * h


def _draw(grid: Grid, x0: int, y0: int, body: list[str]) -> None:
    w, h = _cell_size(grid)
    margin = _margin(grid)
    left, top = x0 + margin, y0 + 2 * _LINE + 8
    rows, cols = len(grid.rows), len(grid.col_labels)
    body.append(f'<text class="t" x="{x0}" y="{y0 + _FONT}">{escape(grid.title)}</text>')
    label_y = top - 5
    if grid.corner:
        body.append(f'<text class="l" x="{x0 + margin // 2}" y="{label_y}">{escape(grid.corner)}</text>')
    for j, label in enumerate(grid.col_labels):
        body.append(f'<text class="l" x="{left + j * w + w // 2}" y="{label_y}">{escape(label)}</text>')
    fills: dict[int, list[str]] = {}
    texts: list[str] = []
    for i, row in enumerate(grid.rows):
        y = top + i * h
        if grid.row_labels[i]:
            body.append(
                f'<text class="l" x="{x0 + margin // 2}" y="{y + h // 2 + 4}">{escape(grid.row_labels[i])}</text>'
            )
        for j, cell in enumerate(row):
            if cell is None:
                continue
            x = left + j * w
            ink = ""
            if cell.color is not None:
                fills.setdefault(number_of(cell.color), []).append(f"M{x} {y}h{w}v{h}h-{w}z")
                ink = f' class="i{number_of(cell.color)}"'
            first = y + (h - _LINE * len(cell.lines)) // 2 + _FONT
            for k, line in enumerate(cell.lines):
                texts.append(f'<text{ink} x="{x + w // 2}" y="{first + k * _LINE}">{escape(line)}</text>')
    for color, paths in sorted(fills.items()):
        body.append(f'<path class="c{color}" d="{"".join(paths)}"/>')
    right, bottom = left + cols * w, top + rows * h
    thin = "".join([f"M{left + j * w} {top}V{bottom}" for j in range(cols + 1)])
    thin += "".join([f"M{left} {top + i * h}H{right}" for i in range(rows + 1)])
    heavy = f"M{left} {top}H{right}V{bottom}H{left}z"
    heavy += "".join([f"M{left + j * w} {top}V{bottom}" for j in sorted(grid.col_breaks)])
    heavy += "".join([f"M{left} {top + i * h}H{right}" for i in sorted(grid.row_breaks)])
    body.append(f'<path class="g" d="{thin}"/><path class="b" d="{heavy}"/>')
    body.extend(texts)


def to_fragment(svg: str) -> str:
    """A ``figure`` element around an SVG document."""
    return f'<figure style="margin:0;overflow:auto">{svg}</figure>'


def to_html(svg: str, text: str, caption: str) -> str:
    """A standalone page: the picture, zoomable by the browser, and its text form for copying."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(caption)}</title>"
        "<style>body{font-family:system-ui,sans-serif;margin:1.5rem;color:#111;background:#fff}"
        "figure{margin:0;overflow:auto}pre{overflow:auto;font-size:.85rem}</style></head><body>"
        f"{to_fragment(svg)}<details><summary>as text</summary><pre>{escape(text)}</pre></details>"
        "</body></html>\n"
    )

# SPDX-License-Identifier: Apache-2.0
"""Views of a kernel's layouts while it is traced, drawn by `flydsl.layout.pictures`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from ..values.layout.host import to_host
from ..values.layout.objects import ComposedLayout, Layout
from ..values.tensor import Tensor
from .atom import CopyAtom, MmaAtom
from .copy import TiledCopy
from .mma import TiledMma

if TYPE_CHECKING:
    from flydsl.layout.pictures import Picture

    from ..values.accepted import LayoutLike

__all__ = ["described", "draw", "draw_tv", "picture", "picture_tv"]


def described(value: Any) -> Any:
    """Return a layout, atom or tiling of a trace as `flydsl.layout` has it, and anything else as it is.

    Raises:
        ValueError: the layout is dynamic.
    """
    if isinstance(value, (Layout, ComposedLayout)):
        if not value.is_static:
            raise ValueError(
                f"only static layouts can be drawn; {value} is known when the kernel runs. Draw one whose shape and "
                "stride are Python ints, or print this one with print() or fx.printf"
            )
        return to_host(value.parsed)
    if isinstance(value, (CopyAtom, MmaAtom, TiledCopy, TiledMma)):
        return value.described
    return value


def picture(value: Any, *, max_rows: int | None = None, max_cols: int | None = None) -> Picture:
    """Return the picture of a static layout, atom or tiling, of a trace or of `flydsl.layout`.

    A layout shows the index of each coordinate, mode 0 downwards. A tiling or MMA atom shows which thread (`T`) holds
    each element of its tile as which value (`V`): source and destination of a copy; A, B and C of an MMA. A copy atom
    shows the (thread, value) layouts of its sides. The result has `text()`, `svg()`, `html()` and `tikz()`, and a
    notebook shows it.

    Args:
        value: a layout, composed (swizzled) layout, tensor (its layout), atom, tiled copy or tiled MMA.
        max_rows: how much of a large layout to draw, from the first row; for layouts only.
        max_cols: the same for columns.

    Raises:
        TypeError: what has no picture.
        ValueError: a dynamic layout, or more cells than a picture holds (16384).
    """
    import flydsl.layout as host
    from flydsl.layout import atoms, pictures

    drawn = described(value.layout if isinstance(value, Tensor) else value)
    if isinstance(drawn, (host.Layout, host.ComposedLayout, host.CoordTensor)):
        return pictures.show(drawn, max_rows=max_rows, max_cols=max_cols)
    if isinstance(drawn, atoms.TiledCopy):
        parts = [pictures.ownership(drawn, side=side) for side in ("src", "dst")]
    elif isinstance(drawn, (atoms.TiledMma, atoms.MmaAtom, atoms.MatrixInstruction)):
        parts = [pictures.ownership(drawn, operand=operand) for operand in "ABC"]
    elif isinstance(drawn, atoms.CopyAtom):
        sides = {"src": drawn.layout_src_tv, "dst": drawn.layout_dst_tv}
        grids = [replace(pictures.show(layout).grids[0], title=f"{side}, {layout}") for side, layout in sides.items()]
        return pictures.Picture(tuple(grids), str(drawn))
    else:
        hint = "; compose it with a layout first" if type(drawn).__name__.endswith("Swizzle") else ""
        raise TypeError(f"a picture is of a layout, tensor, atom or tiling, not of '{type(value).__name__}'{hint}")
    return pictures.Picture(tuple(grid for part in parts for grid in part.grids), str(drawn))


def picture_tv(layout_tv: LayoutLike, shape: Any) -> Picture:
    """Return the picture of a (thread, value) layout: who holds each element of a tile, as `picture` has it of tilings.

    Args:
        layout_tv: a static layout of two modes, to the column-major index in the tile.
        shape: extents of the tile, rows first.

    Raises:
        ValueError: a dynamic layout, not two modes, or an index outside of the tile.
    """
    from flydsl.layout import pictures

    return pictures.ownership(described(layout_tv), shape)


def draw(
    value: Any,
    *,
    file: str | os.PathLike[str] | TextIO | None = None,
    max_rows: int | None = None,
    max_cols: int | None = None,
) -> None:
    """Show the `picture` of a static layout, atom or tiling: displayed in a notebook, else printed as text.

    In a kernel this happens while it is traced, so not in calls that find it compiled.

    Args:
        value: a layout, composed (swizzled) layout, tensor (its layout), atom, tiled copy or tiled MMA.
        file: write instead: a path that ends in .svg, .html, .tex or .txt, or an open file, which gets SVG.
        max_rows: how much of a large layout to draw, from the first row; for layouts only.
        max_cols: the same for columns.

    Raises:
        TypeError: what has no picture.
        ValueError: a dynamic layout, more cells than a picture holds (16384), or another suffix.
    """
    _show(picture(value, max_rows=max_rows, max_cols=max_cols), file)


def draw_tv(layout_tv: LayoutLike, shape: Any, *, file: str | os.PathLike[str] | TextIO | None = None) -> None:
    """Show the `picture_tv` of a (thread, value) layout; where it goes is as for `draw`.

    Args:
        layout_tv: a static layout of two modes, to the column-major index in the tile.
        shape: extents of the tile, rows first.
        file: as for `draw`.

    Raises:
        ValueError: a dynamic layout, not two modes, an index outside of the tile, or another suffix.
    """
    _show(picture_tv(layout_tv, shape), file)


def _show(drawn: Picture, file: str | os.PathLike[str] | TextIO | None) -> None:
    if isinstance(file, (str, os.PathLike)):
        drawn.write(os.fspath(file))
    elif file is not None:
        file.write(drawn.svg())
    elif _in_notebook():
        import_module("IPython.display").display(drawn)
    else:
        print(drawn.text())


def _in_notebook() -> bool:
    """Tell whether this is a cell of a notebook: IPython in a terminal has no kernel, and shows no pictures."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None

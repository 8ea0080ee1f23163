# SPDX-License-Identifier: Apache-2.0
"""Who owns what: the thread and value of each element of a tile."""

from __future__ import annotations

from ..atoms.instructions import MatrixInstruction
from ..atoms.mma_atom import MmaAtom
from ..atoms.tiled_copy import TiledCopy, tile_extents
from ..atoms.tiled_mma import TiledMma
from ..errors import LayoutError, fail
from ..layout import Layout
from ..printing import text_of
from .grid import Cell, Grid
from .layouts import MAX_CELLS, check
from .picture import Picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import Shape

__all__ = ["ownership"]


def ownership(what: Any, shape: Shape | None = None, *, operand: str = "C", side: str = "src") -> Picture:
    """A tile in which each cell names the threads (``T``) and value (``V``) that hold it; colours go by thread.

    Args:
        what: a thread-value layout, a `TiledCopy`, `TiledMma`, `MmaAtom` or `MatrixInstruction`.
        shape: extents of the tile, rows first; needed for a bare layout.
        operand: which operand of an MMA.
        side: ``"src"`` or ``"dst"`` of a tiled copy.

    Raises:
        LayoutError: the shape is missing, or an element lies outside it.
    """
    tv, extents, title = _parts(what, shape, operand, side)
    check(tv)
    rows, cols = (1, extents[0]) if len(extents) == 1 else (extents[0], _rest(extents))
    if rows * cols > MAX_CELLS:
        raise fail("ownership", f"{rows} x {cols} cells are more than {MAX_CELLS}", tv)
    owners: dict[int, list[tuple[int, int]]] = {}
    for v in range(tv[1].size()):
        for t in range(tv[0].size()):
            owners.setdefault(tv(t, v), []).append((t, v))
    outside = [x for x in owners if not 0 <= x < rows * cols]
    if outside:
        raise fail("ownership", f"index {outside[0]} lies outside the tile of {rows} x {cols}", tv)
    cells = tuple(tuple(_cell(owners.get(i + j * rows)) for j in range(cols)) for i in range(rows))
    labels = tuple(map(str, range(rows))) if rows > 1 else ("",)
    grid = Grid(title, cells, labels, tuple(map(str, range(cols))))
    caption = f"{title}: {tv[0].size()} threads x {tv[1].size()} values, {text_of(tv)}"
    return Picture((grid,), caption)


def _rest(extents: tuple[int, ...]) -> int:
    n = 1
    for e in extents[1:]:
        n *= e
    return n


def _cell(held: list[tuple[int, int]] | None) -> Cell | None:
    if not held:
        return None
    thread, value = held[0]
    more = f"+{len(held) - 1}" if len(held) > 1 else ""
    return Cell((f"T{thread}{more}", f"V{value}"), thread)


def _parts(what: Any, shape: Any, operand: str, side: str) -> tuple[Layout, tuple[int, ...], str]:
    if isinstance(what, TiledCopy):
        if side not in ("src", "dst"):
            raise LayoutError(f"ownership(side={side!r}): the sides are 'src' and 'dst'")
        tv = what.layout_src_tv_tiled if side == "src" else what.layout_dst_tv_tiled
        return tv, tile_extents(what.tile_mn), f"{what.atom.name}, {side}"
    if isinstance(what, TiledMma):
        m, n, k = what.tile_size_mnk
        extents = {"A": (m, k), "B": (n, k)}.get(operand.upper(), (m, n))
        return what.tv_layout(operand), extents, f"{operand.upper()} of {what.atom.name}, {what.atom_layout}"
    if isinstance(what, MatrixInstruction):
        rows, cols = what.operand_shape(operand)
        return what.layout_tv(operand), (rows, cols * what.blocks), f"{operand.upper()} of {what}"
    if isinstance(what, MmaAtom):
        m, n, k = what.shape_mnk
        extents = {"A": (m, k), "B": (n, k)}.get(operand.upper(), (m, n))
        return what.layout_tv(operand), extents, f"{operand.upper()} of {what.name}"
    if isinstance(what, Layout):
        if what.rank != 2:
            raise fail("ownership", "a thread-value layout has two modes, threads and values", what)
        if shape is None:
            raise fail("ownership", "give the shape of the tile", what)
        return what, shape if isinstance(shape, tuple) else (shape,), text_of(what)
    raise LayoutError(f"ownership: a {type(what).__name__} has no thread-value layout")

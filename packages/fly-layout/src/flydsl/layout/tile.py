# SPDX-License-Identifier: Apache-2.0
"""Tiles: one tiler per mode."""

from __future__ import annotations

from .errors import LayoutTypeError
from .layout import Layout
from .printing import text_of
from .symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .types import Tiler

__all__ = ["Tile", "make_tile", "tile_modes"]


class Tile:
    """``[m0|m1|...]``: mode i of a layout is divided by (or composed with) ``mi``.

    A mode is an integer N (for ``N:1``), None (leave the mode alone, ``*`` in text), a `Layout` or a nested tuple.
    A leaf tile (an integer, None or Layout instead of a tuple) is the tiler of a whole layout.
    """

    __slots__ = ("_modes",)
    _modes: Any

    def __init__(self, modes: Any) -> None:
        self._modes = _checked(modes)

    @property
    def modes(self) -> Any:
        """The tuple of modes, or the single tiler of a leaf tile."""
        return self._modes

    @property
    def rank(self) -> int:
        """Number of modes; 1 for a leaf tile."""
        return len(self._modes) if type(self._modes) is tuple else 1

    def unpack(self) -> Any:
        """The modes, with None for ``*``."""
        return self._modes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tile) and self._modes == other._modes

    def __hash__(self) -> int:
        return hash(("Tile", self._modes))

    def __reduce__(self) -> tuple[type[Tile], tuple[Any]]:
        return (Tile, (self._modes,))

    def __repr__(self) -> str:
        return f"Tile({self._modes!r})"

    def _text(self, names: bool) -> str:
        return _mode_text(self._modes, names)

    def __str__(self) -> str:
        return self._text(True)


def make_tile(*modes: Any) -> Tile:
    """A tile with these modes; each an int, None, `Layout` or nested tuple."""
    return Tile(modes)


def _checked(mode: Any) -> Any:
    if isinstance(mode, Tile):
        return mode._modes
    if type(mode) is tuple:
        if not mode:
            raise LayoutTypeError("Tile(()): a tile has at least one mode")
        return tuple([_checked(m) for m in mode])
    if mode is None or isinstance(mode, Layout):
        return mode
    if isinstance(mode, SymInt):
        return mode
    if hasattr(type(mode), "__index__"):
        n = mode.__index__()
        if n < 1:
            raise LayoutTypeError(f"Tile: extent {n} of a mode is not positive")
        return n
    raise LayoutTypeError(f"Tile: {mode!r} is no mode; write an integer, None, a Layout or a tuple of those")


def _mode_text(mode: Any, names: bool) -> str:
    if type(mode) is tuple:
        return f"[{'|'.join([_mode_text(m, names) for m in mode])}]"
    return text_of(mode, names)


def tile_modes(tiler: Tiler) -> Any:
    """The bare modes of a `Tile`, tuple or leaf tiler."""
    return tiler._modes if isinstance(tiler, Tile) else tiler

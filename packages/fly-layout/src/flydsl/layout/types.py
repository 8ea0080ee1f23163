# SPDX-License-Identifier: Apache-2.0
"""What signatures of the layout algebra say, for type checkers: ``from flydsl.layout.types import Shape``.

Parameters are annotated with these. A result that is an integer where the argument was one, and a tuple where it was a
tuple, is annotated ``Any``: which of both it is stands in no type, and a union would have every caller ask again.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from .basis import Basis
from .composed import ComposedLayout, CoordTensor
from .layout import Layout
from .symbolic import SymInt
from .tile import Tile

__all__ = ["AnyLayout", "Coord", "IntTuple", "Nested", "Shape", "Stride", "Tiler"]

Shape: TypeAlias = Union[int, SymInt, "tuple[Shape, ...]"]
"""Extents: an integer, or a tuple of shapes."""

Stride: TypeAlias = Union[int, SymInt, Basis, "tuple[Stride, ...]"]
"""Strides, nested like their shape."""

Coord: TypeAlias = Union[int, SymInt, Basis, None, "tuple[Coord, ...]"]
"""A coordinate; None is all of a mode."""

IntTuple: TypeAlias = Coord
"""Any of the above."""

AnyLayout: TypeAlias = Layout | ComposedLayout | CoordTensor
"""What has the domain of a layout."""

Tiler: TypeAlias = Union[int, SymInt, None, Layout, ComposedLayout, Tile, "tuple[Tiler, ...]"]
"""What divides a layout or composes with it, by mode where it is a tuple or a `Tile`."""

Nested: TypeAlias = IntTuple | AnyLayout
"""What has modes."""

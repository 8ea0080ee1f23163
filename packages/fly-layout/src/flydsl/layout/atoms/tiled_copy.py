# SPDX-License-Identifier: Apache-2.0
"""Tiled copies: a copy atom spread over threads and values of a tile."""

from __future__ import annotations

from dataclasses import dataclass

from .. import above
from ..algebra.coalesce import coalesce
from ..algebra.composition import composition
from ..algebra.divide import join, zipped_divide
from ..algebra.inverse import right_inverse
from ..algebra.product import logical_product, raked_product
from ..algebra.recast import upcast
from ..algebra.sizes import size
from ..composed import CoordTensor
from ..errors import LayoutError, fail
from ..int_tuple import product
from ..layout import Layout, LayoutLike
from ..modes import slice_
from ..tile import Tile, tile_modes
from ..tuple_arith import product_each
from .copy_atom import CopyAtom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout, Coord, Tiler

__all__ = [
    "ThrCopy",
    "TiledCopy",
    "make_layout_tv",
    "make_tiled_copy",
    "make_tiled_copy_tv",
]


def as_tensor(x: Any) -> CoordTensor:
    """A coordinate tensor, or a layout as one that starts at index 0."""
    if isinstance(x, CoordTensor):
        return x
    if isinstance(x, LayoutLike):
        return CoordTensor(0, x)
    raise LayoutError(f"expected a layout or coordinate tensor, not a {type(x).__name__}")


def tile_extents(tile: Tiler) -> tuple[int, ...]:
    """Number of elements of each mode of a tile."""
    modes = tile_modes(tile)
    modes = modes if type(modes) is tuple else (modes,)
    if any(m is None for m in modes):
        raise fail("make_tiled_copy", "a tile mode is '*', so the tile has no extent", Tile(modes))
    return tuple([size(m) if not isinstance(m, tuple) else product(tile_extents(m)) for m in modes])


@dataclass(frozen=True)
class TiledCopy:
    """A copy of tiles by many threads.

    Attributes:
        atom: the copy instruction.
        layout_tv_tiled: (thread, value) to the column-major index in the tile.
        tile_mn: extents (or tilers) of the tile.
    """

    atom: CopyAtom
    layout_tv_tiled: Layout
    tile_mn: Tile

    def __post_init__(self) -> None:
        tv = self.layout_tv_tiled
        if not isinstance(tv, Layout) or not tv.is_static:
            raise fail("make_tiled_copy", "the thread-value layout is not static", tv)
        if tv.rank != 2:
            raise fail("make_tiled_copy", "the thread-value layout has two modes, threads and values", tv)
        ref = self.atom.layout_ref_tv
        if tv[0].size() % ref[0].size() or tv[1].size() % ref[1].size():
            raise fail("make_tiled_copy", f"its threads and values are no multiple of the atom's {ref}", tv)

    @property
    def threads(self) -> int:
        """Threads that take part."""
        return int(self.layout_tv_tiled[0].size())

    @property
    def layout_src_tv_tiled(self) -> Layout:
        """(thread, value) to the index in the tile, as the atom reads."""
        return self._tv(self.atom.layout_src_tv)

    @property
    def layout_dst_tv_tiled(self) -> Layout:
        """(thread, value) to the index in the tile, as the atom writes."""
        return self._tv(self.atom.layout_dst_tv)

    def _tv(self, side: Layout) -> Layout:
        """(thread, (atom value, rest value)) to the index in the tile."""
        ref = self.atom.layout_ref_tv
        parts = zipped_divide(self.layout_tv_tiled, (ref[0].size(), ref[1].size()))
        atom = composition(parts[0], composition(right_inverse(ref), side))
        zipped = join([join([atom[0], parts[1][0]]), join([atom[1], parts[1][1]])])
        tv: Layout = coalesce(zipped, (1, (1, 1)))
        return tv

    def view_src(self, tensor: AnyLayout) -> CoordTensor:
        """The tensor as ``(thread, (atom values, rest values), rest modes...)``, as read."""
        return self._view(tensor, self.layout_src_tv_tiled)

    def view_dst(self, tensor: AnyLayout) -> CoordTensor:
        """The same, as written."""
        return self._view(tensor, self.layout_dst_tv_tiled)

    def _view(self, tensor: Any, tv: Layout) -> CoordTensor:
        def viewed(layout: Layout) -> Layout:
            divided = zipped_divide(layout, self.tile_mn)
            by_thread = composition(divided[0], tv)
            return join([by_thread[0], by_thread[1], *divided[1]])

        return as_tensor(tensor).lift(viewed)

    def get_slice(self, thread: Coord) -> ThrCopy:
        """The part of one thread."""
        return ThrCopy(self, thread)

    thr_slice = get_slice

    def retile(self, fragment: AnyLayout) -> Any:
        """A register fragment re-shaped to the value structure of this copy: ``((atom values, rest), ...)``."""

        def retiled(layout: Layout) -> Layout:
            first = layout[0]
            v = first.size()
            extents = tile_extents(self.tile_mn)
            inverse = composition(right_inverse(self.layout_tv_tiled), Layout(extents))
            fragments = upcast(inverse, self.threads * v)
            values = logical_product(Layout(v, 1), right_inverse(fragments))
            value_tile = zipped_divide(values, self.atom.layout_ref_tv[1].size())
            counts = product_each(fragments.shape)
            counts = counts if type(counts) is tuple else (counts,)
            divided = zipped_divide(layout, (v, *counts))
            tiled = composition(divided[0], value_tile)
            return join([tiled, *[divided[1][i] for i in range(1, divided[1].rank)]])

        if isinstance(fragment, LayoutLike):
            return fragment.lift(retiled)
        raise LayoutError(f"retile: expected a layout, not a {type(fragment).__name__}")

    def invert(self) -> Layout:
        """Index in the tile to ``thread + threads * value``; the inverse of `layout_tv_tiled`.

        Raises:
            LayoutError: an element of the tile has no owner, or several.
        """
        return invert_tv(self.layout_tv_tiled, product(tile_extents(self.tile_mn)))

    def owner(self, *coord: int) -> tuple[int, int]:
        """Thread and value that hold the tile's element at a coordinate."""
        index = Layout(tile_extents(self.tile_mn))(*coord)
        value, thread = divmod(self.invert()(index), self.threads)
        return thread, value

    def __str__(self) -> str:
        return f"tiled_copy<{self.atom}, {self.layout_tv_tiled}, {self.tile_mn}>"

    def _repr_svg_(self) -> str:
        svg: str = above.pictures.ownership(self).svg()
        return svg


def invert_tv(tv: Layout, elements: int) -> Layout:
    """The inverse of a thread-value layout onto ``[0, elements)``.

    Raises:
        LayoutError: it is no bijection onto that range.
    """
    inverse: Layout = right_inverse(tv)
    if inverse.size() != elements or tv.size() != elements:
        raise fail("invert", f"the layout is no bijection onto the tile's {elements} elements", tv)
    return inverse


@dataclass(frozen=True)
class ThrCopy:
    """What one thread of a tiled copy moves."""

    tiled: TiledCopy
    thr_idx: Any

    def partition_S(self, tensor: AnyLayout) -> CoordTensor:
        """The thread's part of a source: ``((atom values, rest values), rest0, rest1, ...)`` with its base."""
        return self._partition(self.tiled.view_src(tensor))

    def partition_D(self, tensor: AnyLayout) -> CoordTensor:
        """The thread's part of a destination."""
        return self._partition(self.tiled.view_dst(tensor))

    def _partition(self, view: CoordTensor) -> CoordTensor:
        part: CoordTensor = slice_(view, (self.thr_idx, *[None] * (view.rank - 1)))
        return part

    def retile(self, fragment: AnyLayout) -> Any:
        """See `TiledCopy.retile`."""
        return self.tiled.retile(fragment)


def make_tiled_copy(atom: CopyAtom, layout_tv: Layout, tile: Tiler) -> TiledCopy:
    """A tiled copy from its thread-value layout and its tile (a tuple or `Tile`)."""
    return TiledCopy(atom, layout_tv, tile if isinstance(tile, Tile) else Tile(tile))


def make_layout_tv(thr_layout: Layout, val_layout: Layout) -> tuple[tuple[Any, ...], Layout]:
    """Tile extents and thread-value layout of ``thr_layout`` threads that hold ``val_layout`` values each.

    Law: the tile is the raked product of the two, and the layout its inverse by (thread, value).

    Raises:
        LayoutError: a layout is not static, or the two do not fill the tile exactly.
    """
    for layout in (thr_layout, val_layout):
        if not isinstance(layout, Layout) or not layout.is_static:
            raise fail("make_layout_tv", "both layouts have to be static", thr_layout, val_layout)
    raked = raked_product(thr_layout, val_layout)
    tv = composition(right_inverse(raked), Layout((thr_layout.size(), val_layout.size())))
    tiler = product_each(raked.shape)
    return (tiler if type(tiler) is tuple else (tiler,)), tv


def make_tiled_copy_tv(atom: CopyAtom, thr_layout: Layout, val_layout: Layout) -> TiledCopy:
    """`make_tiled_copy` on `make_layout_tv`."""
    tiler, tv = make_layout_tv(thr_layout, val_layout)
    return make_tiled_copy(atom, tv, tiler)

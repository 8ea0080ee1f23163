# SPDX-License-Identifier: Apache-2.0
"""Coordinates to indices and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flydsl.trace.build import infer

from .. import above
from .construct import as_int_tuple
from .host import from_host
from .modes import _coordinate
from .objects import ComposedLayout, IntTuple, Layout
from .operands import layout_operand

if TYPE_CHECKING:
    from ..accepted import IntTupleLike, TilerLike

__all__ = [
    "crd2idx",
    "get_1d_coord",
    "get_flat_coord",
    "idx2crd",
]


def crd2idx(coord: IntTupleLike, layout: TilerLike) -> IntTuple:
    """Return the index of a coordinate in a layout, composed layout or swizzle; an int is a linear coordinate."""
    function = from_host(layout)
    if isinstance(function, (Layout, ComposedLayout)):
        at = _coordinate(function, coord, "crd2idx")
    else:
        at = as_int_tuple(coord).value
    return IntTuple(infer("fly.crd2idx", (at, function.value)))


def idx2crd(index: IntTupleLike, layout: TilerLike) -> IntTuple:
    """Return the natural coordinate of an index in a plain layout."""
    return IntTuple(infer("fly.idx2crd", (as_int_tuple(index).value, layout_operand(layout, "idx2crd"))))


def get_flat_coord(index: IntTupleLike, layout: TilerLike) -> IntTuple:
    """Return one linear coordinate per top-level mode."""
    return IntTuple(infer("fly.get_flat_coord", (as_int_tuple(index).value, layout_operand(layout, "get_flat_coord"))))


def get_1d_coord(index: IntTupleLike, layout: TilerLike) -> IntTuple:
    """Return the linear coordinate of an index."""
    return IntTuple(infer("fly.get_1d_coord", (as_int_tuple(index).value, layout_operand(layout, "get_1d_coord"))))


above.attach(crd2idx=crd2idx, idx2crd=idx2crd, get_flat_coord=get_flat_coord, get_1d_coord=get_1d_coord)

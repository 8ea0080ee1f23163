# SPDX-License-Identifier: Apache-2.0
"""The order in which workgroups go over the tiles of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..values.numeric.types import Int32, Uint32

__all__ = ["TileWalk"]


@dataclass(frozen=True)
class TileWalk:
    """A map from the linear index of a workgroup to the tile (row, column) that it computes; every tile comes once.

    Without options tiles go along mode `along` first. With `group`, as many neighbouring tiles of mode `along` are
    walked together, across the other mode, before the next ones: what runs at the same time then shares tiles of both
    operands. With `xcds`, which the hardware deals workgroups out to in turn, each of these dies gets a contiguous run
    of that order, so that its cache holds what neighbours share.

        row, column = fx.TileWalk((row_tiles, column_tiles), group=4, along=1, xcds=8)(fx.block_idx.x)

    A persistent kernel takes more than one tile a workgroup: `for turn in range(fx.block_idx.x, walk.size,
    fx.grid_dim.x)`, with a grid that is a multiple of `xcds`.

    Attributes:
        shape: tiles along M and along N. Ints, or Int32 of a trace; no extent has to be a multiple of anything.
        group: tiles of mode `along` that are walked together; 0 is all of them.
        along: 0 or 1.
        xcds: dies of the device; 1 leaves the order as it is.

    Raises:
        ValueError: an option out of its range, or an extent below 1.
    """

    shape: tuple[Any, Any]
    group: int = 0
    along: int = 0
    xcds: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.shape, tuple) or len(self.shape) != 2:
            raise ValueError(f"TileWalk: the shape is (tiles along M, tiles along N), got {self.shape!r}")
        for name, value, least in (("group", self.group, 0), ("xcds", self.xcds, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"TileWalk: {name} is an int of {least} or more, got {value!r}")
        if self.along not in (0, 1):
            raise ValueError(f"TileWalk: along is 0 (M) or 1 (N), got {self.along!r}")
        if any(isinstance(one, int) and one < 1 for one in self.shape):
            raise ValueError(f"TileWalk: there are 1 or more tiles along each mode, got {self.shape!r}")

    @property
    def size(self) -> Any:
        """All tiles."""
        return self.shape[0] * self.shape[1]

    def __call__(self, index: Any) -> tuple[Any, Any]:
        """The tile (row, column) of workgroup `index`, from 0 to `size` - 1: ints of an int, else Int32.

        Each of `group` and `xcds` costs a few integer divisions, which extents known at compile time make cheap.
        """
        if isinstance(index, int) and all(isinstance(one, int) for one in self.shape):
            lead, other = self._tile(index, self.shape, min)
        else:
            from .math import min as least  # which needs a trace

            extents = tuple(one if isinstance(one, int) else Uint32(one) for one in self.shape)
            lead, other = (Int32(one) for one in self._tile(Uint32(index), extents, least))
        return (lead, other) if self.along == 0 else (other, lead)

    def layout(self) -> Any:
        """The walk as a layout of `flydsl.layout`, from the workgroup to the column-major index of its tile.

        Raises:
            ValueError: no layout is this order: an extent is known at run time only, or a group or a run is cut off.
        """
        import flydsl.layout as host

        if not all(isinstance(one, int) for one in self.shape):
            raise ValueError(f"TileWalk.layout needs extents that are known, got {self.shape!r}")
        rows, lead, other = self.shape[0], self.shape[self.along], self.shape[1 - self.along]
        group = self.group or lead
        if lead % group or self.size % self.xcds:
            raise ValueError(
                f"TileWalk.layout: {self.shape} tiles in groups of {group} along mode {self.along} and runs for "
                f"{self.xcds} dies: a layout is of whole groups and equal runs; call the walk instead"
            )
        step, across = (1, rows) if self.along == 0 else (rows, 1)
        order = host.Layout((group, other, lead // group), (step, across, group * step))
        run = self.size // self.xcds
        return host.coalesce(host.composition(order, host.Layout((self.xcds, run), (run, 1))))

    def _tile(self, index: Any, shape: tuple[Any, ...], least: Any) -> tuple[Any, Any]:
        """(tile of mode `along`, tile of the other mode) of one unsigned index."""
        lead, other = shape[self.along], shape[1 - self.along]
        place = index
        if self.xcds > 1:  # the first `extra` dies get one tile more than the others
            share, extra = lead * other // self.xcds, lead * other % self.xcds
            xcd = index % self.xcds
            place = xcd * share + least(xcd, extra) + index // self.xcds
        if self.group == 0:
            return place % lead, place // lead
        whole = other * self.group
        first = place // whole * self.group
        width, inside = least(lead - first, self.group), place - first * other
        return first + inside % width, inside // width

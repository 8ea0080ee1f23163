# SPDX-License-Identifier: Apache-2.0
"""Shared pieces of GEMMs: the swizzle, and the order of workgroups on a GPU of several XCDs."""

from __future__ import annotations

from typing import Any

from ..language import fx
from ..utils import cdiv

__all__ = ["group_bx_by", "swizzle_chunk", "swizzle_xor16", "xcd_remap_bx_by"]

NUM_XCDS = 8


def swizzle_chunk(row: Any, chunk: Any, shift: int, mask: int) -> Any:
    """Where chunk `chunk` (16 bytes) of row `row` lies in its row in LDS; see `TilePlan.swizzle`."""
    return chunk ^ ((row >> shift) & mask)


def swizzle_xor16(row: Any, col: Any, k_blocks16: int) -> Any:
    """Column in bytes where (row, col) lies in LDS: `col xor 16 * (row mod k_blocks16)`; a power of two of blocks."""
    if k_blocks16 < 1 or k_blocks16 & (k_blocks16 - 1):
        raise ValueError(f"swizzle_xor16: k_blocks16 is a power of two, got {k_blocks16}")
    return swizzle_chunk(row * 16, col, 0, (k_blocks16 - 1) * 16)


def xcd_remap_bx_by(
    bx: Any,
    by: Any,
    c_m: Any,
    *,
    tile_m: int,
    tile_n: int,
    N: int,
    xcd_swizzle: int,
    num_xcds: int = NUM_XCDS,
) -> tuple[Any, Any]:
    """The tile (row, column) that workgroup (bx, by) of a grid (ceil(c_m / tile_m), ceil(N / tile_n)) computes.

    The hardware deals workgroups out to XCDs in turn. Here each XCD gets a contiguous run of tiles instead, and inside
    a run `xcd_swizzle` column tiles are walked together, row by row, so that its L2 holds their part of B. A
    permutation for every size; `xcd_swizzle` of 0 is the identity.
    """
    if xcd_swizzle == 0:
        return bx, by
    row_tiles, column_tiles = cdiv(c_m, tile_m), cdiv(N, tile_n)
    linear = bx + by * row_tiles
    total = row_tiles * column_tiles
    share, extra = total // num_xcds, total % num_xcds
    xcd = linear % num_xcds
    place = xcd * share + fx.min(xcd, extra) + linear // num_xcds
    group = place // (row_tiles * xcd_swizzle)
    first = group * xcd_swizzle
    width = fx.min(column_tiles - first, xcd_swizzle)
    inside = place - first * row_tiles
    return inside // width, first + inside % width


def group_bx_by(bx: Any, by: Any, row_tiles: Any, column_tiles: int, *, group_m: int) -> tuple[Any, Any]:
    """The tile (row, column) of workgroup (bx, by) when `group_m` row tiles are walked together, column by column.

    A permutation for every size; `group_m` of 0 is the identity.
    """
    if group_m == 0:
        return bx, by
    linear = bx + by * row_tiles
    group = linear // (group_m * column_tiles)
    first = group * group_m
    height = fx.min(row_tiles - first, group_m)
    inside = linear - first * column_tiles
    return first + inside % height, inside // height

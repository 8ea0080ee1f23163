# SPDX-License-Identifier: Apache-2.0
"""Shared pieces of GEMMs: layouts of preshuffled operands, the swizzle, and the order of workgroups on several XCDs."""

from __future__ import annotations

from typing import Any

from ..arch import NUM_XCDS
from ..language import fx
from ..utils import cdiv
from .b_packs import (
    load_b_pack_k32,
    load_b_raw_w4a16,
    load_b_raw_w4a16_groupwise,
    unpack_b_w4a16,
    unpack_b_w4a16_groupwise,
)
from .lds_stores import lds_store_4b_xor16, lds_store_8b_xor16, lds_store_16b_xor16
from .lds_swizzle import swizzle_chunk, swizzle_xor16

__all__ = [
    "lds_store_4b_xor16",
    "lds_store_8b_xor16",
    "lds_store_16b_xor16",
    "load_b_pack_k32",
    "load_b_raw_w4a16",
    "load_b_raw_w4a16_groupwise",
    "make_preshuffle_b_layout",
    "make_preshuffle_scale_layout",
    "swizzle_chunk",
    "swizzle_xor16",
    "unpack_b_w4a16",
    "unpack_b_w4a16_groupwise",
    "xcd_remap_bx_by",
]


def make_preshuffle_b_layout(
    arith: object,
    *,
    c_n: fx.Numeric | int,
    c_k: fx.Numeric | int,
    kpack_bytes: int = 16,
    elem_bytes: int = 1,
    k_major: bool = False,
) -> fx.Layout:
    """The layout of B (N, K) in the order of `common.shuffle`, in elements.

    Coordinate (n // 16, k // (4 P), k // P mod 4, n mod 16, k mod P) of shape (N / 16, K / (4 P), 4, 16, P), where a
    pack has P = kpack_bytes / elem_bytes elements.

    Args:
        arith: ignored; the layout is made of `fx.make_layout`.
        c_n: N, a multiple of 16; a Python int, or an integer of the language.
        c_k: K, a multiple of 4 P; likewise.
        kpack_bytes: bytes of a pack.
        elem_bytes: bytes of an element.
        k_major: blocks of 4 P along K are outermost instead of blocks of 16 along N.

    Returns a layout of `flydsl.layout` outside a trace, of the language inside.

    Raises:
        ValueError: a pack that no whole number of elements fills, or an N or K that no whole number of blocks fills.
    """
    pack = _quotient("make_preshuffle_b_layout", "kpack_bytes", kpack_bytes, elem_bytes)
    rows = _quotient("make_preshuffle_b_layout", "c_n", c_n, 16)
    blocks = _quotient("make_preshuffle_b_layout", "c_k", c_k, 4 * pack)
    block = 64 * pack
    outer = (block, rows * block) if k_major else (blocks * block, block)
    return fx.make_layout((rows, blocks, 4, 16, pack), (*outer, 16 * pack, pack, 1))


def make_preshuffle_scale_layout(
    arith: object,
    *,
    c_mn: fx.Numeric | int,
    c_k: fx.Numeric | int,
    mn_pack: int = 2,
    k_pack: int = 2,
    elem_bytes: int = 4,
    scale_block_size: int = 32,
) -> fx.Layout:
    """The layout of shuffled E8M0 scales, in units of `elem_bytes` bytes.

    Shape (MN / 16 / mn_pack, K / scale_block_size / 4 / k_pack, 4, 16), in that order in memory. A coordinate names the
    mn_pack * k_pack scales, one byte each, that a lane holds. Scale s of row r has

        coordinate    (r // (16 mn_pack), s // (4 k_pack), s mod 4, r mod 16)
        byte          r // 16 mod mn_pack + mn_pack * (s // 4 mod k_pack)

    Args:
        arith: ignored; the layout is made of `fx.make_layout`.
        c_mn: rows; a Python int, or an integer of the language.
        c_k: K in elements of the operand, likewise.
        mn_pack: row blocks of a lane.
        k_pack: blocks along K of a lane.
        elem_bytes: bytes that an index of the layout counts.
        scale_block_size: elements along K that share a scale.

    Returns a layout of `flydsl.layout` outside a trace, of the language inside.

    Raises:
        ValueError: a lane's scales are no whole number of elements, or blocks do not divide c_mn or c_k.
    """
    what = "make_preshuffle_scale_layout"
    pack = _quotient(what, "mn_pack * k_pack", mn_pack * k_pack, elem_bytes)
    rows = _quotient(what, "c_mn", c_mn, 16 * mn_pack)
    blocks = _quotient(what, "c_k", c_k, scale_block_size * 4 * k_pack)
    return fx.make_layout((rows, blocks, 4, 16), (blocks * (64 * pack), 64 * pack, 16 * pack, pack))


def _quotient(what: str, name: str, number: Any, divisor: int) -> Any:
    """number // divisor; ValueError when a Python int leaves a rest."""
    if isinstance(number, int) and (number < divisor or number % divisor):
        raise ValueError(f"{what}: {name} is a positive multiple of {divisor}, got {number}")
    return number // divisor


def xcd_remap_bx_by(
    bx: fx.Numeric | int,
    by: fx.Numeric | int,
    c_m: fx.Numeric | int,
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
    row_tiles = cdiv(c_m, tile_m)
    walk = fx.TileWalk((row_tiles, cdiv(N, tile_n)), group=xcd_swizzle, along=1, xcds=num_xcds)
    row, column = walk(bx + by * row_tiles)
    return row, column

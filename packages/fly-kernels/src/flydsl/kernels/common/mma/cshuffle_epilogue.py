# SPDX-License-Identifier: Apache-2.0
"""Epilogues over accumulators of 16x16 matrix instructions: which row and column an element is of, and by way of LDS.

Element ii (0 to 3) of tile mi of a lane belongs to row bx_m + 16 mi + 4 (lane // 16) + ii of the output, and to column
lane mod 16 of its tile. What is done with it is the caller's: the functions call back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language import fx
from ..tensor_shim import STensor

__all__ = ["c_shuffle_epilog", "default_epilog", "mfma_epilog"]

_ROWS, _LANES = 8, 32  # of the 256 threads, when they read the tile back


def default_epilog(
    *,
    m_repeat: int,
    lane_div_16: fx.Numeric | int,
    bx_m: fx.Numeric | int,
    body_row: Callable[..., None],
    **modules: Any,
) -> None:
    """Call `body_row(mi=, ii=, row_in_tile=, row=)` for every row of which this lane holds elements.

    Args:
        m_repeat: tiles of 16 rows.
        lane_div_16: lane // 16.
        bx_m: the workgroup's first row.
        body_row: stores the elements `ii` of the accumulators of tile row `mi`.
        modules: `arith`, `range_constexpr` and the like, which kernels of before pass; not used.
    """
    for mi in fx.range_constexpr(m_repeat):
        for ii in fx.range_constexpr(4):
            row_in_tile = lane_div_16 * 4 + (mi * 16 + ii)
            body_row(mi=mi, ii=ii, row_in_tile=row_in_tile, row=bx_m + row_in_tile)


def c_shuffle_epilog(
    *,
    tile_m: int,
    tile_n: int,
    e_vec: int,
    m_repeat: int,
    num_acc_n: int,
    tx: fx.Numeric | int,
    lane_div_16: fx.Numeric | int,
    lane_mod_16: fx.Numeric | int,
    bx_m: fx.Numeric | int,
    by_n: fx.Numeric | int,
    n_tile_base: fx.Numeric | int,
    lds_out: Any,
    write_row_to_lds: Callable[..., None],
    store_pair: Callable[..., None],
    frag_elem_type: type[fx.Numeric] | None = None,
    precompute_row: Callable[..., Any] | None = None,
    **modules: Any,
) -> None:
    """Turn a tile around through LDS, so that a thread stores `e_vec` neighbours of a row.

    First every lane calls `write_row_to_lds(mi=, ii=, row_in_tile=, row=, row_base_lds=, col_base_local=, num_acc_n=,
    lds_out=)`, which puts the element of accumulator ni at `row_base_lds + col_base_local + 16 ni`. After a barrier the
    256 threads, as 8 rows of 32, call `store_pair(row_local=, row=, row_ctx=, col_pair0=, col_g0=, frag=)` for every
    piece of `e_vec` elements, `frag`, which begins at column `col_pair0` of the tile, `col_g0` of the output.

    Args:
        tile_m, tile_n: extents of the tile, whose rows lie one after the other in LDS.
        e_vec: neighbours of a row.
        m_repeat: tiles of 16 rows; `num_acc_n` tiles of 16 columns of this wave.
        tx: the thread, below 256.
        lane_div_16, lane_mod_16: lane // 16 and lane mod 16.
        bx_m, by_n: the workgroup's first row and column; `n_tile_base` the wave's first column in the tile.
        lds_out: a pointer in LDS, or an `fx.Array` of `tile_m * tile_n` elements; nothing else uses it until the next
            barrier of the caller.
        frag_elem_type: its element type, by default that of `lds_out`.
        precompute_row: called as `(row_local=, row=)` once for each row that a thread reads; what it returns is
            `row_ctx`.
        modules: as in `default_epilog`.

    Raises:
        ValueError: 8 rows or 32 pieces do not fill the tile.
    """
    if tile_m % _ROWS or tile_n % (_LANES * e_vec):
        raise ValueError(
            f"c_shuffle_epilog: tile_m is a multiple of {_ROWS} and tile_n of {_LANES} * e_vec = {_LANES * e_vec}, "
            f"got {tile_m} x {tile_n}"
        )

    def write(*, mi: int, ii: int, row_in_tile: Any, row: Any) -> None:
        write_row_to_lds(
            mi=mi,
            ii=ii,
            row_in_tile=row_in_tile,
            row=row,
            row_base_lds=row_in_tile * tile_n,
            col_base_local=n_tile_base + lane_mod_16,
            num_acc_n=num_acc_n,
            lds_out=lds_out,
        )

    default_epilog(m_repeat=m_repeat, lane_div_16=lane_div_16, bx_m=bx_m, body_row=write)
    fx.barrier()
    kind = getattr(lds_out, "dtype", None) or lds_out.element_type if frag_elem_type is None else frag_elem_type
    tile = STensor(lds_out, kind, (tile_m, tile_n))
    row_of_thread, lane = tx // _LANES, tx % _LANES
    for first_row in fx.range_constexpr(0, tile_m, _ROWS):
        row_local = row_of_thread + first_row
        row = bx_m + row_local
        row_ctx = None if precompute_row is None else precompute_row(row_local=row_local, row=row)
        for first_column in fx.range_constexpr(0, tile_n, _LANES * e_vec):
            column = lane * e_vec + first_column
            store_pair(
                row_local=row_local,
                row=row,
                row_ctx=row_ctx,
                col_pair0=column,
                col_g0=by_n + column,
                frag=tile.vec_load((row_local, column), e_vec),
            )


def mfma_epilog(*, use_cshuffle: bool, **arguments: Any) -> None:
    """`c_shuffle_epilog` or `default_epilog`; the arguments of both may be given, what the other needs is ignored.

    Raises TypeError, with its name, for an argument that is missing.
    """
    (c_shuffle_epilog if use_cshuffle else default_epilog)(**arguments)

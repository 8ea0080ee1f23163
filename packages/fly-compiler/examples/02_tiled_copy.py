# SPDX-License-Identifier: Apache-2.0
"""Transpose a matrix through LDS, 32 x 32 at a time, without bank conflicts.

What this shows

- a tiled copy put together from its parts: `raked_product` of a thread and a value layout, `make_layout_tv`,
  `make_tiled_copy`, `partition_S` and `partition_D`;
- a tensor in LDS: an allocation, a layout over it, and a swizzle that spreads a column over the banks;
- register fragments between two copies, and a barrier between writing LDS and reading it.

Run it:  ARCH=gfx950 python 02_tiled_copy.py
"""

from __future__ import annotations

from typing import Any

import torch
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

TILE = 32
THREADS = 256


def tiled_copy(atom, threads, values):
    """Spread `atom` over a tile: `threads` says where in the tile the threads stand, `values` what each one holds.

    The raked product interleaves them: position in the tile -> (thread, value). Its inverse is what a copy needs, from
    (thread, value) to the position in the tile; `make_layout_tv` computes that from the same two layouts.
    """
    product = fx.raked_product(threads, values)
    tile, thread_value = fx.make_layout_tv(threads, values)
    assert fx.size(product).unpack() == TILE * TILE
    return fx.make_tiled_copy(atom, thread_value, tile)


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def transpose_tiles(source: fx.Tensor, target: fx.Tensor):
    """Each workgroup moves one tile: rows of the source -> LDS -> rows of the target."""
    row_tile, column_tile = fx.block_idx.y, fx.block_idx.x

    # 32 rows of 8 threads; each thread holds 4 neighbours of a row. In global memory these move as 128 bits at once, in
    # LDS one by one: there, after the transpose, neighbours lie in different rows.
    threads, values = fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 4), (4, 1))
    wide = tiled_copy(fx.make_copy_atom(fx.UniversalCopy(128), fx.Float32), threads, values)
    narrow = tiled_copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), threads, values)
    in_global, in_lds = wide.get_slice(fx.thread_idx.x), narrow.get_slice(fx.thread_idx.x)

    # LDS has 32 banks of 4 bytes. In a plain 32 x 32 tile of floats all elements of a column share one bank: reading a
    # column would take 32 times as long as reading a row. The swizzle S<5,0,5> XORs the five bits of the row into those
    # of the column, so that the elements of a row, and those of a column, lie in 32 different banks.
    lds = fx.SharedAllocator().allocate(fx.Array[fx.Float32, TILE * TILE]).peek()
    swizzle = fx.static(fx.SwizzleType.get(5, 0, 5))
    rows = fx.make_composed_layout(swizzle, fx.make_layout((TILE, TILE), (TILE, 1)))
    columns = fx.make_composed_layout(swizzle, fx.make_layout((TILE, TILE), (1, TILE)))
    written, read = lds.view(rows), lds.view(columns)  # the same memory; the second view is the transpose

    # Global -> registers -> LDS, along rows of the source.
    tile = in_global.partition_S(fx.flat_divide(source, (TILE, TILE))[None, None, row_tile, column_tile])
    fragment, pieces = fx.make_fragment_like(tile), fx.make_fragment_like(in_lds.partition_S(written))
    fx.copy(wide, tile, fragment)
    pieces.store(fragment.load())  # the same four values, in the shape that the narrow atom takes
    fx.copy(narrow, pieces, in_lds.partition_D(written))
    fx.barrier()

    # LDS -> registers -> global, along rows of the target.
    fx.copy(narrow, in_lds.partition_S(read), pieces)
    fragment.store(pieces.load())
    tile = in_global.partition_D(fx.flat_divide(target, (TILE, TILE))[None, None, column_tile, row_tile])
    fx.copy(wide, fragment, tile)


@flyc.jit
def transpose(source: fx.Tensor, target: fx.Tensor):
    """target = source transposed; both extents are multiples of the tile, and known at compile time."""
    expect("source", source, fx.Float32, rank=2, tile=(TILE, TILE))
    expect("target", target, fx.Float32, rank=2, tile=(TILE, TILE))
    rows, columns = source.shape.unpack()
    if target.shape.unpack() != (columns, rows):
        raise ValueError(f"argument 'target': expected shape {(columns, rows)}, got {target.shape.unpack()}")
    transpose_tiles(source, target).launch(grid=(columns // TILE, rows // TILE), block=(THREADS,))


CASES = [(32, 32), (96, 64), (256, 160)]


def run_case(case: tuple[int, int]) -> dict[str, Any]:
    """Transpose a matrix of one shape and compare with torch."""
    rows, columns = case
    source = torch.randn(case, generator=torch.Generator().manual_seed(rows))
    target = torch.full((columns, rows), float("nan"))
    # 128-bit accesses need rows that begin at multiples of 16 bytes. The call checks what is promised here.
    transpose(*(flyc.from_dlpack(one, assumed_align=16) for one in (source, target)))
    return report("transpose through LDS", f"{rows}x{columns}", target, source.t(), 0.0)


if __name__ == "__main__":
    main(CASES, run_case)

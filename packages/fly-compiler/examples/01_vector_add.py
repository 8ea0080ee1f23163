# SPDX-License-Identifier: Apache-2.0
"""c = a + b, twice: over a vector, and over a matrix whose shape no tile divides.

What this shows

- a kernel (`@flyc.kernel`) and the host function that launches it (`@flyc.jit`), with a grid from a run-time number;
- dividing a tensor into tiles (`logical_divide`, `flat_divide`) and taking one (`slice`, or `None` in an index);
- moving data with a copy atom: one atom by hand (`copy_atom_call`), and a tiled copy for a whole workgroup;
- predicates from a tensor of coordinates, so that threads outside the matrix touch nothing.

Run it:  ARCH=gfx950 python 01_vector_add.py
"""

from __future__ import annotations

from typing import Any

import torch
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256


# -- one dimension -----------------------------------------------------------------------------------------------------


@flyc.kernel
def add_vectors(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
    """Each thread adds one element."""
    thread, block = fx.thread_idx.x, fx.block_idx.x

    def element_of(tensor):
        """The one-element tensor of this thread: first the block's tile of THREADS elements, then one of them."""
        tiles = fx.logical_divide(tensor, fx.make_layout(THREADS, 1))  # (THREADS, number of tiles)
        tile = fx.slice(tiles, (None, block))
        return fx.slice(fx.logical_divide(tile, fx.make_layout(1, 1)), (None, thread))

    # The atom is what one thread moves in one instruction: 32 bits, here one float.
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    in_a, in_b, out = (fx.make_rmem_tensor(1, fx.Float32) for _ in range(3))

    # The last block may stick out of the vectors. This is a run-time condition: the body becomes a branch on the GPU.
    if block * THREADS + thread < n:
        fx.copy_atom_call(atom, element_of(a), in_a)
        fx.copy_atom_call(atom, element_of(b), in_b)
        fx.memref_store_vec(fx.memref_load_vec(in_a) + fx.memref_load_vec(in_b), out)
        fx.copy_atom_call(atom, out, element_of(c))


@flyc.jit
def add_1d(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    """Add the first n elements. n is a run-time number: any n runs the same code object."""
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        expect(name, tensor, fx.Float32, rank=1)
    add_vectors(a, b, c, n).launch(grid=((n + THREADS - 1) // THREADS,), block=(THREADS,), stream=stream)


# -- two dimensions ----------------------------------------------------------------------------------------------------

# 256 threads in 8 rows of 32; each holds 4 neighbours of a row, so a tile is 8 x 128. Layouts are shape:stride pairs;
# consecutive threads, and the values of a thread, lie along a row, which is how the matrix lies in memory.
THREAD_LAYOUT = ((8, 32), (32, 1))
VALUE_LAYOUT = ((1, 4), (4, 1))
TILE = (8, 128)


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def add_matrices(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, rows: fx.Int32, columns: fx.Int32):
    """Each workgroup adds one tile, as far as it lies within the matrix."""
    column_tile, row_tile = fx.block_idx.x, fx.block_idx.y
    tiled = fx.make_tiled_copy_tv(
        fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32),
        fx.make_layout(*THREAD_LAYOUT),
        fx.make_layout(*VALUE_LAYOUT),
    )
    mine = tiled.get_slice(fx.thread_idx.x)

    def part_of(tensor):
        """This thread's elements of this workgroup's tile: ((atom values, values), rest of the tile …)."""
        tiles = fx.flat_divide(tensor, TILE)  # (8, 128, row tiles, column tiles)
        return mine.partition_S(tiles[None, None, row_tile, column_tile])

    part_a, part_b, part_c = part_of(a), part_of(b), part_of(c)

    # The coordinate tensor holds (row, column) at position (row, column) and no memory. Divided and partitioned like
    # the data, it tells each thread where its elements lie in the whole matrix.
    where = part_of(fx.make_view((0, 0), fx.make_identity_layout((rows, columns))))
    inside = fx.make_fragment_like(part_a, dtype=fx.Boolean)
    for i in fx.range_constexpr(fx.size(inside).unpack()):
        inside[i] = fx.elem_less(where[i], (rows, columns))

    in_a, in_b = fx.make_fragment_like(part_a), fx.make_fragment_like(part_b)
    out = fx.make_fragment_like(part_c)
    for fragment in (in_a, in_b):
        fragment.fill(0.0)  # what a false predicate leaves
    fx.copy(tiled, part_a, in_a, pred=inside)
    fx.copy(tiled, part_b, in_b, pred=inside)
    out.store(in_a.load() + in_b.load())
    fx.copy(tiled, out, part_c, pred=inside)


@flyc.jit
def add_2d(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, rows: fx.Int32, columns: fx.Int32):
    """Add two matrices of any shape and any distance between rows."""
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        expect(name, tensor, fx.Float32, rank=2)
    row_tiles = (rows + TILE[0] - 1) // TILE[0]
    column_tiles = (columns + TILE[1] - 1) // TILE[1]
    add_matrices(a, b, c, rows, columns).launch(grid=(column_tiles, row_tiles), block=(THREADS,))


# -- checks ------------------------------------------------------------------------------------------------------------

CASES = [(1,), (1000,), (65536,), (1, 1), (37, 129), (64, 256), (100, 1000)]


def run_case(case: tuple[int, ...]) -> dict[str, Any]:
    """Run one shape, vectors or matrices, and compare with torch; a float addition has one right answer."""
    generator = torch.Generator().manual_seed(len(case) + sum(case))
    a, b = (torch.randn(case, generator=generator) for _ in range(2))
    if len(case) == 1:
        c = torch.full(case, float("nan"))
        add_1d(a, b, c, case[0])
        return report("vector add", str(case[0]), c, a + b, 0.0)
    # The result is part of a larger matrix, whose other elements have to stay.
    rows, columns = case
    whole = torch.full((rows + 2, columns + 3), -1.0)
    c = whole[1 : 1 + rows, 2 : 2 + columns]
    add_2d(a, b, c, rows, columns)
    expected = torch.full_like(whole, -1.0)
    expected[1 : 1 + rows, 2 : 2 + columns] = a + b
    return report("matrix add, predicated", f"{rows}x{columns}", whole, expected, 0.0)


if __name__ == "__main__":
    main(CASES, run_case)

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T with matrix instructions: f16 inputs, f32 accumulation.

What this shows

- an MMA atom (one MFMA instruction of a wave) and a tiled MMA: several waves side by side;
- fragments: the part of A, B and C that one thread holds in registers, in the order that the instruction wants;
- `fx.gemm` over fragments, in a run-time loop over K that carries the accumulator.

A is (M, K), B is (N, K), C is (M, N), all row-major: K lies in one piece in memory, which suits the instruction.

Run it:  ARCH=gfx950 python 03_tiled_mma.py
"""

from __future__ import annotations

from typing import Any

import torch
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

TILE_M, TILE_N, TILE_K = 64, 64, 32
WAVES = (2, 2, 1)
THREADS = 64 * 4


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def gemm_tiles(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    """Each workgroup computes one 64 x 64 tile of C."""
    row_tile, column_tile = fx.block_idx.y, fx.block_idx.x

    # One instruction multiplies 16 x 16 x 16. Four waves in a 2 x 2 grid cover 32 x 32 x 16; the tile repeats that.
    atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
    tiled = fx.make_tiled_mma(atom, fx.make_layout(WAVES, (1, 2, 0)))
    mine = tiled.get_slice(fx.thread_idx.x)

    tiles_a = fx.flat_divide(a, (TILE_M, TILE_K))  # (64, 32, row tiles, K tiles)
    tiles_b = fx.flat_divide(b, (TILE_N, TILE_K))
    tile_c = fx.flat_divide(c, (TILE_M, TILE_N))[None, None, row_tile, column_tile]

    # The fragments: made from one tile each, filled anew for every step along K.
    first_a, first_b = tiles_a[None, None, row_tile, 0], tiles_b[None, None, column_tile, 0]
    fragment_a, fragment_b = mine.make_fragment_A(first_a), mine.make_fragment_B(first_b)
    sums = mine.make_fragment_C(tile_c)
    sums.fill(0.0)

    # An f16 value is 16 bits, and the instruction takes 4 neighbours along K from each thread: 64 bits at once.
    load = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
    load_a, load_b = fx.make_tiled_copy_A(load, tiled), fx.make_tiled_copy_B(load, tiled)
    from_a, from_b = load_a.get_slice(fx.thread_idx.x), load_b.get_slice(fx.thread_idx.x)

    # A loop that runs on the GPU. `sums` is register memory; the compiler turns it into values that the loop carries.
    for step in range(a.shape[1].unpack() // TILE_K):
        tile_a = tiles_a[None, None, row_tile, step]
        tile_b = tiles_b[None, None, column_tile, step]
        fx.copy(load_a, from_a.partition_S(tile_a), from_a.retile(fragment_a))
        fx.copy(load_b, from_b.partition_S(tile_b), from_b.retile(fragment_b))
        fx.gemm(tiled, sums, fragment_a, fragment_b, sums)

    # The four values of C that a thread has from one instruction lie in four rows: they are stored one by one.
    store_c = fx.make_tiled_copy_C(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), tiled)
    to_c = store_c.get_slice(fx.thread_idx.x)
    fx.copy(store_c, to_c.retile(sums), to_c.partition_D(tile_c))


@flyc.jit
def gemm(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    """C = A B^T; M and N are multiples of 64, K of 32, all known at compile time."""
    expect("a", a, fx.Float16, rank=2, tile=(TILE_M, TILE_K))
    expect("b", b, fx.Float16, rank=2, tile=(TILE_N, TILE_K))
    expect("c", c, fx.Float32, rank=2, tile=(TILE_M, TILE_N))
    (m, k), (n, b_k) = a.shape.unpack(), b.shape.unpack()
    if b_k != k:
        raise ValueError(f"argument 'b': expected {k} columns, as 'a' has, got {b_k}")
    if c.shape.unpack() != (m, n):
        raise ValueError(f"argument 'c': expected shape {(m, n)}, got {c.shape.unpack()}")
    gemm_tiles(a, b, c).launch(grid=(n // TILE_N, m // TILE_M), block=(THREADS,))


CASES = [(64, 64, 32), (128, 64, 96), (192, 128, 256)]


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Multiply matrices of one shape and compare with torch in double precision."""
    m, n, k = case
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randn(rows, k, generator=generator).half() for rows in (m, n))
    c = torch.full((m, n), float("nan"))
    # Four halves are read at once, so rows begin at multiples of 8 bytes. The call checks what is promised here.
    gemm(*(flyc.from_dlpack(one, assumed_align=8) for one in (a, b, c)))
    expected = a.double() @ b.double().t()
    # Products of halves are exact in f32; K of them are added with one rounding each, in some order.
    bound = (a.double().abs() @ b.double().abs().t()).max().item() * k * 2.0**-24
    return report("gemm, MFMA", f"{m}x{n}x{k}", c, expected, bound)


if __name__ == "__main__":
    main(CASES, run_case)

# SPDX-License-Identifier: Apache-2.0
"""C = A B^T with B in the order that the matrix instruction reads, and A through swizzled LDS.

What this shows

- a tensor whose bytes were permuted on the host, seen through a nested layout: the kernel's code does not change;
- a permuted K: each thread reads eight neighbours along K at once (128 bits) and feeds two instructions with them;
- LDS with an XOR swizzle, so that rows that lie 128 bytes apart do not meet in the same banks;
- buffer loads, whose addresses are 32-bit offsets into a checked range.

A is (M, K), C is (M, N), row-major. B is (N, K), preshuffled: blocks of 16 rows by 32 columns, each stored as four
groups of eight columns, 16 rows a group. Per block that is the layout (16, (8, 4)) : (8, (1, 128)).

Run it:  ARCH=gfx950 python 04_preshuffled_gemm.py
"""

from __future__ import annotations

from typing import Any

import torch
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

TILE_M, TILE_N, TILE_K = 64, 128, 64
WAVES = 4
THREADS = 64 * WAVES


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def gemm_tiles(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Constexpr[int], k: fx.Constexpr[int]):
    """Each workgroup computes one 64 x 128 tile of C; its waves lie side by side along N."""
    thread = fx.thread_idx.x
    row_tile, column_tile = fx.block_idx.y, fx.block_idx.x

    # The permuted bytes of B, read as the plain (N, K) matrix that they hold.
    shuffled = fx.make_layout(((16, n // 16), (8, 4, k // 32)), ((8, 16 * k), (1, 128, 512)))
    b = fx.make_view(fx.get_iter(b), shuffled)

    # Eight neighbours along K belong to one thread: values 0 to 3 go to one instruction, 4 to 7 to the next.
    atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
    pairs_along_k = fx.make_layout((4, 4, 2), (1, 8, 4))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((1, WAVES, 1), (0, 1, 0)), (None, None, pairs_along_k))
    mine = tiled.get_slice(thread)

    a, b, c = (fx.rocdl.make_buffer_tensor(one) for one in (a, b, c))
    tiles_a = fx.flat_divide(a, (TILE_M, TILE_K))[None, None, row_tile, None]
    tiles_b = fx.flat_divide(b, (TILE_N, TILE_K))[None, None, column_tile, None]
    tile_c = fx.flat_divide(c, (TILE_M, TILE_N))[None, None, row_tile, column_tile]

    # A's tile in LDS: row-major, its 16-byte groups permuted within each row by the row's number.
    room = fx.SharedAllocator().allocate(fx.Array[fx.Float16, TILE_M * TILE_K]).peek()
    swizzle = fx.static(fx.SwizzleType.get(3, 4, 3))
    staged_a = fx.make_view(fx.apply_swizzle(room.ptr, swizzle), fx.make_layout((TILE_M, TILE_K), (TILE_K, 1)))

    # Global -> registers -> LDS: 128 bits a thread, eight threads a row.
    rows, halves = fx.make_layout((THREADS // 8, 8), (8, 1)), fx.make_layout((1, 8), (1, 1))
    from_memory = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float16)
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    fetch = fx.make_tiled_copy_tv(from_memory, rows, halves).get_slice(thread)
    put = fx.make_tiled_copy_tv(through_lds, rows, halves).get_slice(thread)
    fetched = fx.make_fragment_like(fetch.partition_S(tiles_a[None, None, 0]))

    # LDS -> fragment of A, memory -> fragment of B: in the order of the instruction.
    load_a = fx.make_tiled_copy_A(through_lds, tiled).get_slice(thread)
    load_b = fx.make_tiled_copy_B(from_memory, tiled).get_slice(thread)
    fragment_a, fragment_b = mine.make_fragment_A(staged_a), mine.make_fragment_B(tiles_b[None, None, 0])
    sums = mine.make_fragment_C(tile_c)
    sums.fill(0.0)

    for step in range(k // TILE_K):
        fx.copy(from_memory, fetch.partition_S(tiles_a[None, None, step]), fetched)
        fx.copy(from_memory, load_b.partition_S(tiles_b[None, None, step]), load_b.retile(fragment_b))
        fx.barrier()  # the reads of the last step are over
        fx.copy(through_lds, fetched, put.partition_D(staged_a))
        fx.barrier()
        fx.copy(through_lds, load_a.partition_S(staged_a), load_a.retile(fragment_a))
        fx.gemm(tiled, sums, fragment_a, fragment_b, sums)

    store = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
    to_c = fx.make_tiled_copy_C(store, tiled).get_slice(thread)
    fx.copy(store, to_c.retile(sums), to_c.partition_D(tile_c))


@flyc.jit
def gemm(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    """C = A B^T; M is a multiple of 64, N of 128, K of 64, all known at compile time; B comes from `preshuffle`."""
    expect("a", a, fx.Float16, rank=2, tile=(TILE_M, TILE_K))
    expect("b", b, fx.Float16, rank=2, tile=(TILE_N, TILE_K))
    expect("c", c, fx.Float32, rank=2, tile=(TILE_M, TILE_N))
    (m, k), (n, b_k) = a.shape.unpack(), b.shape.unpack()
    if b_k != k:
        raise ValueError(f"argument 'b': expected {k} columns, as 'a' has, got {b_k}")
    if c.shape.unpack() != (m, n):
        raise ValueError(f"argument 'c': expected shape {(m, n)}, got {c.shape.unpack()}")
    gemm_tiles(a, b, c, n, k).launch(grid=(n // TILE_N, m // TILE_M), block=(THREADS,))


def preshuffle(b: torch.Tensor) -> torch.Tensor:
    """The (N, K) matrix `b` with its elements in the order that the kernel reads; same shape, other bytes."""
    n, k = b.shape
    return b.view(n // 16, 16, k // 32, 4, 8).permute(0, 2, 3, 1, 4).contiguous().view(n, k)


CASES = [(64, 128, 64), (128, 256, 192), (192, 128, 320)]


def run_case(case: tuple[int, int, int]) -> dict[str, Any]:
    """Multiply matrices of one shape and compare with torch in double precision."""
    m, n, k = case
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randn(rows, k, generator=generator).half() for rows in (m, n))
    c = torch.full((m, n), float("nan"))
    # 128 bits are read at once, so rows begin at multiples of 16 bytes. The call checks what is promised here.
    gemm(*(flyc.from_dlpack(one, assumed_align=16) for one in (a, preshuffle(b), c)))
    expected = a.double() @ b.double().t()
    # Products of halves are exact in f32; K of them are added with one rounding each, in some order.
    bound = (a.double().abs() @ b.double().abs().t()).max().item() * k * 2.0**-24
    return report("gemm, preshuffled B", f"{m}x{n}x{k}", c, expected, bound)


if __name__ == "__main__":
    main(CASES, run_case)

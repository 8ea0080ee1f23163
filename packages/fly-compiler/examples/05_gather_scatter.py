# SPDX-License-Identifier: Apache-2.0
"""out[target[i]] = table[source[i]]: whole rows, found through index tensors.

What this shows

- `fx.gather` and `fx.scatter`: one copy atom per element offset, with a predicate for each;
- index tensors read as ordinary tensors, and what an index means left to the kernel: a negative one skips its row;
- 64-bit offsets, so that a table may hold more than 2^31 elements.

`table` is (V, D), `out` is (R, D), row-major f32; `source` and `target` are (n,) int32.

Run it:  ARCH=gfx950 python 05_gather_scatter.py
"""

from __future__ import annotations

from typing import Any

import torch
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 64
VECTOR = 4  # f32 values in 128 bits


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def copy_rows(table: fx.Tensor, source: fx.Tensor, out: fx.Tensor, target: fx.Tensor, columns: fx.Constexpr[int]):
    """Each workgroup, one wave, copies one row: 64 x 128 bits at a time."""
    pair = fx.block_idx.x
    from_row, to_row = fx.Int64(source[pair]), fx.Int64(target[pair])
    wanted = (from_row >= 0) & (to_row >= 0)

    steps = fx.ceildiv(columns, THREADS * VECTOR)
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    # One atom a step: its first element, counted from the beginning of the tensor, and whether it is inside the row.
    offsets_from = fx.make_rmem_tensor((1, steps), fx.Int64)
    offsets_to = fx.make_rmem_tensor((1, steps), fx.Int64)
    inside = fx.make_rmem_tensor((1, steps), fx.Boolean)
    for step in fx.range_constexpr(steps):
        column = (step * THREADS + fx.thread_idx.x) * VECTOR
        offsets_from[0, step] = from_row * columns + column
        offsets_to[0, step] = to_row * columns + column
        inside[0, step] = wanted & (column < columns)

    row = fx.make_rmem_tensor(((VECTOR, 1), steps), fx.Float32)
    fx.gather(atom, table.iter, offsets_from, row, pred=inside)
    fx.scatter(atom, row, out.iter, offsets_to, pred=inside)


@flyc.jit
def gather_scatter(table: fx.Tensor, source: fx.Tensor, out: fx.Tensor, target: fx.Tensor):
    """Copy row source[i] of `table` to row target[i] of `out`; the number of columns is static, a multiple of 4."""
    expect("table", table, fx.Float32, rank=2, tile=(1, VECTOR))
    expect("out", out, fx.Float32, rank=2, tile=(1, VECTOR))
    expect("source", source, fx.Int32, rank=1, tile=(1,))
    expect("target", target, fx.Int32, rank=1, tile=(1,))
    columns, pairs = table.shape[1].unpack(), source.shape[0].unpack()
    if out.shape[1].unpack() != columns:
        raise ValueError(f"argument 'out': expected {columns} columns, as 'table' has, got {out.shape[1].unpack()}")
    if target.shape[0].unpack() != pairs:
        raise ValueError(f"argument 'target': expected {pairs} rows, as 'source' has, got {target.shape[0].unpack()}")
    copy_rows(table, source, out, target, columns).launch(grid=(pairs,), block=(THREADS,))


CASES = [(1, 4), (7, 256), (33, 260), (16, 1000)]


def run_case(case: tuple[int, int]) -> dict[str, Any]:
    """Copy some rows of a random table in random order; every fifth pair is switched off."""
    pairs, columns = case
    generator = torch.Generator().manual_seed(pairs + columns)
    table = torch.randn(3 * pairs, columns, generator=generator)
    source = torch.randint(0, 3 * pairs, (pairs,), generator=generator, dtype=torch.int32)
    target = torch.randperm(2 * pairs, generator=generator)[:pairs].int()
    source[4::5] = -1
    out = torch.full((2 * pairs, columns), -1.0)
    expected = out.clone()
    used = source >= 0
    expected[target[used].long()] = table[source[used].long()]
    # 128 bits are moved at once, so rows begin at multiples of 16 bytes. The call checks what is promised here.
    gather_scatter(
        flyc.from_dlpack(table, assumed_align=16),
        flyc.from_dlpack(source),
        flyc.from_dlpack(out, assumed_align=16),
        flyc.from_dlpack(target),
    )
    return report("gather and scatter", f"{pairs}x{columns}", out, expected, 0.0)


if __name__ == "__main__":
    main(CASES, run_case)

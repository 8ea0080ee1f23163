# SPDX-License-Identifier: Apache-2.0
"""Orders of tiles in kernels, of extents that are known and of ones that are not, against those on numbers."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel(known_block_size=(64, 1, 1))
def count_tiles(
    y: fx.Tensor, rows: fx.Int32, columns: fx.Int32, known: fx.Constexpr[tuple], options: fx.Constexpr[tuple]
):
    """Persistent: workgroup b takes tiles b, b + grid, ..., and the place of its tile gets 1 + the turn."""
    group, along, xcds = options
    shape = known if fx.const_expr(known) else (rows, columns)
    walk = fx.TileWalk(shape, group=group, along=along, xcds=xcds)
    for turn in range(fx.block_idx.x, walk.size, fx.grid_dim.x):
        row, column = walk(turn)
        if fx.thread_idx.x == 0:
            y[row, column] = y[row, column] + turn + 1


@flyc.jit
def visit(y: fx.Tensor, rows: fx.Int32, columns: fx.Int32, known: fx.Constexpr[tuple], options: fx.Constexpr[tuple]):
    count_tiles(y, rows, columns, known, options).launch(grid=(3,), block=(64,))


@pytest.mark.parametrize("options", [(0, 0, 1), (4, 1, 8), (3, 0, 1), (2, 0, 8)])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [(7, 9), (16, 4)])
def test_as_on_numbers(shape, known, options):
    group, along, xcds = options
    y = torch.zeros(shape, dtype=torch.int32)
    visit(y, *shape, shape if known else (), options)
    walk = fx.TileWalk(shape, group=group, along=along, xcds=xcds)
    expected = torch.zeros_like(y)
    for turn in range(walk.size):
        expected[walk(turn)] = turn + 1
    assert torch.equal(y, expected)

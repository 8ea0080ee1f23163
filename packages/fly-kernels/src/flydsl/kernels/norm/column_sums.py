# SPDX-License-Identifier: Apache-2.0
"""The second stage of a deterministic backward: the sums of the columns of a matrix of f32, in a fixed order.

A workgroup of 256 threads adds 64 columns: four rows of 64 threads each add every fourth row of the matrix, and the
four sums meet in LDS. A wave reads 256 neighbouring bytes of one row at a time, and the matrix is read once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.language import flyc, fx
from ..common.row_arguments import expect_columns, expect_row
from ..common.views import predicate, start_of

COLUMNS = 64
LANES = 4
THREADS = COLUMNS * LANES


def column_sums(columns: int, rows: int) -> Callable[[Any, Any, Any], None]:
    """`emit(matrix, sums, stream)`, for a `@flyc.jit` body: sums[n] = sum_r matrix[r · columns + n].

    `matrix` (rows · columns,) and `sums` (columns,) are f32 tensors or pointers.
    """
    whole, padded = rows // LANES, -(-rows // LANES) * LANES  # the last tile may have rows that are none

    @flyc.kernel(name=f"sums_of_columns_{rows}x{columns}", known_block_size=(THREADS, 1, 1))
    def sums_of_columns_kernel(matrix: Any, sums: Any) -> None:
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        one, threads = fx.make_layout((1, 1), (0, 0)), fx.make_layout((COLUMNS, LANES), (1, COLUMNS))
        mine = fx.make_tiled_copy_tv(atom, threads, one).get_slice(fx.thread_idx.x)
        block, tile = fx.block_idx.x, (COLUMNS, LANES)

        def tiles(tensor: Any) -> Any:
            """This thread's part of the workgroup's columns: (value, 1, 1, tiles of rows)."""
            return mine.partition_S(fx.flat_divide(tensor, tile)[None, None, block, None])

        source = tiles(fx.make_view(start_of(matrix), fx.make_layout((columns, padded), (1, columns))))
        coordinates = tiles(fx.make_view((0, 0), fx.make_identity_layout((columns, padded))))
        column, row = coordinates[0, 0, 0, 0].unpack()
        total = fx.make_fragment_like(source[None, None, None, 0])
        total.fill(0.0)

        def add(turn: Any, inside: Any) -> None:
            part = fx.make_fragment_like(total)
            part.fill(0.0)
            fx.copy(mine.tiled_copy, source[None, None, None, turn], part, pred=predicate(inside, (1, 1, 1)))
            total.store(total.load() + part.load())

        in_columns = column < columns if columns % COLUMNS else None
        for turn in range(fx.Int32(0), fx.Int32(whole), 1):
            add(fx.Int64(turn), in_columns)
        if fx.const_expr(rows % LANES):
            add(fx.Int64(whole), (column < columns) & (row < rows % LANES))
        storage = fx.SharedAllocator().allocate(fx.coop.tiled_reduce_storage(mine, 1, fx.Float32))
        total.store(fx.full(1, fx.coop.tiled_reduce(total, "add", mine, 1, storage=storage), fx.Float32))
        target = tiles(fx.make_view(start_of(sums), fx.make_layout((columns, LANES), (1, 0))))[None, None, None, 0]
        fx.copy(mine.tiled_copy, total, target, pred=predicate((column < columns) & (row == 0), (1, 1, 1)))

    def emit(matrix: Any, sums: Any, stream: Any) -> None:
        expect_row("Partial", matrix, fx.Float32, rows * columns)
        expect_columns("DWeight", sums, fx.Float32, columns)
        sums_of_columns_kernel(matrix, sums).launch(grid=(-(-columns // COLUMNS),), block=(THREADS,), stream=stream)

    return emit

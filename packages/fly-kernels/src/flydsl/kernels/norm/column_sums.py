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
from ..common.rows import pointer

COLUMNS = 64
LANES = 4
THREADS = COLUMNS * LANES


def column_sums(columns: int, rows: int) -> Callable[[Any, Any, Any], None]:
    """`emit(matrix, sums, stream)`, for a `@flyc.jit` body: sums[n] = sum_r matrix[r · columns + n].

    `matrix` (rows · columns,) and `sums` (columns,) are f32 tensors or pointers.
    """

    @flyc.kernel(name=f"sums_of_columns_{rows}x{columns}", known_block_size=(THREADS, 1, 1))
    def sums_of_columns_kernel(matrix: Any, sums: Any) -> None:
        thread = fx.thread_idx.x
        column, lane = thread % COLUMNS + fx.block_idx.x * COLUMNS, thread // COLUMNS
        source = pointer(matrix)
        target = pointer(sums)
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, THREADS, 16]).peek()
        total = fx.Float32(0.0)
        if column < columns:
            for row in range(lane, fx.Int32(rows), LANES):
                total = total + (source + (fx.Int64(row) * columns + column)).load()
        slots[thread] = total
        fx.barrier()
        if lane == 0 and column < columns:
            for other in fx.range_constexpr(1, LANES):
                total = total + slots[thread + other * COLUMNS]
            (target + column).store(total)

    def emit(matrix: Any, sums: Any, stream: Any) -> None:
        expect_row("Partial", matrix, fx.Float32, rows * columns)
        expect_columns("DWeight", sums, fx.Float32, columns)
        sums_of_columns_kernel(matrix, sums).launch(grid=(-(-columns // COLUMNS),), block=(THREADS,), stream=stream)

    return emit

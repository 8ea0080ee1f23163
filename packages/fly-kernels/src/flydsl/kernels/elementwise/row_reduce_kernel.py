# SPDX-License-Identifier: Apache-2.0
"""Sums, means and maxima of the rows of a matrix.

Arithmetic is in f32: each thread adds vectors, then the wave and the workgroup add their threads (see `common.rows`).
Every element is read once, in 16-byte accesses, whatever the length of the row.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream, total
from ..common.rows import highest as highest_of
from ..common.views import load_arguments

OPERATIONS = ("sum", "mean", "max")


@rows_builder
def build_row_reduce_module(
    N: int,
    dtype_str: str = "f32",
    operation: str = "sum",
    out_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher `(X, Y, m_in, stream)`: Y[m] = the sum, mean or maximum of row m.

    X (M, N) of `dtype_str` ("f32", "f16", "bf16") with unit stride along a row, or contiguous rows flattened or as a
    pointer; Y (M,) of `out_dtype_str`, by default the same. A maximum ignores NaN; of a row of NaN only it is -inf.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive, an unknown dtype or operation; ImportError without the compiler.
    """
    element, out = float_type(dtype_str), float_type(dtype_str if out_dtype_str is None else out_dtype_str)
    if operation not in OPERATIONS:
        raise ValueError(f"operation {operation!r} is not known; use one of {', '.join(OPERATIONS)}")
    plan = plan_rows(N, element.width, row_config("row_reduce", N, element.width, config))
    largest = operation == "max"
    neutral, fold, op = (-math.inf, highest_of, "max") if largest else (0.0, total, "add")

    def reduced(source: RowView) -> Any:
        """One Float32 per thread."""
        if plan.in_registers:
            values = [source.load(step, neutral) for step in plan.tiles]
            return fold(one.to(fx.Float32) for one in values)

        def add(state: list[Any], step: Step) -> list[Any]:
            part = fold([source.load_f32(step, neutral)])
            return [fx.maxnumf(state[0], part) if largest else state[0] + part]

        return stream(plan, [fx.Float32(neutral)], add)[0]

    @flyc.kernel(name=f"row_{operation}_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def row_reduce_kernel(X: Any, Y: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(X, Y, m_in)
        if at.first < m_in:
            value = at.reduce(reduced(RowView(X, at, at.first)), op)
            at.keep(Y, at.first, value * (1.0 / N) if operation == "mean" else value)

    @flyc.jit
    def row_reduce(X: Any, Y: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        expect_rows("X", X, element, N, m_in)
        expect_row("Y", Y, out, m_in)
        row_reduce_kernel(X, Y, m_in).launch(
            grid=((m_in + plan.rows - 1) // plan.rows,), block=(plan.block,), stream=stream
        )

    return row_reduce

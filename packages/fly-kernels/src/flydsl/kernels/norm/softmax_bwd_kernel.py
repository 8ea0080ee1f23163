# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix, backward: dx = y · (dy - sum_n dy · y), the sum in f32.

y and dy stay in registers between the sum and the output up to 32,768 elements a row, so that they are read once and dx
is written once, in 16-byte accesses; a longer row is read twice.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.convert import minus
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_arguments

_THREADS = 256  # of the tiers that callers plan by


def softmax_bwd_buffered_operands(N: int, dtype_str: str) -> int:
    """How many of (Y, DY) a caller may count on to be read once only: 2 up to N = 16,384, 1 (Y) up to 32,768, else 0.

    Only rows that fill 256 threads with vectors of 16 bytes count. The kernel keeps both in registers for every N up to
    32,768, whether a tile divides it or not.
    """
    element = float_type(dtype_str)
    if N % (_THREADS * (128 // element.width)):
        return 0
    return 2 if N <= 16384 else 1 if N <= 32768 else 0


@rows_builder
def build_softmax_bwd_module(N: int, dtype_str: str = "f32", config: RowConfig | None = None) -> Callable[..., Any]:
    """Build the launcher `(DY, Y, DX, m_in, stream)`.

    DY, Y and DX are (rows, N) tensors of `dtype_str` ("f32", "f16", "bf16") with unit stride along a row, or pointers
    to contiguous ones; Y is what the forward gave.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive and for an unknown dtype, ImportError without the compiler.
    """
    element = float_type(dtype_str)
    plan = plan_rows(N, element.width, row_config("softmax_bwd", N, element.width, config))

    def held_row(dy_row: RowView, y_row: RowView, dx_row: RowView, at: RowThread) -> None:
        dys = [dy_row.load(step) for step in plan.tiles]
        ys = [y_row.load(step) for step in plan.tiles]
        dys, ys = [one.to(fx.Float32) for one in dys], [one.to(fx.Float32) for one in ys]
        dot = at.sum(dy * y for dy, y in zip(dys, ys, strict=True))
        for step, dy, y in zip(plan.tiles, dys, ys, strict=True):
            dx_row.store(step, y * minus(dy, dot))

    def streamed_row(dy_row: RowView, y_row: RowView, dx_row: RowView, at: RowThread) -> None:
        def add(state: list[Any], step: Step) -> list[Any]:
            return [state[0] + (dy_row.load_f32(step) * y_row.load_f32(step)).reduce("add")]

        (partial,) = stream(plan, [fx.Float32(0.0)], add)
        dot = at.reduce(partial, "add")

        def write(state: list[Any], step: Step) -> list[Any]:
            dx_row.store(step, y_row.load_f32(step) * minus(dy_row.load_f32(step), dot))
            return state

        stream(plan, [], write)

    @flyc.kernel(name=f"softmax_bwd_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def softmax_bwd_kernel(DY: Any, Y: Any, DX: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(DY, Y, DX, m_in)
        if at.first < m_in:
            dy_row, y_row, dx_row = (RowView(one, at, at.first) for one in (DY, Y, DX))
            with fx.fastmath("contract"):
                if fx.const_expr(plan.in_registers):
                    held_row(dy_row, y_row, dx_row, at)
                else:
                    streamed_row(dy_row, y_row, dx_row, at)

    @flyc.jit
    def softmax_bwd(DY: Any, Y: Any, DX: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        for name, tensor in (("DY", DY), ("Y", Y), ("DX", DX)):
            expect_rows(name, tensor, element, N, m_in, written=name == "DX")
        grid = (m_in + plan.rows - 1) // plan.rows
        softmax_bwd_kernel(DY, Y, DX, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return softmax_bwd

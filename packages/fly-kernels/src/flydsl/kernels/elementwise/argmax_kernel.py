# SPDX-License-Identifier: Apache-2.0
"""The place of the largest element of each row: the first of several equal ones.

First the maximum of the row, then the smallest index that holds it: two reductions. The row is read once up to 65,536
elements and twice above.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, highest, plan_rows, row_config, stream
from ..common.views import load_arguments

_NOWHERE = 2**31 - 1


@rows_builder
def build_argmax_module(N: int, dtype_str: str = "f32", config: RowConfig | None = None) -> Callable[..., Any]:
    """Build the launcher `(X, Index, m_in, stream)`.

    X (M, N) of `dtype_str` ("f32", "f16", "bf16") with unit stride along a row, or contiguous rows flattened or as a
    pointer; Index (M,) of int32 or int64. NaN is ignored; a row of NaN only gives 0.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive and for an unknown dtype; ImportError without the compiler.
    """
    element = float_type(dtype_str)
    plan = plan_rows(N, element.width, row_config("argmax", N, element.width, config))

    def first_index(values: Any, largest: Any, at: RowThread, step: Step) -> Any:
        """The smallest index of this thread's elements that equal `largest`."""
        found, columns = fx.Int32(_NOWHERE), at.columns(step)
        for index in fx.range_constexpr(step.elements - 1, -1, -1):
            found = (values[index] == largest).select(columns[index], found)
        return found if step.groups is None else at.has(step).select(found, fx.Int32(_NOWHERE))

    def held(source: RowView, at: RowThread) -> Any:
        values = [source.load(step, -math.inf) for step in plan.tiles]
        values = [one.to(fx.Float32) for one in values]
        largest = at.max(values)
        found = fx.Int32(_NOWHERE)
        for step, one in zip(plan.tiles, values, strict=True):
            found = fx.min(found, first_index(one, largest, at, step))
        return found

    def streamed(source: RowView, at: RowThread) -> Any:
        def rise(state: list[Any], step: Step) -> list[Any]:
            return [fx.maxnumf(state[0], highest([source.load_f32(step, -math.inf)]))]

        largest = at.reduce(stream(plan, [fx.Float32(-math.inf)], rise)[0], "max")

        def find(state: list[Any], step: Step) -> list[Any]:
            return [fx.min(state[0], first_index(source.load_f32(step, -math.inf), largest, at, step))]

        return stream(plan, [fx.Int32(_NOWHERE)], find)[0]

    @flyc.kernel(name=f"argmax_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def argmax_kernel(X: Any, Index: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(X, Index, m_in)
        if at.first < m_in:
            source = RowView(X, at, at.first)
            found = at.reduce(held(source, at) if plan.in_registers else streamed(source, at), "min")
            found = (found == _NOWHERE).select(fx.Int32(0), found)
            at.keep(Index, at.first, found)

    @flyc.jit
    def argmax(X: Any, Index: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        expect_rows("X", X, element, N, m_in)
        expect_row("Index", Index, fx.Int64 if Index.element_type is fx.Int64 else fx.Int32, m_in)
        argmax_kernel(X, Index, m_in).launch(
            grid=((m_in + plan.rows - 1) // plan.rows,), block=(plan.block,), stream=stream
        )

    return argmax

# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix, forward.

y[m, n] = exp(x[m, n] - max_k x[m, k]) / sum_k exp(x[m, k] - max_k x[m, k]), in f32, rounded once to the element type.

The threads of a row (see `common.rows`) hold it in registers: it is read once and written once, with two reductions in
between, of the maximum and of the sum. On sm_90a most rows of 16 bits and 16,385 to 32,768 elements are held in their
own type, and their exponentials are computed twice (`compact.py`). A row longer than 65,536 elements is read twice, the
first time with the running maximum and the rescaled running sum (Milakov and Gimelshein, "Online normalizer calculation
for softmax", 2018).

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..common.arch import architecture
from ..common.black_box import black_box_vector
from ..common.convert import exp2, minus, reciprocal
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_arguments
from .compact import COMPACT_THREADS, softmax_together

_LOG2_E = math.log2(math.e)


@rows_builder
def build_softmax_module(N: int, dtype_str: str = "f32", config: RowConfig | None = None) -> Callable[..., Any]:
    """Build the launcher of a row softmax.

    `build_softmax_module(M, N, dtype_str)`, or `build_softmax_module(N, dtype_str)`: M only documents the caller's
    intent.

    Returns a `@flyc.jit` function `(A, C, m_in, stream)`: A and C are (rows, N) tensors of `dtype_str` ("f32", "f16",
    "bf16") with unit stride along a row and any stride between rows, or contiguous ones flattened, or pointers to them;
    rows 0 to m_in - 1 of C are written. C may be A.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive and for an unknown dtype, ImportError without the compiler.
    """
    element = float_type(dtype_str)
    chosen = row_config("softmax", N, element.width, config)
    together = softmax_together(N, element.width) if config is None else None
    if together is not None:
        chosen = replace(chosen, block=COMPACT_THREADS, held=-(-N // COMPACT_THREADS))
    plan = plan_rows(N, element.width, chosen)

    def exponentials(values: Any, highest: Any) -> Any:
        return exp2(minus(values, highest) * _LOG2_E)

    def held_row(source: RowView, target: RowView, at: RowThread) -> None:
        values = [source.load(step, -math.inf) for step in plan.tiles]
        values = [one.to(fx.Float32) for one in values]
        highest = at.max(values)
        values = [exponentials(one, highest) for one in values]
        scale = reciprocal(at.sum(values))
        for step, one in zip(plan.tiles, values, strict=True):
            target.store(step, one * scale)

    def compact_row(source: RowView, target: RowView, at: RowThread) -> None:
        """A row that is in registers in its own type, and is converted for each pass over it."""
        held = source.load_passes(plan.tiles)

        def values() -> Iterator[Any]:
            converted = (black_box_vector(one).to(fx.Float32) for one in held)
            return (at.only(step, one, -math.inf) for (step, _), one in zip(plan.passes, converted, strict=True))

        highest = at.max(values())
        scale = reciprocal(at.sum(exponentials(one, highest) for one in values()))
        for (step, index), one in zip(plan.passes, values(), strict=True):
            target.store_pass(step, index, exponentials(one, highest) * scale)

    def streamed_row(source: RowView, target: RowView, at: RowThread) -> None:
        def add(state: list[Any], step: Step) -> list[Any]:
            highest, total = state
            values = source.load_f32(step, -math.inf)
            risen = fx.maxnumf(highest, values.reduce("max"))
            # Until a finite value has come, both maxima are -inf and their difference is no number.
            kept = (risen == -math.inf).select(fx.Float32(0.0), risen)
            rescaled = total * fx.exp2((highest - kept) * _LOG2_E)
            return [risen, rescaled + exponentials(values, kept).reduce("add")]

        highest, total = stream(plan, [fx.Float32(-math.inf), fx.Float32(0.0)], add)
        row_highest = at.reduce(highest, "max")
        kept = (row_highest == -math.inf).select(fx.Float32(0.0), row_highest)
        scale = reciprocal(at.reduce(total * fx.exp2((highest - kept) * _LOG2_E), "add"))

        def write(state: list[Any], step: Step) -> list[Any]:
            target.store(step, exponentials(source.load_f32(step, -math.inf), row_highest) * scale)
            return state

        stream(plan, [], write)

    @flyc.kernel(name=f"softmax_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def softmax_kernel(A: Any, C: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan, m_in, element)
        load_arguments(A, C, m_in)
        if at.first < m_in:
            source, target = RowView(A, at, at.first), RowView(C, at, at.first)
            if fx.const_expr(together is not None):
                compact_row(source, target, at)
            elif fx.const_expr(plan.in_registers):
                held_row(source, target, at)
            else:
                streamed_row(source, target, at)

    @flyc.jit
    def softmax(A: Any, C: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        expect_rows("A", A, element, N, m_in)
        expect_rows("C", C, element, N, m_in, written=True)
        grid = (m_in + plan.rows - 1) // plan.rows
        attributes = {"nvvm.minctasm": together} if together is not None and architecture().nvidia else None
        softmax_kernel(A, C, m_in, value_attrs=attributes).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return softmax

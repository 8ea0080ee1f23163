# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits with one scale per row (token).

scale[m] = max_n |x[m, n]| / largest (1 where that is 0), q = round(x / scale[m]) to nearest even; largest is 127 for
int8, 240 for fp8 on gfx942 (E4M3FNUZ), 448 for fp8 on gfx950 (E4M3FN).

x is read once, in 16-byte accesses, and kept in registers up to 65,536 elements a row (a longer one is read twice); q
is written once. Both divisions are rounded to f32 to nearest even, so that the bits are those of any exact one. A scale
is 2^-126, the smallest normal number, or more.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 (int8 only) and gfx1201.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.convert import Divisor
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_arguments
from .codes import code


@rows_builder
def build_per_token_quant_module(
    N: int, dtype_str: str = "bf16", quant_dtype_str: str = "fp8", config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(Input, Output, Scale, m_in, stream)`.

    Input (M, N) of `dtype_str` ("f32", "f16", "bf16") and Output (M, N) of `quant_dtype_str` ("fp8", "int8") have unit
    stride along a row, or are contiguous rows flattened or as pointers; Scale (M,) is f32. An fp8 output may be an int8
    or uint8 tensor of the same bytes.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive and for an unknown dtype, ImportError without the compiler.
    """
    element, target = float_type(dtype_str), code(quant_dtype_str)
    plan = plan_rows(N, element.width, row_config("per_token_quant", N, element.width, config))

    def divisor_of(largest: Any, Scale: Any, at: RowThread) -> Divisor:
        """The row's scale, which is stored."""
        scale = target.scale_of(largest)
        at.keep(Scale, at.first, scale)
        return Divisor(scale)

    def held_row(source: RowView, output: RowView, Scale: Any, at: RowThread) -> None:
        values = [source.load(step) for step in plan.tiles]
        values = [one.to(fx.Float32) for one in values]
        divisor = divisor_of(at.max(fx.absf(one) for one in values), Scale, at)
        for step, one in zip(plan.tiles, values, strict=True):
            output.store(step, target.quantise(one, divisor, output.element))

    def streamed_row(source: RowView, output: RowView, Scale: Any, at: RowThread) -> None:
        def raise_largest(state: list[Any], step: Step) -> list[Any]:
            return [fx.maxnumf(state[0], fx.absf(source.load_f32(step)).reduce("max"))]

        (largest,) = stream(plan, [fx.Float32(0.0)], raise_largest)
        divisor = divisor_of(at.reduce(largest, "max"), Scale, at)

        def write(state: list[Any], step: Step) -> list[Any]:
            output.store(step, target.quantise(source.load_f32(step), divisor, output.element))
            return state

        stream(plan, [], write)

    @flyc.kernel(name=f"per_token_{target.name}_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def per_token_quant_kernel(Input: Any, Output: Any, Scale: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(Input, Output, Scale, m_in)
        if at.first < m_in:
            source, output = RowView(Input, at, at.first), RowView(Output, at, at.first)
            if fx.const_expr(plan.in_registers):
                held_row(source, output, Scale, at)
            else:
                streamed_row(source, output, Scale, at)

    @flyc.jit
    def per_token_quant(
        Input: Any, Output: Any, Scale: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        expect_count("m_in", m_in)
        expect_rows("Input", Input, element, N, m_in)
        target.expect("Output", Output)
        expect_rows("Output", Output, Output.element_type, N, m_in, written=True)
        expect_row("Scale", Scale, fx.Float32, m_in)
        grid = (m_in + plan.rows - 1) // plan.rows
        per_token_quant_kernel(Input, Output, Scale, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return per_token_quant

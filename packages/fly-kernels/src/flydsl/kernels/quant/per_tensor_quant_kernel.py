# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits with one scale for the whole tensor, found or given.

scale = max |x| / largest (1 where that is 0), q = round(x / scale) to nearest even; the types, and the rounding of both
divisions, are those of `per_token_quant_kernel`. With a given scale what is beyond the type's range becomes its largest
number.

Three kernels: the largest magnitude of each row, into a workspace of a number a row; the scale of these; the codes. A
maximum has no order, so that nothing has to be zeroed, and results are reproducible. x is read twice, with a given
scale once; q is written once.

Limits: those of `per_token_quant_kernel`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.convert import Divisor
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.reduce import block_reduce
from ..common.row_arguments import expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_number, store_number
from .codes import code

__all__ = ["build_per_tensor_quant_module"]

_THREADS = 1024  # of the workgroup that looks at all rows' maxima


@rows_builder
def build_per_tensor_quant_module(
    N: int,
    dtype_str: str = "bf16",
    quant_dtype_str: str = "fp8",
    static_scale: bool = False,
    config: RowConfig | None = None,
) -> Callable[..., None]:
    """Build the launcher `(Input, Output, Scale, Workspace, m_in, stream)`, with `static_scale` without Workspace.

    Input and Output (M, N) are those of `build_per_token_quant_module`; Scale (1,) f32 is written, or with
    `static_scale` read; Workspace (M,) f32 holds anything.

    Raises ValueError for an N that is not positive and for an unknown dtype, ImportError without the compiler.
    """
    element, target = float_type(dtype_str), code(quant_dtype_str)
    plan = plan_rows(N, element.width, row_config("per_token_quant", N, element.width, config))
    name = f"per_tensor_{target.name}_{dtype_str}_{N}"

    @flyc.kernel(name=f"{name}_rows", known_block_size=(plan.block, 1, 1))
    def largest_of_rows(Input: Any, Workspace: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        if at.first < m_in:
            source = RowView(Input, at, at.first)

            def raise_largest(state: list[Any], step: Step) -> list[Any]:
                return [fx.maxnumf(state[0], fx.absf(source.load_f32(step)).reduce("max"))]

            if fx.const_expr(plan.in_registers):
                largest = at.max(fx.absf(source.load_f32(step)) for step in plan.tiles)
            else:
                (found,) = stream(plan, [fx.Float32(0.0)], raise_largest)
                largest = at.reduce(found, "max")
            at.keep(Workspace, at.first, largest)

    @flyc.kernel(name=f"{name}_scale", known_block_size=(_THREADS, 1, 1))
    def scale_of_rows(Workspace: Any, Scale: Any, m_in: fx.Int32) -> None:
        thread = fx.thread_idx.x
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, _THREADS // fx.num_warp_threads(), 16]).peek()
        largest, row = fx.Float32(0.0), fx.Int32(thread)
        while row < m_in:
            largest = fx.maxnumf(largest, load_number(Workspace, row, row < m_in))
            row = row + _THREADS
        scale = target.scale_of(block_reduce(largest, "max", slots, thread, _THREADS))
        store_number(Scale, 0, scale, thread == 0)

    @flyc.kernel(name=f"{name}_codes{'_static' * static_scale}", known_block_size=(plan.block, 1, 1))
    def codes_of_rows(Input: Any, Output: Any, Scale: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        if at.first < m_in:
            source, output = RowView(Input, at, at.first), RowView(Output, at, at.first)
            divisor = Divisor(load_number(Scale, 0, fx.Boolean(True)))

            def write(state: list[Any], step: Step) -> list[Any]:
                quotients = divisor.of(source.load_f32(step), finite=not static_scale)
                if static_scale:
                    quotients = target.limited(quotients)
                output.store(step, target.encode(quotients, output.element))
                return state

            if fx.const_expr(plan.in_registers):
                for step in plan.tiles:
                    write([], step)
            else:
                stream(plan, [], write)

    def check(Input: Any, Output: Any, Scale: Any, m_in: Any) -> Any:
        """The workgroups for the rows."""
        expect_count("m_in", m_in)
        expect_rows("Input", Input, element, N, m_in)
        target.expect("Output", Output)
        expect_rows("Output", Output, Output.element_type, N, m_in, written=True)
        expect_row("Scale", Scale, fx.Float32, 1)
        return (m_in + plan.rows - 1) // plan.rows

    @flyc.jit
    def per_tensor_quant(
        Input: Any, Output: Any, Scale: Any, Workspace: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        grid = check(Input, Output, Scale, m_in)
        expect_row("Workspace", Workspace, fx.Float32, m_in)
        largest_of_rows(Input, Workspace, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)
        scale_of_rows(Workspace, Scale, m_in).launch(grid=(1,), block=(_THREADS,), stream=stream)
        codes_of_rows(Input, Output, Scale, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)

    @flyc.jit
    def per_tensor_quant_static(
        Input: Any, Output: Any, Scale: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        grid = check(Input, Output, Scale, m_in)
        codes_of_rows(Input, Output, Scale, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)

    built: Callable[..., None] = per_tensor_quant_static if static_scale else per_tensor_quant
    return built

# SPDX-License-Identifier: Apache-2.0
"""Gated activations: y[m, n] = f(x[m, n]) · x[m, N + n], x of 2 · N columns (gate, then up).

f = silu is SwiGLU, gelu is GEGLU, relu ReGLU, sigmoid GLU. A thread reads 16 bytes of the gate and the 16 bytes of the
other half that belong to them; x is read once and y written once.
"""

from __future__ import annotations

from typing import Any

from ..common.dtypes import expect_rows, float_type, rows_builder
from ..common.language import flyc, fx
from ..common.rows import RowThread, RowView, Step, plan_rows, stream
from .functions import UNARY, function


@rows_builder
def build_gated_module(N: int, dtype_str: str = "bf16", activation: str = "silu") -> Any:
    """Build the launcher `(X, Y, m_in, stream)`.

    X (M, 2·N) and Y (M, N) of `dtype_str` ("f32", "f16", "bf16") have unit stride along a row, or are pointers to
    contiguous rows. `activation` is a key of `functions.UNARY`.

    Raises ValueError for an N that is not positive, an unknown dtype or activation; ImportError without the compiler.
    """
    element, apply = float_type(dtype_str), function(UNARY, activation)
    plan = plan_rows(N, element.width)

    @flyc.kernel(name=f"gated_{activation}_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def gated_kernel(X: Any, Y: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        if at.first < m_in:
            gates, target = RowView(X, at, at.first, columns=2 * N), RowView(Y, at, at.first)
            others = gates.shifted(N)
            if fx.const_expr(plan.in_registers):
                pairs = [(gates.load(step), others.load(step)) for step in plan.steps]
                for step, (gate, other) in zip(plan.steps, pairs, strict=True):
                    target.store(step, apply(gate.to(fx.Float32)) * other.to(fx.Float32))
            else:

                def write(state: list[Any], step: Step) -> list[Any]:
                    target.store(step, apply(gates.load_f32(step)) * others.load_f32(step))
                    return state

                stream(plan, [], write)

    @flyc.jit
    def gated(X: Any, Y: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_rows("X", X, element, 2 * N)
        expect_rows("Y", Y, element, N)
        gated_kernel(X, Y, m_in).launch(grid=((m_in + plan.rows - 1) // plan.rows,), block=(plan.block,), stream=stream)

    return gated

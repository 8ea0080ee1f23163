# SPDX-License-Identifier: Apache-2.0
"""Gated activations: y[m, n] = f(x[m, n]) · x[m, N + n], x of 2 · N columns (gate, then up); and their backward.

    dx[m, n] = dy[m, n] · x[m, N + n] · f'(x[m, n])        dx[m, N + n] = dy[m, n] · f(x[m, n])

f = silu is SwiGLU, gelu is GEGLU, relu ReGLU, sigmoid GLU. A thread reads 16 bytes of the gate and the 16 bytes of the
other half that belong to them; x (and dy) are read once, y (or dx) is written once.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.arch import architecture
from ..common.dtypes import float_type, rows_builder
from ..common.functions import GRADIENTS, UNARY, function
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_arguments

_PART = 2


def _by_parts(body: Callable[..., Any], *vectors: Any) -> Any:
    """What `body` makes of vectors of Float32; on NVIDIA's GPUs of a few elements after the other.

    What is between is then that of a few elements. Of all that a thread has of a row it would not fit the registers of
    512 threads: an erf and its gradient take many.
    """
    count = vectors[0].numel
    if not architecture().nvidia or count <= _PART:
        return body(*vectors)
    found: list[Any] = []
    for first in fx.range_constexpr(0, count, _PART):
        places = list(fx.range_constexpr(first, min(first + _PART, count)))
        part = body(*[one.shuffle(one, places) for one in vectors])
        found += [part[index] for index in fx.range_constexpr(part.numel)]
    return fx.Vector.from_elements(found)


@rows_builder
def build_gated_module(
    N: int, dtype_str: str = "bf16", activation: str = "silu", config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(X, Y, m_in, stream)`.

    X (M, 2·N) and Y (M, N) of `dtype_str` ("f32", "f16", "bf16") have unit stride along a row, or are contiguous
    rows flattened or as pointers. `activation` is a key of `functions.UNARY`.

    `config` is a division of rows among threads other than the default.

    Raises ValueError for an N that is not positive, an unknown dtype or activation; ImportError without the compiler.
    """
    element, apply = float_type(dtype_str), function(UNARY, activation)
    plan = plan_rows(N, element.width, row_config("gated", N, element.width, config))

    @flyc.kernel(name=f"gated_{activation}_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def gated_kernel(X: Any, Y: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(X, Y, m_in)
        if at.first < m_in:
            gates, target = RowView(X, at, at.first, columns=2 * N), RowView(Y, at, at.first)
            others = gates.shifted(N)
            if fx.const_expr(plan.in_registers):
                pairs = [(gates.load(step), others.load(step)) for step in plan.tiles]
                for step, (gate, other) in zip(plan.tiles, pairs, strict=True):
                    target.store(step, _by_parts(apply, gate.to(fx.Float32)) * other.to(fx.Float32))
            else:

                def write(state: list[Any], step: Step) -> list[Any]:
                    target.store(step, _by_parts(apply, gates.load_f32(step)) * others.load_f32(step))
                    return state

                stream(plan, [], write)

    @flyc.jit
    def gated(X: Any, Y: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        expect_rows("X", X, element, 2 * N, m_in)
        expect_rows("Y", Y, element, N, m_in, written=True)
        gated_kernel(X, Y, m_in).launch(grid=((m_in + plan.rows - 1) // plan.rows,), block=(plan.block,), stream=stream)

    return gated


@rows_builder
def build_gated_bwd_module(
    N: int, dtype_str: str = "bf16", activation: str = "silu", config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(DY, X, DX, m_in, stream)`.

    X and DX (M, 2·N), DY (M, N), as in `build_gated_module`; `activation` is a key of `functions.GRADIENTS`. Raises as
    that does.
    """
    element, apply, gradient = float_type(dtype_str), function(UNARY, activation), function(GRADIENTS, activation)
    plan = plan_rows(N, element.width, row_config("gated", N, element.width, config))

    @flyc.kernel(name=f"gated_bwd_{activation}_{dtype_str}_{N}", known_block_size=(plan.block, 1, 1))
    def gated_bwd_kernel(DY: Any, X: Any, DX: Any, m_in: fx.Int32) -> None:
        at = RowThread(plan)
        load_arguments(DY, X, DX, m_in)
        if at.first < m_in:
            dys = RowView(DY, at, at.first)
            gates, targets = (RowView(one, at, at.first, columns=2 * N) for one in (X, DX))

            def write(state: list[Any], step: Step) -> list[Any]:
                dy, gate, other = (one.load_f32(step) for one in (dys, gates, gates.shifted(N)))
                targets.store(step, _by_parts(lambda dy, other, gate: gradient(dy * other, gate), dy, other, gate))
                targets.shifted(N).store(step, _by_parts(lambda dy, gate: dy * apply(gate), dy, gate))
                return state

            if fx.const_expr(plan.in_registers):
                for step in plan.tiles:
                    write([], step)
            else:
                stream(plan, [], write)

    @flyc.jit
    def gated_bwd(DY: Any, X: Any, DX: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect_count("m_in", m_in)
        expect_rows("DY", DY, element, N, m_in)
        for name, tensor in (("X", X), ("DX", DX)):
            expect_rows(name, tensor, element, 2 * N, m_in, written=name == "DX")
        grid = (m_in + plan.rows - 1) // plan.rows
        gated_bwd_kernel(DY, X, DX, m_in).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return gated_bwd

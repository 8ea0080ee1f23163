# SPDX-License-Identifier: Apache-2.0
"""The body that the backward norms share: LayerNorm and RMSNorm, with a residual's gradient or without.

    x̂ = (x - mean) · rstd, mean = 0 for RMSNorm;  g = dy · gamma
    dx     = (g - [mean_n(g)] - x̂ · mean_n(g · x̂)) · rstd [+ dresidual]      the first mean for LayerNorm only
    dgamma = sum_m dy · x̂,  dbeta = sum_m dy                                 f32

A workgroup handles several rows one after the other, with the sums of its part of dgamma (and dbeta) in registers.
They then go to memory in one of two ways:

    atomic     added to the result, which the caller has zeroed; the order of additions, and so the last places, vary
    two-stage  stored as one row of `Partial` for each workgroup; a second kernel adds these, in a fixed order

Data movement: x and dy are read once and dx is written once; gamma is read once per workgroup. A row longer than
16,384 elements (of f32 on sm_90a: 12,288) is read twice, and its sums are added to memory row by row. On sm_90a the
sums of rows of more than 8,192 are in LDS as far as they fit there (`lds_sums.py`), of up to 24,576 elements of
LayerNorm and 49,152 of RMSNorm; rows that are held beside them read gamma twice each, from the L1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from ..common.arch import architecture
from ..common.black_box import black_box_vector
from ..common.checks import positive_integer
from ..common.coalesced_store import CoalescedStore
from ..common.convert import minus
from ..common.dtypes import row_and_weight_types
from ..common.language import flyc, fx
from ..common.row_arguments import expect_columns, expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowThread, RowView, Step, plan_rows, row_config, stream, total
from ..common.views import start_of
from .column_sums import column_sums
from .forward import even_grid, programs
from .lds_sums import LdsSums, lds_sums


@dataclass(frozen=True)
class BackwardNorm:
    """Which norm; the fields are those of the builders in `layernorm_bwd_kernel` and `rmsnorm_bwd_kernel`."""

    centred: bool  # LayerNorm; else RMSNorm
    columns: int
    dtype: str
    weight_dtype: str | None  # None: that of the rows
    residual: bool = False
    programs: int | None = None  # of the two-stage form; None: atomic
    config: RowConfig | None = None

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        parts = ["layernorm_bwd" if self.centred else "rmsnorm_bwd", "add" if self.residual else ""]
        parts += [f"p{self.programs}" if self.programs else "", self.dtype, str(self.columns)]
        return "_".join(part for part in parts if part)


def backward_norm(norm: BackwardNorm) -> Callable[[SimpleNamespace, Any, Any], None]:
    """The function that checks the arguments (by the kernel's names for them) and launches, for a `@flyc.jit` body.

    The two-stage form launches both stages. Raises as `forward_norm` does, and ValueError for a number of programs that
    is not positive.
    """
    element, weight = row_and_weight_types(norm.dtype, norm.weight_dtype)
    if norm.programs is not None:
        positive_integer("num_programs", norm.programs)
    config = row_config("norm_bwd", norm.columns, element.width, norm.config)
    if norm.config is None and architecture().nvidia and element.width == 32:
        config = replace(config, held=24)  # x and dy of more take the registers of gamma and a residual: read twice
    plan = plan_rows(norm.columns, element.width, replace(config, single=True))
    of_columns = 1.0 / norm.columns
    sums = 2 if norm.centred else 1  # dgamma, dbeta
    in_lds = lds_sums(plan, sums, residual=norm.residual)
    add_up = column_sums(norm.columns, norm.programs) if norm.programs else None

    class Row:
        """One row: its views and numbers, and what becomes of a vector."""

        def __init__(self, tensors: SimpleNamespace, at: RowThread, row: Any) -> None:
            self.at = at
            self.input = RowView(tensors.Added if norm.residual else tensors.Input, at, row)
            self.dy = RowView(tensors.DY, at, row)
            self.dx = RowView(tensors.DX, at, row)
            self.dresidual = RowView(tensors.DResidualOut, at, row) if norm.residual else None
            self.rstd = at.number(tensors.Rstd, row)
            self.mean = at.number(tensors.Mean, row) if norm.centred else None

        def normalised(self, values: Any) -> Any:
            return (minus(values, self.mean) if norm.centred else values) * self.rstd

        def store(self, step: Step, scaled: Any, hat: Any, centre: Any, slope: Any) -> None:
            dx = scaled + hat * (-slope)
            if norm.centred:
                dx = minus(dx, centre)
            dx = dx * self.rstd
            if self.dresidual is not None:
                dx = dx + self.dresidual.load_f32(step)
            self.dx.store(step, dx)

        def means(self, scaled: Any, products: Any) -> tuple[Any, Any]:
            """mean_n(g) (of LayerNorm) and mean_n(g · x̂), from the threads' own sums."""
            centre = self.at.reduce(scaled, "add") * of_columns if norm.centred else None
            return centre, self.at.reduce(products, "add") * of_columns

    def held_rows(tensors: SimpleNamespace, at: RowThread, m_in: Any) -> None:
        steps = plan.tiles
        gamma = [RowView(tensors.Gamma, at).load(step) for step in steps]
        state = [fx.full(step.elements, 0.0, fx.Float32) for _ in range(sums) for step in steps]
        state = all_rows(tensors, at, m_in, steps, gamma, state)
        store = CoalescedStore(plan, at)
        for index, target in enumerate(targets(tensors)):
            for step, values in zip(steps, state[index * len(steps) : (index + 1) * len(steps)], strict=True):
                store.write(step, values, target, operation())

    def all_rows(tensors: Any, at: Any, m_in: Any, steps: Any, gamma: Any, state: Any) -> Any:
        turn = fx.Int32(0)
        for row in range(at.first, m_in, fx.grid_dim.x):
            at.next_row(turn)
            this = Row(tensors, at, row)
            inputs = [this.input.load(step) for step in steps]
            dys = [this.dy.load(step) for step in steps]
            dys = [one.to(fx.Float32) for one in dys]
            hats = [this.normalised(one.to(fx.Float32)) for one in inputs]
            scaled = [dy * one.to(fx.Float32) for dy, one in zip(dys, gamma, strict=True)]
            products = total(one * hat for one, hat in zip(scaled, hats, strict=True))
            centre, slope = this.means(total(scaled), products)
            for step, one, hat in zip(steps, scaled, hats, strict=True):
                this.store(step, one, hat, centre, slope)
            added = [dy * hat for dy, hat in zip(dys, hats, strict=True)] + (dys if norm.centred else [])
            state = [one + other for one, other in zip(state, added, strict=True)]
            turn = turn + 1
        return state

    def raw_rows(tensors: SimpleNamespace, at: RowThread, m_in: Any) -> None:
        """Rows that are in registers as they were read, one vector after the other; the sums are in LDS."""
        steps, gamma = plan.steps, RowView(tensors.Gamma, at)
        added = LdsSums(plan, at, sums)
        for step in steps:
            added.clear(step)
        turn = fx.Int32(0)
        for row in range(at.first, m_in, fx.grid_dim.x):
            at.next_row(turn)
            raw_row(Row(tensors, at, row), gamma, added)
            turn = turn + 1
        store_sums(tensors, at, added)

    def raw_row(this: Row, gamma: RowView, added: LdsSums) -> None:
        steps = plan.steps
        held = [(this.input.load(step), this.dy.load(step)) for step in steps]

        def parts(index: int) -> tuple[Any, Any, Any]:
            """dy, g and x̂ of a step, computed anew."""
            read = (*held[index], gamma.load(steps[index]))
            raw, dy, weight = (black_box_vector(one).to(fx.Float32) for one in read)
            return dy, dy * weight, this.normalised(raw)

        scaled_sums: dict[int, Any] = {}  # by the number of elements
        product_sums: dict[int, Any] = {}
        for index, step in enumerate(steps):
            dy, scaled, hat = parts(index)
            for into, one in ((scaled_sums, scaled), (product_sums, scaled * hat)):
                into[step.vector] = into[step.vector] + one if step.vector in into else one
        centre, slope = this.means(total(scaled_sums.values()), total(product_sums.values()))
        for index, step in enumerate(steps):
            dy, scaled, hat = parts(index)
            this.store(step, scaled, hat, centre, slope)
            added.add(step, *[dy * hat, dy][:sums])

    def store_sums(tensors: SimpleNamespace, at: RowThread, added: LdsSums) -> None:
        """The sums of this workgroup from LDS to where they belong."""
        into, store = targets(tensors), CoalescedStore(plan, at)

        def write(state: list[Any], step: Step) -> list[Any]:
            for index, target in enumerate(into):
                store.write(step, added.of(step, index), target, operation())
            return state

        stream(replace(plan, unroll=1), [], write)

    def operation() -> Any:
        """The copy operation that puts a sum of this workgroup where it belongs."""
        return fx.UniversalCopy(32) if norm.programs else fx.UniversalAtomicAdd(fx.Float32, fx.rocdl.SyncScope.Agent)

    def targets(tensors: SimpleNamespace) -> list[fx.Tensor]:
        """Where the sums of this workgroup belong, (N,) each."""
        if norm.programs:
            partial = fx.make_view(
                start_of(tensors.Partial), fx.make_layout((norm.columns, norm.programs), (1, norm.columns))
            )
            return [partial[None, fx.Int64(fx.block_idx.x)]]
        names = ("DGamma", "DBias") if norm.centred else ("DWeight",)
        return [fx.make_view(start_of(getattr(tensors, name)), fx.make_layout(norm.columns, 1)) for name in names]

    def streamed_rows(tensors: SimpleNamespace, at: RowThread, m_in: Any) -> None:
        gamma = RowView(tensors.Gamma, at)
        added = LdsSums(plan, at, sums) if in_lds else None
        if added is not None:

            def clear_sums(state: list[Any], step: Step) -> list[Any]:
                added.clear(step)
                return state

            def accumulate(step: Step, dy: Any, products: Any) -> None:
                added.add(step, *[products, dy][:sums])

            stream(plan, [], clear_sums)
        elif norm.programs:  # the workgroup's row of Partial is added to, row by row, by the thread that owns the place
            partial = RowView(tensors.Partial, at, fx.block_idx.x, stride=norm.columns)

            def clear(state: list[Any], step: Step) -> list[Any]:
                partial.store(step, fx.full(step.elements, 0.0, fx.Float32))
                return state

            def accumulate(step: Step, dy: Any, products: Any) -> None:
                partial.store(step, partial.load(step) + products)

            stream(plan, [], clear)
        else:
            into, store = targets(tensors), CoalescedStore(plan, at)

            def accumulate(step: Step, dy: Any, products: Any) -> None:
                for target, values in zip(into, (products, dy), strict=False):
                    store.write(step, values, target, operation())

        for row in range(at.first, m_in, fx.grid_dim.x):
            streamed_row(Row(tensors, at, row), gamma, accumulate)
        if added is not None:
            store_sums(tensors, at, added)

    def streamed_row(this: Row, gamma: RowView, accumulate: Callable[[Step, Any, Any], None]) -> None:
        this.at.next_row(fx.Int32(0))

        def parts(step: Step) -> tuple[Any, Any, Any]:
            """dy, g and x̂."""
            dy = this.dy.load_f32(step)
            hat = this.normalised(this.input.load_f32(step))
            return dy, dy * gamma.load_f32(step), hat

        def add(state: list[Any], step: Step) -> list[Any]:
            _, scaled, hat = parts(step)
            return [state[0] + scaled.reduce("add"), state[1] + (scaled * hat).reduce("add")]

        fx.barrier()  # the reductions of the row before have been read by all waves
        zero = fx.Float32(0.0)
        centre, slope = this.means(*stream(plan, [zero, zero], add))

        def write(state: list[Any], step: Step) -> list[Any]:
            dy, scaled, hat = parts(step)
            this.store(step, scaled, hat, centre, slope)
            accumulate(step, dy, dy * hat)
            return state

        stream(plan, [], write)

    @flyc.kernel(name=norm.name, known_block_size=(plan.block, 1, 1))
    def norm_bwd_kernel(tensors: SimpleNamespace, m_in: fx.Int32) -> None:
        at = RowThread(plan, static=not in_lds)
        with fx.fastmath("contract"):
            if fx.const_expr(plan.in_registers and in_lds):
                raw_rows(tensors, at, m_in)
            elif fx.const_expr(plan.in_registers):
                held_rows(tensors, at, m_in)
            else:
                streamed_rows(tensors, at, m_in)

    def check(tensors: SimpleNamespace, m_in: Any) -> None:
        expect_count("m_in", m_in)
        for name in ("Added", "DResidualOut") if norm.residual else ("Input",):
            expect_rows(name, getattr(tensors, name), element, norm.columns, m_in)
        expect_rows("DY", tensors.DY, element, norm.columns, m_in)
        expect_rows("DX", tensors.DX, element, norm.columns, m_in, written=True)
        expect_columns("Gamma", tensors.Gamma, weight, norm.columns)
        for name in ("Mean", "Rstd") if norm.centred else ("Rstd",):
            expect_row(name, getattr(tensors, name), fx.Float32, m_in)
        for name in ("DGamma", "DBias") if norm.centred else ("DWeight",):
            expect_columns(name, getattr(tensors, name), fx.Float32, norm.columns)
        if norm.programs:
            expect_row("Partial", tensors.Partial, fx.Float32, norm.programs * norm.columns)

    def launch(tensors: SimpleNamespace, m_in: Any, stream: Any) -> None:
        check(tensors, m_in)
        # The two-stage form writes all rows of Partial, those of workgroups without a row too.
        grid = fx.Int32(norm.programs) if norm.programs else even_grid(m_in, programs(plan))
        # Else ptxas would aim at more workgroups of a multiprocessor, and spill for it.
        alone = not plan.in_registers or (in_lds and plan.elements <= 16)
        attributes = {"nvvm.minctasm": 1} if alone and architecture().nvidia else None
        norm_bwd_kernel(tensors, m_in, value_attrs=attributes).launch(grid=(grid,), block=(plan.block,), stream=stream)
        if add_up is not None:
            add_up(tensors.Partial, tensors.DWeight, stream)

    return launch

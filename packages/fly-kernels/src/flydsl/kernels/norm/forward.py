# SPDX-License-Identifier: Apache-2.0
"""The body that all forward norms share: LayerNorm and RMSNorm, with a residual, statistics or a quantised output.

    h = x, or x + residual rounded to the element type
    LayerNorm   y = (h - mean(h)) · rstd · gamma + beta,  rstd = 1 / sqrt(mean((h - mean(h))²) + eps)
    RMSNorm     y = h · rstd · gamma,                     rstd = 1 / sqrt(mean(h²) + eps)
    quantised   s[m] = max_n |y · xscale| / 127 (1 where that is 0),  q = trunc(y · xscale / s[m])

All arithmetic is in f32; the output is rounded once. The mean of a row that is held is taken before the squares of the
differences, which loses nothing to cancellation; a longer row is streamed with Welford's running mean and sum of
squares (as Chan, Golub and LeVeque merge them, 1983).

Data movement: a row is read once and written once. A workgroup handles rows one after the other as far as there are
more rows than the device has room for, and keeps gamma and beta in registers meanwhile, if they fit beside the row. On
sm_90a most have one row each (`RowConfig.resident`): rows that are worked on then lie together in memory, which is
faster by up to a twentieth from 256 MiB on; and many hold it in its own type (`compact.py`). A row longer than 32,768
elements is read once for each pass: statistics, [maximum,] output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from ..common.arch import architecture
from ..common.black_box import black_box_vector
from ..common.convert import inverse_sqrt, minus, multiply_add_each, reciprocal, round_to
from ..common.dtypes import row_and_weight_types
from ..common.language import flyc, fx
from ..common.row_arguments import expect_columns, expect_count, expect_row, expect_rows
from ..common.rows import RowConfig, RowPlan, RowThread, RowView, Step, plan_rows, row_config, stream
from ..common.views import load_arguments
from .compact import Compact, form_of, threads_of

EPS = 1e-5
INT8_MAX = 127.0
# Registers for a row and its weights: of the 128 that each of 1024 threads has, and of more. On NVIDIA's GPUs, which
# have half as many, by 512 threads.
_HELD_VALUES = {1024: 96}
_NVIDIA_HELD_VALUES = {1024: 32, 512: 96}
_HELD_VALUES_OF_FEWER = 160


@dataclass(frozen=True)
class ForwardNorm:
    """Which norm; the fields are those of the builders in `layernorm_kernel` and `rmsnorm_kernel`."""

    centred: bool  # LayerNorm; else RMSNorm
    columns: int
    dtype: str
    weight_dtype: str | None  # None: that of the rows
    eps: float = EPS
    residual: bool = False
    stats: bool = False
    quantised: bool = False
    smooth: bool = False
    block: int | None = None  # threads of a workgroup
    config: RowConfig | None = None

    @property
    def name(self) -> str:
        """The kernel's symbol, without its plan."""
        parts = ["layernorm" if self.centred else "rmsnorm"]
        parts += [
            word
            for word, is_set in (
                ("add", self.residual),
                ("stats", self.stats),
                ("smooth", self.smooth),
                ("i8", self.quantised),
            )
            if is_set
        ]
        return "_".join([*parts, self.dtype, str(self.columns)])

    def plan(self, bits: int) -> RowPlan:
        """Who holds what of a row of elements of `bits` each."""
        kernel = "quantised_norm" if self.quantised else "norm"
        config = row_config(kernel, self.columns, bits, self.config)
        if self.block is not None:
            config = replace(config, block=self.block)
        elif self.config is None and self._alike:
            threads = threads_of(self.columns, bits, centred=self.centred)
            if threads is not None:
                config = replace(config, block=threads, held=max(config.held, -(-self.columns // threads)))
        return plan_rows(self.columns, bits, config)

    @property
    def _alike(self) -> bool:
        """Whether rows, weights and results are of one type, and nothing is added."""
        element, weight = row_and_weight_types(self.dtype, self.weight_dtype)
        return weight is element and not self.residual and not self.quantised


def block_of(BLOCK_THREADS: int) -> int | None:
    """What `ForwardNorm.block` makes of the builders' argument: its default asks for nothing."""
    return None if BLOCK_THREADS == 256 else BLOCK_THREADS


def programs(plan: RowPlan) -> int:
    """The most workgroups of a launch whose rows take turns."""
    assert plan.resident is not None
    return architecture().compute_units * max(1, plan.resident // plan.block)


def even_grid(wanted: fx.Int32, most: int) -> fx.Int32:
    """How many workgroups, `most` at most, take `wanted` turns together, so that each takes as many as the others.

    The last ones may take one less. With `most` of them some would take one more than others, which end early.
    """
    turns = fx.max((wanted - 1) // most + 1, fx.Int32(1))
    grid: fx.Int32 = (wanted - 1) // turns + 1
    return grid


def forward_norm(norm: ForwardNorm) -> Callable[[SimpleNamespace, Any, Any], None]:
    """The function that checks the arguments (by the kernel's names for them) and launches, for a `@flyc.jit` body.

    Raises ValueError for an N that is not positive, a negative eps, an unknown dtype, and a weight dtype that is
    neither the activations' nor f32; ImportError without the compiler.
    """
    element, weight = row_and_weight_types(norm.dtype, norm.weight_dtype)
    if isinstance(norm.eps, bool) or not isinstance(norm.eps, (int, float)) or not 0.0 <= norm.eps < math.inf:
        raise ValueError(f"eps must be a number that is not negative, got {norm.eps!r}")
    plan = norm.plan(element.width)
    columns = float(norm.columns)
    weights_of_a_row = 1 + norm.centred + norm.smooth
    registers = _NVIDIA_HELD_VALUES if architecture().nvidia else _HELD_VALUES
    held_values = registers.get(plan.threads, _HELD_VALUES_OF_FEWER)
    form = None
    if weight is element and not norm.quantised:
        form = form_of(plan, element.width, centred=norm.centred, residual=norm.residual, bfloat=element is fx.BFloat16)
    together = form.together if form is not None else None
    short = element.width == 16 and plan.threads == 512 and plan.elements <= 16
    if norm.quantised and (short or not plan.in_registers):
        together = 2  # else ptxas aims at as many or three, and spills for it
    compact = form if isinstance(form, Compact) else None
    keep_weights = plan.in_registers and plan.elements * (1 + weights_of_a_row) <= held_values and form is None
    # Kept weights of 16 bits stay 16 bits. Converted once, ahead of all rows, they would be waited for before the first
    # row is asked for, and take twice the registers.
    narrow = keep_weights and weight.width == 16
    takes_turns = keep_weights and plan.resident is not None

    def normalised(values: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
        if element is fx.Float16:
            zero = fx.Float32(0.0)
            slope = gamma * rstd if weight is fx.Float32 else multiply_add_each(gamma, rstd, zero, fx.Float32)
            kind = fx.Float32 if norm.quantised else element
            if norm.centred:
                return multiply_add_each(minus(values, mean), slope, beta, kind)
            return multiply_add_each(values, slope, zero, kind)
        if norm.centred:
            return minus(values, mean) * rstd * gamma + beta
        return values * rstd * gamma

    class Row:
        """One row: its views, and what becomes of a vector."""

        def __init__(self, tensors: SimpleNamespace, at: RowThread, row: Any) -> None:
            self.at, self.row, self.tensors = at, row, tensors
            self.input = RowView(tensors.Input, at, row)
            self.output = RowView(tensors.Output, at, row)
            if norm.residual:
                self.residual_in = RowView(tensors.ResidualIn, at, row)
                self.residual_out = RowView(tensors.ResidualOut, at, row)

        def load(self, steps: list[Step]) -> list[Any]:
            """h in f32; with a residual, h is stored."""
            inputs = [self.input.load(step) for step in steps]
            if not norm.residual:
                return [one.to(fx.Float32) for one in inputs]
            residuals = [self.residual_in.load(step) for step in steps]
            with fx.fastmath(None):  # else LLVM leaves out the rounding on the way to the statistics
                rounded = [
                    round_to(one.to(fx.Float32) + other.to(fx.Float32), element)
                    for one, other in zip(inputs, residuals, strict=True)
                ]
                values = [one.to(fx.Float32) for one in rounded]
            for step, one in zip(steps, rounded, strict=True):
                self.residual_out.store(step, one)
            return values

        def load_passes(self) -> list[Any]:
            """h in the type of the rows, a vector for each pass; with a residual, h is stored."""
            inputs = self.input.load_passes(plan.tiles)
            if not norm.residual:
                return inputs
            residuals = self.residual_in.load_passes(plan.tiles)
            with fx.fastmath(None):  # as in `load`
                sums = [
                    round_to(one.to(fx.Float32) + other.to(fx.Float32), element)
                    for one, other in zip(inputs, residuals, strict=True)
                ]
            for (step, index), one in zip(plan.passes, sums, strict=True):
                self.residual_out.store_pass(step, index, one)
            return sums

        def reload(self, step: Step) -> Any:
            """h in f32 again; with a residual, what this thread stored."""
            return (self.residual_out if norm.residual else self.input).load_f32(step)

        def keep_stats(self, mean: Any, rstd: Any) -> None:
            if norm.stats:
                self.at.keep(self.tensors.Rstd, self.row, rstd)
                if norm.centred:
                    self.at.keep(self.tensors.Mean, self.row, mean)

        def scale_of(self, largest: Any) -> Any:
            """The reciprocal of the row's quantisation step, which is stored."""
            step = (largest == 0.0).select(fx.Float32(1.0), largest / INT8_MAX)
            self.at.keep(self.tensors.YScale, self.row, step)
            return reciprocal(step)

    class Weights:
        """gamma, beta and xscale of the elements of a thread."""

        def __init__(self, tensors: SimpleNamespace, at: RowThread) -> None:
            self.gamma = RowView(tensors.Gamma, at)
            self.beta = RowView(tensors.Beta, at) if norm.centred else None
            self.smooth = RowView(tensors.XScale, at) if norm.smooth else None

        def load(self, step: Step) -> tuple[Any, Any, Any]:
            beta, smooth = (None if one is None else one.load(step, None) for one in (self.beta, self.smooth))
            return self.gamma.load(step, None), beta, smooth

        def load_passes(self, first: int, end: int) -> list[tuple[Any, Any, Any]]:
            """Those of the passes `first` to `end`, a vector each; the L1 is to keep them for the rows that come."""
            gamma, beta = (
                None if one is None else one.load_passes(plan.tiles, l1="evict_last", first=first, end=end)
                for one in (self.gamma, self.beta)
            )
            assert gamma is not None
            return [(one, beta[index] if beta else None, None) for index, one in enumerate(gamma)]

    def output_of(values: Any, mean: Any, rstd: Any, weights: tuple[Any, Any, Any]) -> Any:
        if fx.const_expr(narrow):
            raw = [None if one is None else black_box_vector(one) for one in weights]
        else:
            raw = list(weights)
        gamma, beta, smooth = (None if one is None else one.to(fx.Float32) for one in raw)
        y = normalised(values, mean, rstd, gamma, beta)
        return y * smooth if norm.smooth else y

    def held_row(tensors: SimpleNamespace, at: RowThread, row: Any, weights: Weights, kept: list[Any]) -> None:
        """A row that is in registers from its first to its last use."""
        steps = plan.tiles
        this = Row(tensors, at, row)
        values = this.load(steps)
        mean: Any = None
        centred = values
        if norm.centred:
            mean = at.sum(values) * (1.0 / columns)
            centred = [at.only(step, minus(one, mean)) for step, one in zip(steps, values, strict=True)]
        rstd = inverse_sqrt(at.sum(one * one for one in centred) * (1.0 / columns) + norm.eps)
        this.keep_stats(mean, rstd)
        kept = kept or [weights.load(step) for step in steps]
        ys = [output_of(one, mean, rstd, weight) for one, weight in zip(values, kept, strict=True)]
        if norm.quantised:
            largest = at.max(fx.absf(at.only(step, y)) for step, y in zip(steps, ys, strict=True))
            inverse = this.scale_of(largest)
            ys = [y * inverse for y in ys]
        for step, y in zip(steps, ys, strict=True):
            this.output.store(step, y)

    def compact_row(tensors: SimpleNamespace, at: RowThread, row: Any, weights: Weights) -> None:
        """A row that is in registers in its own type, and is converted for each pass over it."""
        assert compact is not None
        this = Row(tensors, at, row)
        held = this.load_passes()
        asked = weights.load_passes(0, compact.ahead)

        def values() -> Iterator[Any]:
            return (black_box_vector(one).to(fx.Float32) for one in held)

        def own(change: Callable[[Any], Any]) -> Iterator[Any]:
            """Changed values, 0 where a thread has none."""
            return (at.only(step, change(one)) for (step, _), one in zip(plan.passes, values(), strict=True))

        mean: Any = None
        if norm.centred:
            mean = at.sum(own(lambda one: one)) * (1.0 / columns)
        centred = own(lambda one: minus(one, mean) if norm.centred else one)
        rstd = inverse_sqrt(at.sum(one * one for one in centred) * (1.0 / columns) + norm.eps)
        this.keep_stats(mean, rstd)
        for number, one in enumerate(values()):
            asked += weights.load_passes(len(asked), number + compact.depth)
            step, index = plan.passes[number]
            this.output.store_pass(step, index, output_of(one, mean, rstd, asked[number]))

    def streamed_row(tensors: SimpleNamespace, at: RowThread, row: Any, weights: Weights) -> None:
        """A row that is read again for every pass."""
        this = Row(tensors, at, row)
        if norm.centred:
            mean, rstd = welford(this, at)
        else:

            def add_squares(state: list[Any], step: Step) -> list[Any]:
                (values,) = this.load([step])
                return [state[0] + (values * values).reduce("add")]

            (squares,) = stream(plan, [fx.Float32(0.0)], add_squares)
            mean, rstd = None, inverse_sqrt(at.reduce(squares, "add") * (1.0 / columns) + norm.eps)
        this.keep_stats(mean, rstd)

        def y_of(step: Step) -> Any:
            return output_of(this.reload(step), mean, rstd, weights.load(step))

        if norm.quantised:

            def raise_largest(state: list[Any], step: Step) -> list[Any]:
                return [fx.maxnumf(state[0], fx.absf(at.only(step, y_of(step))).reduce("max"))]

            (largest,) = stream(plan, [fx.Float32(0.0)], raise_largest)
            inverse = this.scale_of(at.reduce(largest, "max"))

        def write(state: list[Any], step: Step) -> list[Any]:
            this.output.store(step, y_of(step) * inverse if norm.quantised else y_of(step))
            return state

        stream(plan, [], write)

    def welford(this: Any, at: RowThread) -> tuple[Any, Any]:
        """Mean and rstd: running ones per thread, merged over the row."""

        def add(state: list[Any], step: Step) -> list[Any]:
            count, mean, squares = state
            (values,) = this.load([step])
            added = fx.Float32(float(step.elements))
            if step.groups is not None:
                added = at.has(step).select(added, fx.Float32(0.0))
            step_mean = values.reduce("add") * (1.0 / step.elements)
            within = minus(values, step_mean)
            own = (within * within).reduce("add")
            if step.groups is not None:
                own = at.has(step).select(own, fx.Float32(0.0))
            # Threads that have nothing yet, and nothing in this step either, have a count of 0.
            share = added * reciprocal(fx.maxnumf(count + added, fx.Float32(1.0)))
            away = step_mean - mean
            return [count + added, mean + away * share, squares + own + away * away * count * share]

        zero = fx.Float32(0.0)
        count, thread_mean, squares = stream(plan, [zero, zero, zero], add)
        mean = at.reduce(count * thread_mean, "add") * (1.0 / columns)
        away = thread_mean - mean
        variance = at.reduce(squares + count * away * away, "add") * (1.0 / columns)
        return mean, inverse_sqrt(variance + norm.eps)

    @flyc.kernel(name=norm.name, known_block_size=(plan.block, 1, 1))
    def norm_kernel(tensors: SimpleNamespace, m_in: fx.Int32) -> None:
        at = RowThread(plan, m_in, element)
        load_arguments(*vars(tensors).values(), m_in, *([fx.grid_dim.x] if takes_turns else []))
        weights = Weights(tensors, at)
        with fx.fastmath("contract"):
            kept = [weights.load(step) for step in plan.tiles] if keep_weights else []
            if fx.const_expr(takes_turns):
                rows_in_turn(tensors, at, m_in, weights, kept)
            elif at.first < m_in:
                if fx.const_expr(compact is not None):
                    compact_row(tensors, at, at.first, weights)
                elif fx.const_expr(plan.in_registers):
                    held_row(tensors, at, at.first, weights, kept)
                else:
                    streamed_row(tensors, at, at.first, weights)

    def rows_in_turn(tensors: SimpleNamespace, at: RowThread, m_in: Any, weights: Weights, kept: list[Any]) -> None:
        turn = fx.Int32(0)
        for row in range(at.first, m_in, fx.grid_dim.x * plan.rows):
            at.next_row(turn)
            held_row(tensors, at, row, weights, kept)
            turn = turn + 1

    def check(tensors: SimpleNamespace, m_in: Any) -> None:
        expect_count("m_in", m_in)
        rows = {"Input": element, "Output": fx.Int8 if norm.quantised else element}
        rows |= {"ResidualIn": element, "ResidualOut": element} if norm.residual else {}
        for name, kind in rows.items():
            written = name in ("Output", "ResidualOut")
            expect_rows(name, getattr(tensors, name), kind, norm.columns, m_in, written=written)
        weights = ["Gamma"] + ["Beta"] * norm.centred + ["XScale"] * norm.smooth
        for name in weights:
            expect_columns(name, getattr(tensors, name), weight, norm.columns)
        numbers = ["Rstd"] * norm.stats + ["Mean"] * (norm.stats and norm.centred) + ["YScale"] * norm.quantised
        for name in numbers:
            expect_row(name, getattr(tensors, name), fx.Float32, m_in)

    def launch(tensors: SimpleNamespace, m_in: Any, stream: Any) -> None:
        check(tensors, m_in)
        wanted = (m_in + plan.rows - 1) // plan.rows
        grid = even_grid(wanted, programs(plan)) if takes_turns else wanted
        attributes = {"nvvm.minctasm": together} if together is not None and architecture().nvidia else None
        norm_kernel(tensors, m_in, value_attrs=attributes).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return launch

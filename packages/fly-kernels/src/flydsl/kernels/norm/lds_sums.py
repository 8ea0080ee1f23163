# SPDX-License-Identifier: Apache-2.0
"""Sums of the columns that a workgroup's rows add to, in LDS: where they take the registers that its rows need.

On sm_90a a multiprocessor has 64 Ki registers, four for each element of a row of 16,384. The sums of a LayerNorm take
two of them, x and dy of f32 the others: whoever divides the row, it spills. In LDS sums need no barrier, as each is its
thread's own; and rows are added to them that do not fit registers at all.
"""

from __future__ import annotations

from typing import Any

from ..common.arch import architecture
from ..common.language import fx
from ..common.rows import RowPlan, RowThread, Step

__all__ = ["LdsSums", "lds_sums"]

_PART = 4  # f32 of an access: 16 bytes a lane meet no bank conflict
_ROOM = 192 << 10  # bytes of LDS for sums; what turns them to be stored takes up to 33 of the other 35 KiB


def lds_sums(plan: RowPlan, count: int, *, residual: bool) -> bool:
    """Whether a backward norm that adds up `count` numbers of each column has those sums in LDS.

    `residual`: it adds a residual's gradient. 512 threads have 128 registers each, in which up to 16 elements fit, but
    not with two sums and a residual.
    """
    if not architecture().nvidia or 4 * count * _padded(plan) > _ROOM:
        return False
    if plan.threads == 512 and plan.elements <= 16:
        return count == 2 and residual and plan.elements > 8
    return plan.threads >= 512


def _padded(plan: RowPlan) -> int:
    """Elements of a row, and of those that are missing in its last accesses."""
    whole = -(-plan.groups // plan.threads) * plan.threads * plan.vector
    return whole + (plan.threads if plan.columns % plan.vector else 0)


class LdsSums:
    """Sums of f32, `count` of each column; a thread reads and writes those of its own elements only."""

    def __init__(self, plan: RowPlan, at: RowThread, count: int) -> None:
        self._plan, self._at, self._count, self._columns = plan, at, count, _padded(plan)
        self._start = at.allocator().allocate(fx.Array[fx.Float32, count * self._columns, 16]).peek().ptr

    def clear(self, step: Step) -> None:
        """Begin with nothing in the columns of a step."""
        for which in fx.range_constexpr(self._count):
            for view in self._views(step, which):
                self._put(view, fx.full(self._width(step), 0.0, fx.Float32))

    def add(self, step: Step, *values: Any) -> None:
        """Add a thread's values of a step to its sums, one vector of Float32 for each."""
        width = self._width(step)
        for which, one in enumerate(values):
            for index, view in enumerate(self._views(step, which)):
                part = one.shuffle(one, list(fx.range_constexpr(index * width, (index + 1) * width)))
                self._put(view, self._get(view) + part)

    def of(self, step: Step, which: int) -> Any:
        """A thread's sums of a step, by their number, as a vector of Float32."""
        parts = [self._get(view) for view in self._views(step, which)]
        return fx.Vector.from_elements([one[index] for one in parts for index in fx.range_constexpr(one.numel)])

    def _width(self, step: Step) -> int:
        return min(step.vector, _PART)

    def _views(self, step: Step, which: int) -> list[Any]:
        """Where the elements of a step are, in parts: those of neighbouring threads lie side by side."""
        width, threads = self._width(step), self._plan.threads
        tail = step.vector != self._plan.vector  # single elements behind the last whole vector
        first = self._columns - threads if tail else step.first * step.vector
        start = self._start + (first + which * self._columns + self._at.lane * width)
        layout, parts = fx.make_layout(width, 1), step.elements // width
        return [fx.make_view(start + part * (threads * width), layout) for part in fx.range_constexpr(parts)]

    def _get(self, view: fx.Tensor) -> Any:
        held = fx.make_fragment_like(view)
        fx.copy(self._atom(held), view, held)
        return held.load()

    def _put(self, view: fx.Tensor, values: Any) -> None:
        held = fx.make_fragment_like(view)
        held.store(values)
        fx.copy(self._atom(held), held, view)

    def _atom(self, held: fx.Tensor) -> Any:
        return fx.make_copy_atom(fx.UniversalCopy(32 * held.load().numel), fx.Float32)

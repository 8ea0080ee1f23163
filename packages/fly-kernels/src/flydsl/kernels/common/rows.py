# SPDX-License-Identifier: Apache-2.0
"""How a kernel walks over the rows of a matrix: the loads, stores and reductions of a thread, by a `RowPlan`.

A kernel's body is written once, against `RowPlan.steps` (all static) or `stream` (a run-time loop).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from .convert import round_to
from .language import fx
from .opaque import opaque
from .reduce import block_reduce, wave_reduce
from .row_config import row_config
from .row_plan import WAVE, RowConfig, RowPlan, Step, plan_rows

__all__ = [
    "RowConfig",
    "RowPlan",
    "RowThread",
    "RowView",
    "Step",
    "highest",
    "plan_rows",
    "pointer",
    "row_config",
    "row_start",
    "store_scalar",
    "stream",
    "total",
]


_REACH = 4096  # bytes that the offset in an instruction reaches, forward and backward


class RowThread:
    """This thread's place: `lane`, the group of the row that it moves first; and its reductions over the row.

    `first` is the row that the thread begins with. A workgroup that works on more than one set of rows, one after the
    other, calls `next_row` for each.
    """

    def __init__(self, plan: RowPlan) -> None:
        thread, block = fx.thread_idx.x, fx.block_idx.x
        self.plan = plan
        self.thread = thread
        if plan.rows == 1:
            self.first, self.lane = block, thread
            if plan.stretches:
                self.lane = thread // WAVE * (plan.full_steps * WAVE) + thread % WAVE
        else:
            group = thread // plan.threads
            if plan.threads == fx.num_warp_threads():
                group = fx.rocdl.readfirstlane(group)  # one row a wave: its addresses stay in scalar registers
            self.first, self.lane = block * plan.rows + group, thread % plan.threads
        self._slots: list[Any] = []
        self._used = 0
        self._turn: Any = None
        self._allocator: Any = None
        self._anchors: dict[tuple[int, int], Any] = {}

    def anchored(self, vector: int, anchor: int) -> Any:
        """The index of the element `anchor` after this thread's first one in a row.

        It is opaque, and one value for all rows and arguments: what lies within reach of it, in either direction, is an
        offset in the instruction. The compiler would add up one index for each.
        """
        if (vector, anchor) not in self._anchors:
            index = opaque(self.lane * vector + anchor)
            self._anchors[vector, anchor] = index.bitcast(fx.Uint32).to(fx.Int64)
        return self._anchors[vector, anchor]

    def next_row(self, turn: Any) -> None:
        """Begin with the row number `turn` (0, 1, …) of this thread, before its reductions."""
        self._used, self._turn = 0, turn

    def reduce(self, value: Any, op: str) -> Any:
        """Reduce one Float32 or Int32 per thread over the threads of the row."""
        wave_size = fx.num_warp_threads()
        if self.plan.threads <= wave_size:
            return wave_reduce(value, op, self.plan.threads)
        return block_reduce(
            value, op, self._take(self.plan.threads // wave_size, type(value)), self.thread, self.plan.threads
        )

    def allocator(self) -> Any:
        """The LDS allocator of the kernel, which may have one only."""
        if self._allocator is None:
            self._allocator = fx.SharedAllocator()
        return self._allocator

    def _take(self, waves: int, kind: Any) -> Any:
        """LDS for one reduction of a row. Rows take turns between two halves: a wave that is late still reads one."""
        if self._used == len(self._slots):
            count = waves if self._turn is None else 2 * waves
            self._slots.append(self.allocator().allocate(fx.Array[kind, count, 16]).peek())
        slots = self._slots[self._used]
        self._used += 1
        return slots if self._turn is None else _Half(slots, (self._turn & 1) * waves)

    def number(self, argument: Any, row: Any) -> Any:
        """argument[row], of one number per row."""
        start = pointer(argument)
        return (start + row).load()

    def sum(self, vectors: Iterable[Any]) -> Any:
        """The sum of all elements of vectors of Float32, over the threads of the row."""
        return self.reduce(total(vectors), "add")

    def max(self, vectors: Iterable[Any]) -> Any:
        """The maximum of all elements of vectors of Float32, over the threads of the row."""
        return self.reduce(highest(vectors), "max")

    def has(self, step: Step) -> Any:
        """Whether this thread has something to move in a step of `last_steps`."""
        return self.lane + step.first < step.groups

    def only(self, step: Step, values: Any, other: float = 0.0) -> Any:
        """`values` where the thread has something to move, `other` elsewhere."""
        return values if step.groups is None else self.has(step).select(values, fx.full_like(values, other))


def total(vectors: Iterable[Any]) -> Any:
    """The sum of all elements of vectors of Float32; as many additions as possible are of whole vectors."""
    return _fold(vectors, lambda a, b: a + b, "add")


def highest(vectors: Iterable[Any]) -> Any:
    """The maximum of all elements of vectors of Float32."""
    return _fold(vectors, lambda a, b: fx.maxnumf(a, b, fastmath="nnan"), "max")


def _fold(vectors: Iterable[Any], combine: Callable[[Any, Any], Any], op: str) -> Any:
    by_width: dict[int, Any] = {}
    for one in vectors:
        width = one.numel
        by_width[width] = combine(by_width[width], one) if width in by_width else one
    parts = []
    for one in by_width.values():
        # Halves of a vector are added two elements an instruction; of maxima, three scalars are one instruction.
        if op == "add":
            one = _halved(one, combine)
        scalar = one[0]
        for index in fx.range_constexpr(1, one.numel):
            scalar = combine(scalar, one[index])
        parts.append(scalar)
    result = parts[0]
    for part in parts[1:]:
        result = combine(result, part)
    return result


def _halved(vector: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """The vector folded onto its first two elements."""
    while vector.numel > 2:
        half = vector.numel // 2
        low = vector.shuffle(vector, list(range(half)))
        vector = combine(low, vector.shuffle(vector, list(range(half, 2 * half))))
    return vector


class _Half:
    """A part of an LDS array."""

    def __init__(self, slots: Any, start: Any) -> None:
        self._slots, self._start = slots, start

    def __getitem__(self, index: Any) -> Any:
        return self._slots[self._start + index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._slots[self._start + index] = value


class RowView:
    """One row of an argument, (M, N) or (N,), of neighbouring elements; M·N of them if flattened or a pointer."""

    def __init__(
        self,
        argument: Any,
        at: RowThread,
        row: Any = None,
        *,
        stride: int | None = None,
        columns: int | None = None,
        element: Any = None,
    ) -> None:
        """`row` None: the argument is one row. `stride`: a flat argument with rows so far apart.

        `columns`: of the argument, if it has more than the plan. `element`: another type of the same width, to move the
        elements as.
        """
        self._at = at
        start = pointer(argument)
        if row is not None and stride is not None:
            start = start + fx.Int64(row) * stride
        elif row is not None:
            start = row_start(argument, row, columns or at.plan.columns)
        self._start = start if element is None else fx.recast_iter(element, start)
        self.element = self._start.element_type

    def shifted(self, elements: int) -> RowView:
        """The same row from another element on."""
        other = copy.copy(self)
        other._start = self._start + elements
        return other

    def _part(self, step: Step) -> Any:
        plan, size = self._at.plan, self.element.width // 8
        # Accesses of a wave that lie close to each other; else each would have an anchor, in a register, of its own.
        close = plan.in_registers and (plan.threads <= WAVE or plan.stretches)
        if close and step.vector > 1 and plan.columns * size > _REACH:
            distance = step.first * step.vector  # from the thread's first element
            anchor = (distance * size // (2 * _REACH) * 2 + 1) * _REACH // size
            start = self._start + self._at.anchored(step.vector, anchor) + (distance - anchor)
        else:
            group = self._at.lane + step.first
            start = self._start + (group * step.vector + step.offset)
        return fx.make_view(start, fx.make_layout(step.vector, 1))

    def _atom(self, step: Step) -> Any:
        return fx.make_copy_atom(fx.UniversalCopy(step.vector * self.element.width), self.element)

    def load(self, step: Step, fill: float | int | None = 0) -> Any:
        """A vector of the element type; `fill` where the thread has nothing to move (None: anything)."""
        fragment = fx.make_rmem_tensor(step.vector, self.element)
        if step.groups is None:
            fx.copy_atom_call(self._atom(step), self._part(step), fragment)
        else:
            if fill is not None:
                fragment.fill(fill)
            fx.copy_atom_call(self._atom(step), self._part(step), fragment, pred=self._predicate(step))
        return fragment.load()

    def load_f32(self, step: Step, fill: float = 0.0) -> Any:
        """The same, converted to Float32."""
        return self.load(step, fill).to(fx.Float32)

    def store(self, step: Step, values: Any) -> None:
        """Convert to the element type (to nearest even) and store."""
        fragment = fx.make_rmem_tensor(step.vector, self.element)
        fragment.store(values if values.dtype is self.element else round_to(values, self.element))
        if step.groups is None:
            fx.copy_atom_call(self._atom(step), fragment, self._part(step))
        else:
            fx.copy_atom_call(self._atom(step), fragment, self._part(step), pred=self._predicate(step))

    def load_one(self, index: Any, condition: Any) -> Any:
        """Element `index` of the row as Float32; 0, and no access, where the condition does not hold."""
        fragment = fx.make_rmem_tensor(1, self.element)
        fragment.fill(0)
        fx.copy_atom_call(self._atom(_ONE), self._one(index), fragment, pred=_as_predicate(condition))
        return fragment.load().to(fx.Float32)[0]

    def store_one(self, index: Any, value: Any, condition: Any) -> None:
        """Store a scalar of the element type where the condition holds."""
        fragment = fx.make_rmem_tensor(1, self.element)
        fragment.store(fx.Vector.from_elements([value]))
        fx.copy_atom_call(self._atom(_ONE), fragment, self._one(index), pred=_as_predicate(condition))

    def _one(self, index: Any) -> Any:
        return fx.make_view(self._start + index, fx.make_layout(1, 1))

    def _predicate(self, step: Step) -> Any:
        return _as_predicate(self._at.has(step))


_ONE = Step(1, 0)


def _as_predicate(condition: Any) -> Any:
    predicate = fx.make_rmem_tensor(1, fx.Boolean)
    predicate[0] = condition
    return predicate


def stream(plan: RowPlan, state: list[Any], body: Callable[[list[Any], Step], list[Any]]) -> list[Any]:
    """Run `body(state, step)` for every step of a row, most of them in a run-time loop; the last state.

    The state is a list of values whose types do not change. Up to `plan.unroll` steps are one trip of the loop.
    """
    unroll = plan.unroll
    while unroll > 1 and plan.full_steps < 2 * unroll:
        unroll //= 2  # a loop of one trip would be no loop, and its loads would all be in flight
    trips = plan.full_steps // unroll
    state = _loop(plan, state, body, trips, unroll)
    rest = range(trips * unroll, plan.full_steps)
    for step in [*(Step(plan.vector, one * plan.threads) for one in rest), *plan.last_steps]:
        state = body(state, step)
    return state


def _loop(plan: RowPlan, state: Any, body: Any, trips: int, parts: int) -> Any:
    # Without the hint LLVM unrolls short loops fully and spills.
    for trip in range(trips, unroll=1):  # type: ignore[call-overload]  # the language's range
        for part in fx.range_constexpr(parts):
            state = body(state, Step(plan.vector, (trip * parts + part) * plan.threads))
    return state


def pointer(argument: Any) -> Any:
    """Where an argument begins: a tensor's first element, or the pointer that it is."""
    return fx.get_iter(argument) if isinstance(argument, fx.Tensor) else argument


def row_start(argument: Any, row: Any, columns: int) -> Any:
    """Where a row of an (M, N) argument begins: by its stride, or by `columns` where it is flattened or a pointer."""
    strided = isinstance(argument, fx.Tensor) and fx.rank(argument) == 2
    return pointer(argument) + fx.Int64(row) * (argument.stride[0].unpack() if strided else columns)


def store_scalar(argument: Any, index: Any, value: Any, at: RowThread) -> None:
    """argument[index] = value, by the first thread of the row."""
    start = pointer(argument)
    if at.lane == 0:
        (start + index).store(value.to(start.element_type))

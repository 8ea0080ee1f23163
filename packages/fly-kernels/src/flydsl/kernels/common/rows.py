# SPDX-License-Identifier: Apache-2.0
"""How a kernel walks over the rows of a matrix: the loads, stores and reductions of a thread, by a `RowPlan`.

A row is a few tiles (`RowPlan.tiles`), or a run-time loop over tiles (`stream`). Each tile is spread over the threads
of the row by a tiled copy, whose (thread, value) layout is the plan's: a thread's part of an argument is its partition
of the tile, what sticks out of the row is told by the partition of the coordinates, and who exchanges what in a
reduction follows from the layout of the threads.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from .arch import architecture
from .convert import round_to
from .language import fx
from .row_config import row_config
from .row_plan import VECTOR_BYTES, RowConfig, RowPlan, Step, plan_rows
from .views import load_number, predicate, start_of, store_number, vector_of

__all__ = [
    "COMBINE",
    "RowConfig",
    "RowPlan",
    "RowThread",
    "RowView",
    "Step",
    "highest",
    "plan_rows",
    "row_config",
    "row_start",
    "stream",
    "total",
]

# `nnan` keeps v_max from being preceded by an instruction that quiets its operands: 2 instructions a step become 1. A
# NaN is then lost or passed on; the kernels carry NaN by the values themselves, not by the maximum.
COMBINE = {
    "add": lambda a, b: a + b,
    "max": lambda a, b: fx.maxnumf(a, b, fastmath="nnan"),
    "min": lambda a, b: fx.min(a, b),
}


# Threads of a workgroup from which it lets the next launch begin. On an H200 4 and 16 MiB take 0.3 to 1.4 us less of 3
# to 8 so, and 1 GiB as long; with workgroups of 64 threads, of which there are many, that instruction alone makes 1 GiB
# take a quarter longer, whether the next launch is early or not.
_LETS_OTHERS_BEGIN = 128

# Bytes of rows from which the L2 of NVIDIA's GPUs evicts them last, which makes it write sooner. On an H200 1 GiB of
# them takes 1 to 4 % less so. Smaller launches leave the cache as it is: what comes next may find its rows there, and
# four launches of 32 MiB in a chain took 6 % more with it.
_BEYOND_CACHES = 64 << 20


class RowThread:
    """This thread's place: `lane`, its number among the threads of its row; and its reductions over the row.

    `first` is the row that the thread begins with. A workgroup that works on more than one set of rows, one after the
    other, calls `next_row` for each.
    """

    def __init__(
        self, plan: RowPlan, rows: Any = None, element: type[fx.Numeric] | None = None, *, static: bool = True
    ) -> None:
        """Begin a kernel that reads `rows` of elements of a type once; nothing about them for one that does not.

        `static`: its LDS is symbols; else dynamic, of which NVIDIA's GPUs have more than 48 KiB.
        """
        if architecture().nvidia:
            fx.nvgpu.griddepcontrol_wait()
            if plan.block >= _LETS_OTHERS_BEGIN:
                fx.nvgpu.griddepcontrol_launch_dependents()
        thread, block = fx.thread_idx.x, fx.block_idx.x
        self.plan = plan
        if plan.rows == 1:
            self.first, self.lane = block, thread
        else:
            group = thread // plan.threads
            if plan.threads == fx.num_warp_threads() and not architecture().nvidia:
                group = fx.rocdl.readfirstlane(group)  # one row a wave: its addresses stay in scalar registers
            self.first, self.lane = block * plan.rows + group, thread % plan.threads
        self._slots: list[Any] = []
        self._used = 0
        self._turn: Any = None
        self._static = static
        self._allocator: Any = None
        self.policy: Any = None
        if architecture().nvidia and element is not None and plan.in_registers:
            many = rows >= _BEYOND_CACHES * 8 // (plan.columns * element.width)
            self.policy = many.select(fx.nvgpu.l2_policy("evict_last"), fx.nvgpu.l2_policy("evict_normal"))

    def slice(self, step: Step, element: type[fx.Numeric]) -> fx.ThrCopy:
        """This thread's slice of the tiled copy that moves a tile of elements of a type."""
        atom = fx.make_copy_atom(fx.UniversalCopy(step.vector * element.width), element)
        layout = fx.make_layout(*step.layout_tv(self.plan.threads))
        return fx.make_tiled_copy(atom, layout, (self.span(step),)).get_slice(self.lane)

    def span(self, step: Step) -> int:
        """Elements of a tile."""
        return step.elements * self.plan.threads

    def columns(self, step: Step) -> list[Any]:
        """The number in its row of each element that this thread has of a tile."""
        start = step.first * step.vector + step.offset
        part: Any = self.slice(step, fx.Int8).partition_S(fx.make_view(0, fx.make_layout(self.span(step), 1)))
        indices = [(index % step.vector, index // step.vector) for index in range(step.elements)]
        return [part[index, 0].unpack() + start for index in indices]

    def next_row(self, turn: fx.Int32) -> None:
        """Begin with the row number `turn` (0, 1, …) of this thread, before its reductions."""
        self._used, self._turn = 0, turn

    def reduce(self, value: Any, op: str) -> Any:
        """Reduce one Float32 or Int32 per thread over the threads of the row: "add", "max" or "min".

        NaN is no maximum.
        """
        kind = type(value)
        threads = fx.make_layout((self.plan.threads, 1), (1, 0))
        atom = fx.make_copy_atom(fx.UniversalCopy(kind.width), kind)
        mine = fx.make_tiled_copy(atom, threads, (self.plan.threads,)).get_slice(self.lane)
        waves = self.plan.threads // fx.num_warp_threads()
        storage = self._take(waves, kind) if waves > 1 else None
        return fx.coop.tiled_reduce(fx.Vector(value), COMBINE[op], mine, 0, storage=storage)

    def allocator(self) -> Any:
        """The LDS allocator of the kernel, which may have one only."""
        if self._allocator is None:
            self._allocator = fx.SharedAllocator(static=self._static)
        return self._allocator

    def _take(self, waves: int, kind: Any) -> Any:
        """LDS for one reduction of a row. Rows take turns between two halves: a wave that is late still reads one."""
        if self._used == len(self._slots):
            count = waves if self._turn is None else 2 * waves
            self._slots.append(self.allocator().allocate(fx.Array[kind, count, 16]).peek())
        slots = self._slots[self._used]
        self._used += 1
        return slots if self._turn is None else _Half(slots, (self._turn & 1) * waves)

    def number(self, argument: fx.Tensor | fx.Pointer, row: int | fx.Int32) -> Any:
        """argument[row], of one number per row."""
        return vector_of(argument)[row]

    def keep(self, argument: fx.Tensor | fx.Pointer, row: int | fx.Int32, value: fx.Numeric) -> None:
        """argument[row] = value, by the first thread of the row."""
        store_number(argument, row, value, self.lane == 0)

    def sum(self, vectors: Iterable[Any]) -> Any:
        """The sum of all elements of vectors of Float32, over the threads of the row."""
        return self.reduce(total(vectors), "add")

    def max(self, vectors: Iterable[Any]) -> Any:
        """The maximum of all elements of vectors of Float32, over the threads of the row."""
        return self.reduce(highest(vectors), "max")

    def has(self, step: Step) -> Any:
        """Whether this thread has something to move in a tile of `last_steps`."""
        assert step.groups is not None
        return self.columns(step)[0] < step.groups * step.vector + step.offset

    def only(self, step: Step, values: fx.Vector, other: float = 0.0) -> fx.Vector:
        """`values` where the thread has something to move, `other` elsewhere."""
        return values if step.groups is None else self.has(step).select(values, fx.full_like(values, other))


def total(vectors: Iterable[Any]) -> Any:
    """The sum of all elements of vectors of Float32; as many additions as possible are of whole vectors."""
    return _fold(vectors, COMBINE["add"], "add")


def highest(vectors: Iterable[Any]) -> Any:
    """The maximum of all elements of vectors of Float32."""
    return _fold(vectors, COMBINE["max"], "max")


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
    """The vector folded onto a few elements, by halves of an even number of them."""
    while vector.numel > 2 and vector.numel % 4 == 0:
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
    ) -> None:
        """`row` None: the argument is one row. `stride`: a flat argument with rows so far apart.

        `columns`: of the argument, if it has more than the plan.
        """
        self._at = at
        self._policy: Any = None if row is None else at.policy
        start = start_of(argument)
        if row is not None and stride is not None:
            start = start + fx.Int64(row) * stride
        elif row is not None:
            start = row_start(argument, row, columns or at.plan.columns)
        self._start = start
        self.element = start.element_type

    def shifted(self, elements: int) -> RowView:
        """The same row from another element on."""
        other = copy.copy(self)
        other._start = self._start + elements
        return other

    def _tile(self, step: Step) -> Any:
        """The tile of the row as a tensor."""
        start = self._start + (step.first * step.vector + step.offset)
        return fx.make_view(start, fx.make_layout(self._at.span(step), 1))

    def load(self, step: Step, fill: float | int | None = 0) -> fx.Vector:
        """A vector of the element type; `fill` where the thread has nothing to move (None: anything)."""
        if self._policy is not None and step.groups is None and step.vector * self.element.width == 8 * VECTOR_BYTES:
            return _joined(self.load_passes([step]))
        mine = self._at.slice(step, self.element)
        source = mine.partition_S(self._tile(step))
        fragment = fx.make_fragment_like(source)
        if fill is not None and step.groups is not None:
            fragment.fill(fill)
        fx.copy(mine.tiled_copy, source, fragment, pred=self._predicate(step))
        return fragment.load().reshape(step.elements)

    def load_passes(
        self, tiles: list[Step], *, l1: str | None = None, first: int = 0, end: int | None = None
    ) -> list[fx.Vector]:
        """The vectors, of 16 bytes, of the passes `first` to `end` of some tiles of whole ones, one after the other.

        On NVIDIA's GPUs only; `l1`: what the L1 does with the lines, of `fx.nvgpu.load_by_policy`. Where a thread has
        nothing to move it gets the first vector that it has of the row: no branch, and no bytes but those of the row.
        """
        columns = (one for tile in tiles for one in self._passes(tile))
        found = islice(columns, first, end)
        return [fx.nvgpu.load_by_policy(self._start + one, self._policy, l1=l1) for one in found]

    def _passes(self, step: Step) -> list[Any]:
        """Where this thread's passes of a tile begin."""
        columns = self._at.columns(step)[:: step.vector]
        if step.groups is None:
            return columns
        has = self._at.has(step)
        return [has.select(one, one - step.first * step.vector) for one in columns]

    def store_pass(self, step: Step, index: int, values: fx.Vector) -> None:
        """Convert what `load_passes` would load of one pass to the element type (to nearest even), and store it."""
        if step.groups is not None:
            self.store(step, values)
            return
        start = self._start + self._at.columns(step)[index * step.vector]
        fragment = fx.make_rmem_tensor(step.vector, self.element)
        fragment.store(values if values.dtype is self.element else round_to(values, self.element))
        atom = fx.make_copy_atom(fx.UniversalCopy(step.vector * self.element.width), self.element)
        fx.copy(atom, fragment, fx.make_view(start, fx.make_layout(step.vector, 1)))

    def load_f32(self, step: Step, fill: float = 0.0) -> fx.Vector:
        """The same, converted to Float32."""
        return self.load(step, fill).to(fx.Float32)

    def store(self, step: Step, values: fx.Vector) -> None:
        """Convert to the element type (to nearest even) and store."""
        mine = self._at.slice(step, self.element)
        target = mine.partition_D(self._tile(step))
        fragment = fx.make_fragment_like(target)
        fragment.store(values if values.dtype is self.element else round_to(values, self.element))
        fx.copy(mine.tiled_copy, fragment, target, pred=self._predicate(step))

    def load_one(self, index: int | fx.Int32, condition: fx.Boolean) -> fx.Numeric:
        """Element `index` of the row as Float32; 0, and no access, where the condition does not hold."""
        number: fx.Numeric = load_number(self._start, index, condition).to(fx.Float32)
        return number

    def store_one(self, index: int | fx.Int32, value: fx.Numeric, condition: fx.Boolean) -> None:
        """Store a scalar of the element type where the condition holds."""
        store_number(self._start, index, value, condition)

    def _predicate(self, step: Step) -> Any:
        """Of one pass: only the last tiles of a row stick out of it."""
        return None if step.groups is None else predicate(self._at.has(step), (1, 1))


def _joined(vectors: list[fx.Vector]) -> fx.Vector:
    """Vectors one after the other as one."""
    return fx.Vector.from_elements([one[index] for one in vectors for index in range(one.numel)])


def stream(plan: RowPlan, state: list[Any], body: Callable[[list[Any], Step], list[Any]]) -> list[Any]:
    """Run `body(state, tile)` for every tile of a row, most of them in a run-time loop; the last state.

    The state is a list of values whose types do not change. A tile has up to `plan.unroll` vectors of a thread.
    """
    unroll = plan.unroll
    while unroll > 1 and plan.full_steps < 2 * unroll:
        unroll //= 2  # a loop of one trip would be no loop, and its loads would all be in flight
    trips = plan.full_steps // unroll
    state = _loop(plan, state, body, trips, unroll)
    done = trips * unroll
    for step in [*plan.run(done * plan.threads, plan.full_steps - done), *plan.last_steps]:
        state = body(state, step)
    return state


def _loop(plan: RowPlan, state: Any, body: Any, trips: int, passes: int) -> Any:
    # Without the hint LLVM unrolls short loops fully and spills.
    for trip in range(trips, unroll=1):  # type: ignore[call-overload]  # the language's range
        (step,) = plan.run(trip * (passes * plan.threads), passes)
        state = body(state, step)
    return state


def row_start(argument: Any, row: int | fx.Int32, columns: int) -> Any:
    """Where a row of an (M, N) argument begins: by its stride, or by `columns` where it is flattened or a pointer."""
    strided = isinstance(argument, fx.Tensor) and fx.rank(argument) == 2
    return start_of(argument) + fx.Int64(row) * (argument.stride[0].unpack() if strided else columns)

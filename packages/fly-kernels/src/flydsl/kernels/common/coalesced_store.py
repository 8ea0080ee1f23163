# SPDX-License-Identifier: Apache-2.0
"""Vectors of f32, one per thread, to memory so that neighbouring lanes write neighbouring elements.

A thread of a row kernel holds `vector` neighbouring elements. Written as they are, one instruction of a wave would
touch every `vector`-th element. The vectors go through LDS instead, between two tilings of one tile: thread t puts the
elements vector · t + v there, and takes the elements t + threads · v. In LDS the elements of a vector lie a padded row
of threads apart, so that neither side meets bank conflicts.
"""

from __future__ import annotations

from typing import Any

from .arch import architecture
from .language import fx
from .rows import RowPlan, RowThread, Step


class CoalescedStore:
    """The LDS for it, of one vector per thread; at most one in a kernel."""

    def __init__(self, plan: RowPlan, at: RowThread) -> None:
        self._plan, self._at = plan, at
        pitch = plan.threads + architecture().lds_banks // plan.vector
        self._turned: Any = None
        if plan.vector > 1 and plan.groups:
            memory = at.allocator().allocate(fx.Array[fx.Float32, pitch * plan.vector, 16]).peek().ptr
            self._turned = fx.make_view(memory, fx.make_layout(((plan.vector, plan.threads),), ((pitch, 1),)))

    def write(self, step: Step, values: Any, target: fx.Tensor, operation: Any) -> None:
        """Copy the elements of the step to those places of `target`, the row of f32, by a copy operation.

        Begins and ends with the LDS free for anybody: it has barriers, to which all threads of the workgroup come.
        """
        for part in fx.range_constexpr(step.passes):
            first = step.first + part * step.apart
            mine = list(range(part * step.vector, (part + 1) * step.vector))
            one = Step(step.vector, first, step.offset, step.groups)
            self._write_pass(one, values.shuffle(values, mine), target, operation)

    def _slice(self, operation: Any, count: int, apart: tuple[int, int]) -> fx.ThrCopy:
        """Of a tile of `count` elements a thread; `apart`: neighbouring threads, neighbouring values of a thread."""
        layout = fx.make_layout(((self._plan.threads,), (count,)), ((apart[0],), (apart[1],)))
        atom = fx.make_copy_atom(operation, fx.Float32)
        return fx.make_tiled_copy(atom, layout, (count * self._plan.threads,)).get_slice(self._at.lane)

    def _write_pass(self, step: Step, values: Any, target: fx.Tensor, operation: Any) -> None:
        count, threads, word = step.vector, self._plan.threads, fx.UniversalCopy(32)
        start = step.first * count + step.offset
        thread_copy = self._slice(operation, count, (1, threads))
        tile = fx.make_layout(count * threads, 1)
        to = thread_copy.partition_D(fx.make_view(fx.get_iter(target) + start, tile))
        fragment = fx.make_fragment_like(to)
        if count == 1:
            fragment.store(values)
        else:
            held = self._slice(word, count, (count, 1)).partition_D(self._turned)
            vector = fx.make_fragment_like(held)
            vector.store(values)
            fx.copy(fx.make_copy_atom(word, fx.Float32), vector, held)
            fx.barrier()  # all vectors are there
            turned = self._slice(word, count, (1, threads)).partition_S(self._turned)
            fx.copy(fx.make_copy_atom(word, fx.Float32), turned, fragment)
            fx.barrier()  # and all are read: the next step may write
        inside = None
        if step.groups is not None:
            coordinates: Any = thread_copy.partition_D(fx.make_view(0, tile))
            inside = fx.make_rmem_tensor((count, 1), fx.Boolean)
            for index in fx.range_constexpr(count):
                inside[index, 0] = coordinates[(0, index), 0].unpack() + start < step.groups * count + step.offset
        fx.copy(thread_copy.tiled_copy, fragment, to, pred=inside)

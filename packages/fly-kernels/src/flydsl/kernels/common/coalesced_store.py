# SPDX-License-Identifier: Apache-2.0
"""Vectors of f32, one per thread, to memory so that neighbouring lanes write neighbouring elements.

A thread of a row kernel holds `vector` neighbouring elements. Written as they are, one instruction of a wave would
touch every `vector`-th element. The vectors go through LDS instead, which turns (thread, element of it) around: element
e of the part, held by thread e // vector, is written by thread e % threads. In LDS the elements of a vector lie a
padded row of threads apart, so that neither side meets bank conflicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arch import architecture
from .language import fx
from .rows import RowPlan, RowThread, Step


class CoalescedStore:
    """The LDS for it, of one vector per thread; at most one in a kernel."""

    def __init__(self, plan: RowPlan, at: RowThread) -> None:
        self._plan, self._at = plan, at
        self._pitch = plan.threads + architecture().lds_banks // plan.vector
        self._slots: Any = None
        if plan.vector > 1 and plan.groups:
            self._slots = at.allocator().allocate(fx.Array[fx.Float32, self._pitch * plan.vector, 16]).peek()

    def write(self, step: Step, values: Any, put: Callable[[Any, Any], None]) -> None:
        """Call `put(element of the row, Float32)` for every element of the step; all threads of the workgroup come.

        Begins and ends with the LDS free for anybody: it has barriers.
        """
        for part in fx.range_constexpr(step.passes):
            first = step.first + part * step.apart
            mine = list(range(part * step.vector, (part + 1) * step.vector))
            self._write_pass(Step(step.vector, first, step.offset, step.groups), values.shuffle(values, mine), put)

    def _write_pass(self, step: Step, values: Any, put: Callable[[Any, Any], None]) -> None:
        lane, vector, threads = self._at.lane, step.vector, self._plan.threads
        start = step.first * vector + step.offset
        if vector == 1:
            _put_if(True if step.groups is None else self._at.has(step), put, lane + start, values[0])
            return
        for index in fx.range_constexpr(vector):
            self._slots[lane + index * self._pitch] = values[index]
        fx.barrier()  # all vectors are there
        turned = []
        for part in fx.range_constexpr(vector):
            element = lane + part * threads
            turned.append(self._slots[(element % vector) * self._pitch + element // vector])
        fx.barrier()  # and all are read: the next step may write
        for part in fx.range_constexpr(vector):
            element = lane + part * threads
            inside = True if step.groups is None else element + start < step.groups * vector
            _put_if(inside, put, element + start, turned[part])


def _put_if(condition: Any, put: Any, element: Any, value: Any) -> None:
    if condition:
        put(element, value)

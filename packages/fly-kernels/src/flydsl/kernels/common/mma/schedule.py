# SPDX-License-Identifier: Apache-2.0
"""The order of instructions in one stage of a preshuffled GEMM, and the waits that this order needs.

Steady state. While a wave multiplies stage t, it

- reads from LDS the rows of A that its next phase takes (a phase ahead; the first phase of stage t + 1 at the end),
- reloads each pack of B, as soon as nothing needs it any more, with the same pack of stage t + 1 (a stage ahead),
- writes to LDS the part of A of stage t + 1 that it loaded one stage ago, and loads that of stage t + 2.

Before the last phase there is one barrier: every wave has by then read what it needs of stage t, so that buffer is
free, and has written its part of stage t + 1, so the reads of the last phase find it. Memory instructions are spread
evenly between matrix instructions, LDS reads first.

Where A is private (see `tile_plan`), packs of A are reloaded as those of B are, and there is no barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .tile_plan import TilePlan

__all__ = ["Step", "VmemOrder", "loads_of", "stage_steps"]

Key = tuple[str, Any]


@dataclass(frozen=True)
class Step:
    """One instruction.

    kind       key
    "mfma"     (row block, column block, packs, half)
    "read_a"   (row block, pack, of the next stage?)
    "load_b"   (column block, pack), of the next stage
    "load_a"   pass, of the stage after the next (or see `stage_steps`)
    "own_a"    (row block, pack), of the next stage, to registers
    "write_a"  pass, of the next stage
    "wait"     what has to be there, as (kind, key) of loads; LDS accesses always
    "barrier"  ()
    """

    kind: str
    key: Any = ()


def stage_steps(plan: TilePlan, preload: tuple[int, int] = (0, 0), direct: bool = False) -> list[Step]:
    """All steps of one stage in the steady state.

    `preload` = (LDS reads, global loads) that each phase issues before its first matrix instruction. With `direct`
    A goes from memory to LDS without registers: there is no "write_a", "load_a" comes after the barrier and is of the
    stage that follows by as many as there are buffers.
    """
    if plan.private:
        return _private_steps(plan, preload[1])
    phases = plan.phases
    steps: list[Step] = []
    loads = [Step("load_a", one) for one in range(plan.passes)]
    writes = [] if direct else [Step("write_a", one) for one in range(plan.passes)]
    write_at = max(0, len(phases) - 2) if plan.buffers > 1 else len(phases) - 1
    last_use = {pack: index for index, phase in enumerate(phases) for pack in phase.packs}
    arrivals = [("load_a", one) for one in range(plan.passes)]
    for index, phase in enumerate(phases):
        last = index == len(phases) - 1
        following = phases[(index + 1) % len(phases)]
        ready: list[Key] = [("load_b", (n, pack)) for pack in phase.packs for n in range(plan.column_blocks)]
        queue = [Step("read_a", (m, pack, last)) for pack in following.packs for m in following.blocks]
        if direct and plan.buffers == 1 and last:
            steps += [
                Step("wait", tuple(ready)),
                Step("barrier"),
                *loads,
                Step("wait", tuple(arrivals)),
                Step("barrier"),
            ]
        elif direct and last:
            steps += [Step("wait", tuple(ready + arrivals)), Step("barrier")]
            queue += loads
        elif direct:
            steps.append(Step("wait", tuple(ready)))
        elif not last:
            steps.append(Step("wait", tuple(ready + (arrivals if index == write_at else []))))
            queue += writes + loads if index == write_at else []
        elif write_at < index:
            steps += [Step("wait", tuple(ready)), Step("barrier")]
        else:
            steps.append(Step("wait", tuple(ready + arrivals)))
            steps += [Step("barrier")] if plan.buffers == 1 else []
            steps += [*writes, Step("wait", ()), Step("barrier")]
            queue += loads
        freed = {pack for pack in phase.packs if last_use[pack] == index}
        steps += _spread(plan, phase, queue, freed, preload)
    return steps


def _private_steps(plan: TilePlan, early: int) -> list[Step]:
    """Both operands in registers: packs are reloaded while those after them are multiplied, `early` before any is."""
    unit, halves = plan.product.packs, plan.product.halves
    rows, columns = range(plan.row_blocks), range(plan.column_blocks)
    steps: list[Step] = []
    queue: list[Step] = []
    for phase in plan.phases:
        keys: list[Key] = [("own_a", (m, pack)) for pack in phase.packs for m in rows]
        steps.append(Step("wait", tuple(keys + [("load_b", (n, pack)) for pack in phase.packs for n in columns])))
        groups = [phase.packs[at : at + unit] for at in range(0, len(phase.packs), unit)]
        total = len(groups) * halves * len(rows) * len(columns)
        done, freed = 0, len(queue) + len(phase.packs) * (len(rows) + len(columns))
        moved = min(early, len(queue))
        steps += queue[:moved]
        del queue[:moved]
        for packs in groups:
            for half in range(halves):
                for n in columns:
                    for m in rows:
                        while queue and moved * total < done * freed:
                            steps.append(queue.pop(0))
                            moved += 1
                        steps.append(Step("mfma", (m, n, packs, half)))
                        done += 1
                    if half == halves - 1:
                        queue += [Step("load_b", (n, pack)) for pack in packs]
            queue += [Step("own_a", (m, pack)) for pack in packs for m in rows]
    return steps + queue


def _spread(plan: TilePlan, phase: Any, queue: list[Step], freed: set[int], preload: tuple[int, int]) -> list[Step]:
    """The matrix instructions of a phase with `queue`, and the reloads of `freed` packs, between them."""
    unit, halves = plan.product.packs, plan.product.halves
    groups = [phase.packs[at : at + unit] for at in range(0, len(phase.packs), unit)]
    total = len(queue) + len(freed) * plan.column_blocks
    count = len(groups) * halves * len(phase.blocks) * plan.column_blocks
    queue = list(queue)
    steps: list[Step] = []
    # A part of A is written to LDS before its registers get the next part.
    early = [step for step in queue if step.kind == "read_a"][: preload[0]]
    early += [step for step in queue if step.kind in ("write_a", "load_a") and step.key < preload[1]]
    steps += early
    queue = [step for step in queue if step not in early]
    moved, done = len(steps), 0
    for n in range(plan.column_blocks):
        for packs in groups:
            for half in range(halves):
                for m in phase.blocks:
                    if queue and moved * count < (done + 1) * total:
                        steps.append(queue.pop(0))
                        moved += 1
                    steps.append(Step("mfma", (m, n, packs, half)))
                    done += 1
        queue += [Step("load_b", (n, pack)) for pack in phase.packs if pack in freed]
    return steps + queue


class VmemOrder:
    """Counts loads in the order of issue, in which they come back, to tell how many may still be outstanding.

    Attributes:
        stages: how many stages of "load_a" are on their way when the first of them is waited for.
    """

    def __init__(self, stages: int = 1) -> None:
        self.stages = stages
        self._issued = 0
        self._at: dict[Key, list[int]] = {}

    def issue(self, key: Key) -> None:
        """A load was issued; a later one of the same key replaces it, or follows it where several are on their way."""
        self._at.setdefault(key, []).append(self._issued)
        self._issued += 1

    def outstanding(self, keys: Iterable[Key]) -> int | None:
        """How many loads may be outstanding when all of `keys` have arrived; None when none of them was issued."""
        found = [
            self._at[key][-min(self.stages if key[0] == "load_a" else 1, len(self._at[key]))]
            for key in keys
            if key in self._at
        ]
        return self._issued - 1 - max(found) if found else None

    def replay(self, steps: Iterable[Step]) -> None:
        """Issue the loads among `steps`."""
        for step in loads_of(steps):
            self.issue((step.kind, step.key))


def loads_of(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps that load from memory."""
    return (step for step in steps if step.kind in ("load_a", "own_a", "load_b"))

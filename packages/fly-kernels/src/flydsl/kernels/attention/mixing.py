# SPDX-License-Identifier: Apache-2.0
"""Work between matrix instructions, in the order of its trace.

A matrix instruction keeps its unit busy for 32 or 64 cycles, in which the wave issues others. Waves that mix both
evenly fill both units, however they stand to each other.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.language import fx

Work = tuple[int, Callable[[], None]]  # cost, in instructions of four cycles, and what traces it


class Mix:
    """Traces reads and a part of a list of work before each of `slots` matrix instructions, even in cost.

    Args:
        work: what is to be traced, in this order.
        slots: matrix instructions.
        reads: what traces the reads of their operands, each for so many of them as come out even.
        ahead: how many reads are under way.
        lead: so many slots' work comes before the first of them, while its operands are on their way.
    """

    def __init__(self, work: list[Work], slots: int, reads: list[Callable[[], None]], *, ahead: int, lead: int) -> None:
        self._work, self._slots, self._lead = list(work), slots, lead
        self._total, self._done, self._slot = sum(cost for cost, _ in work), 0.0, 0
        self._reads, self._each, self._ahead, self._asked = reads, slots // len(reads), ahead, 0

    def before(self, atom: fx.MmaAtom, place: tuple[int, int, int]) -> fx.MmaAtom:
        """Trace what is due before the next matrix instruction; an `atom_callback` of `fx.gemm`."""
        del place
        while self._asked < min(self._slot // self._each + 1 + self._ahead, len(self._reads)):
            self._reads[self._asked]()
            self._asked += 1
        self._slot += 1
        self._until(self._total * (self._slot + self._lead) / (self._slots + self._lead))
        fx.rocdl.sched_barrier(0)
        return atom

    def rest(self) -> None:
        """Trace what is left."""
        self._until(self._total)

    def _until(self, cost: float) -> None:
        while self._work and self._done < cost:
            one, trace = self._work.pop(0)
            trace()
            self._done += one

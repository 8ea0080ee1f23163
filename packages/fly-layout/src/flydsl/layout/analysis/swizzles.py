# SPDX-License-Identifier: Apache-2.0
"""Search for the swizzle that removes bank conflicts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..algebra.composition import composition
from ..errors import LayoutError
from ..swizzle import Swizzle
from .access import Access
from .banks import BankConflicts, conflicts_of

__all__ = ["SwizzleProposal", "propose_swizzle"]


@dataclass(frozen=True)
class SwizzleProposal:
    """Result of `propose_swizzle`.

    Attributes:
        swizzle: on element indices; trivial when nothing is better than no swizzle.
        before, after: bank conflicts of each access pattern without and with it.
    """

    swizzle: Swizzle
    before: tuple[BankConflicts, ...]
    after: tuple[BankConflicts, ...]

    @property
    def cycles_before(self) -> int:
        """Cycles of all patterns without the swizzle."""
        return sum(c.cycles for c in self.before)

    @property
    def cycles_after(self) -> int:
        """Cycles of all patterns with it."""
        return sum(c.cycles for c in self.after)

    @property
    def is_conflict_free(self) -> bool:
        """True when no pattern has a conflict left."""
        return all(c.conflicts == 0 for c in self.after)

    def __str__(self) -> str:
        return f"{self.swizzle}: {self.cycles_before} -> {self.cycles_after} cycles"


def propose_swizzle(*accesses: Access, arch: str = "gfx942", banks: int | None = None) -> SwizzleProposal:
    """The swizzle of element indices that minimises the cycles of all patterns together.

    Every ``S<bits, base, shift>`` is tried whose vectors stay whole (``base`` keeps the widest access) and whose bits
    lie below the tile's size, so it permutes the tile; of equals the one with fewest bits, then smallest shift and
    base, is taken.

    Args:
        accesses: patterns (see `Access.of`) on one LDS tile, for instance its writes and its reads.
        arch: the architecture, see `bank_conflicts`.
        banks: 32 or 64 instead of the architecture's.

    Raises:
        LayoutError: no pattern is given.
    """
    if not accesses:
        raise LayoutError("propose_swizzle(): give at least one access pattern")
    before = tuple(conflicts_of(a, arch, banks) for a in accesses)
    best = (sum(c.cycles for c in before), 0, 0, 0)
    best_after = before
    fewest = sum(c.fewest for c in before)
    keep = max(max(1, a.values_per_access).bit_length() - 1 for a in accesses)
    top = max((a.layout.cosize() - 1).bit_length() for a in accesses)
    for bits in range(1, 7):
        if best[0] == fewest:
            break
        for shift in range(bits, top):
            for base in range(keep, top - bits - shift + 1):
                swizzle = Swizzle(bits, base, shift)
                after = tuple(
                    conflicts_of(replace(a, layout=composition(swizzle, a.layout)), arch, banks) for a in accesses
                )
                score = (sum(c.cycles for c in after), bits, shift, base)
                if score[0] < best[0]:
                    best, best_after = score, after
    chosen = Swizzle(best[1], best[3], best[2]) if best[1] else Swizzle(0, 0, 0)
    return SwizzleProposal(chosen, before, best_after)

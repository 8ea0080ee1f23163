# SPDX-License-Identifier: Apache-2.0
"""Coalescing: memory transactions of a wave's accesses, against the fewest that could serve them."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LayoutError
from .access import Access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..types import AnyLayout

__all__ = ["Coalescing", "coalescing"]


@dataclass(frozen=True)
class Coalescing:
    """Result of `coalescing`.

    Attributes:
        access: the pattern.
        segment_bytes: size of a transaction.
        per_access: transactions of each access of each wave.
        fewest_per_access: the fewest for the distinct bytes of each access.
    """

    access: Access
    segment_bytes: int
    per_access: tuple[int, ...]
    fewest_per_access: tuple[int, ...]

    @property
    def transactions(self) -> int:
        """Transactions of all accesses."""
        return sum(self.per_access)

    @property
    def fewest(self) -> int:
        """The fewest transactions that could serve all accesses."""
        return sum(self.fewest_per_access)

    @property
    def efficiency(self) -> float:
        """``fewest / transactions``; 1.0 is fully coalesced."""
        return self.fewest / self.transactions

    def __str__(self) -> str:
        return (
            f"{self.transactions} transactions of {self.segment_bytes} bytes in {len(self.per_access)} accesses of "
            f"{self.access.width_bits} bits per lane; {self.fewest} are possible ({self.efficiency:.0%})"
        )


def coalescing(
    layout: AnyLayout,
    elem_bits: int,
    width_bits: int | None = None,
    *,
    wave: int = 64,
    segment_bytes: int = 64,
    base: int = 0,
) -> Coalescing:
    """Transactions per wave access: the distinct segments that its lanes touch.

    Args:
        layout: (lane, value) to element index; a leaf or one mode is lanes only.
        elem_bits: width of an element.
        width_bits: width of one lane's access; by default the widest that the values allow.
        wave: lanes that access together, 64 or 32.
        segment_bytes: bytes of a memory transaction (64; caches may fetch 128).
        base: byte address of element 0.

    Raises:
        LayoutError: see `Access.of`; or ``segment_bytes`` is no power of two.
    """
    if segment_bytes < 1 or segment_bytes & (segment_bytes - 1):
        raise LayoutError(f"coalescing({layout}): segment_bytes {segment_bytes} is no power of two")
    access = Access.of(layout, elem_bits, width_bits, wave=wave, base=base)
    width = access.width_bits // 8
    counts = []
    fewest = []
    for starts in access.wave_accesses():
        touched = {a for start in starts for a in range(start, start + width)}
        counts.append(len({a // segment_bytes for a in touched}))
        fewest.append(-(-len(touched) // segment_bytes))
    return Coalescing(access, segment_bytes, tuple(counts), tuple(fewest))

# SPDX-License-Identifier: Apache-2.0
"""LDS bank conflicts of an access pattern."""

from __future__ import annotations

from dataclasses import dataclass

from .access import Access
from .lds import LdsPhases, lds_phases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..types import AnyLayout

__all__ = ["BankConflicts", "bank_conflicts"]


@dataclass(frozen=True)
class BankConflicts:
    """Result of `bank_conflicts`.

    Attributes:
        access: the pattern.
        arch: the architecture.
        machine: banks and phases; ``machine.assumed`` says whether the grouping of lanes is an assumption.
        phase_cycles: cycles of each phase of each access of each wave.
        worst: (phase lanes, bank, byte addresses) of the worst conflict, or None.
    """

    access: Access
    arch: str
    machine: LdsPhases
    phase_cycles: tuple[tuple[int, ...], ...]
    worst: tuple[tuple[int, ...], int, tuple[int, ...]] | None

    @property
    def accesses(self) -> int:
        """Accesses of all waves."""
        return len(self.phase_cycles)

    @property
    def cycles(self) -> int:
        """Cycles of all accesses."""
        return sum(map(sum, self.phase_cycles))

    @property
    def fewest(self) -> int:
        """Cycles without any conflict: one per phase."""
        return sum(map(len, self.phase_cycles))

    @property
    def cycles_per_access(self) -> float:
        """Mean cycles of one access of a wave."""
        return self.cycles / self.accesses

    @property
    def conflicts(self) -> int:
        """Cycles that conflicts add."""
        return self.cycles - self.fewest

    @property
    def degree(self) -> int:
        """Accesses that the worst phase makes to one bank, one after the other; 1 is free of conflicts."""
        return max(max(p) for p in self.phase_cycles)

    @property
    def assumed(self) -> bool:
        """True when the grouping of lanes is an assumption."""
        return self.machine.assumed

    def __str__(self) -> str:
        note = " (grouping of lanes assumed)" if self.assumed else ""
        return (
            f"{self.cycles_per_access:g} cycles per {self.access.width_bits}-bit {self.access.operation} on "
            f"{self.machine.banks} banks, {self.fewest / self.accesses:g} without conflicts; "
            f"worst {self.degree}-way{note}"
        )


def bank_conflicts(
    layout: AnyLayout,
    elem_bits: int,
    width_bits: int | None = None,
    *,
    arch: str = "gfx942",
    operation: str = "read",
    wave: int = 64,
    banks: int | None = None,
    base: int = 0,
) -> BankConflicts:
    """Cycles that LDS needs for each access of a wave.

    In each phase (a group of lanes, see `lds_phases`) every bank serves one 4-byte word a cycle; lanes that want the
    same word share it. A phase takes as many cycles as its busiest bank has distinct words.

    Args:
        layout: (lane, value) to element index; a leaf or one mode is lanes only.
        elem_bits: width of an element.
        width_bits: width of one lane's access (8 to 128); by default the widest that the values allow.
        arch: ``gfx942``, ``gfx950``, ``gfx11``, ``gfx12`` or ``gfx1250``.
        operation: ``"read"`` or ``"write"``.
        wave: lanes that access together.
        banks: 32 or 64 instead of the architecture's.
        base: byte address of element 0.

    Raises:
        LayoutError: see `Access.of` and `lds_phases`.
    """
    access = Access.of(layout, elem_bits, width_bits, operation=operation, wave=wave, base=base)
    return conflicts_of(access, arch, banks)


def conflicts_of(access: Access, arch: str, banks: int | None = None) -> BankConflicts:
    """`bank_conflicts` of an `Access`."""
    machine = lds_phases(arch, access.operation, access.width_bits, access.wave, banks)
    width = access.width_bits // 8
    cycles = []
    worst: tuple[tuple[int, ...], int, tuple[int, ...]] | None = None
    degree = 1
    for starts in access.wave_accesses():
        of_phases = []
        for phase in machine.phases:
            words: dict[int, set[int]] = {}
            for lane in phase:
                if lane < len(starts):
                    start = starts[lane]
                    for word in range(start // 4, (start + width - 1) // 4 + 1):
                        words.setdefault(word % machine.banks, set()).add(word)
            if not words:
                continue
            bank = max(words, key=lambda b: len(words[b]))
            of_phases.append(len(words[bank]))
            if len(words[bank]) > degree:
                degree = len(words[bank])
                worst = (phase, bank, tuple(sorted(w * 4 for w in words[bank])))
        cycles.append(tuple(of_phases))
    return BankConflicts(access, arch, machine, tuple(cycles), worst)

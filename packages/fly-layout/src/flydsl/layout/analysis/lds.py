# SPDX-License-Identifier: Apache-2.0
"""How AMD hardware serves a wave's LDS access: banks, and the groups of lanes that go together."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LayoutError

__all__ = ["LDS_ARCHITECTURES", "LdsPhases", "lds_phases"]


@dataclass(frozen=True)
class LdsPhases:
    """The phases of one LDS instruction. Conflicts count within a phase only.

    Attributes:
        banks: banks of 4 bytes that a phase can reach.
        phases: the lanes of each phase.
        assumed: True when the grouping is not published or measured, but filled in from the bandwidth.
    """

    banks: int
    phases: tuple[tuple[int, ...], ...]
    assumed: bool


def _ranges(*bounds: tuple[int, int]) -> tuple[int, ...]:
    return tuple(lane for first, last in bounds for lane in range(first, last + 1))


def _shifted(groups: tuple[tuple[int, ...], ...], by: int) -> tuple[tuple[int, ...], ...]:
    return groups + tuple(tuple(lane + by for lane in g) for g in groups)


def _even(wave: int, size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(range(i, i + size)) for i in range(0, wave, size))


# gfx950, measured lane by lane on hardware: (operation, bits) to (banks, phases).
_B128 = _shifted((_ranges((0, 3), (12, 15), (20, 27)), _ranges((4, 11), (16, 19), (28, 31))), 32)
_B96_QUARTER = (
    _ranges((0, 3), (20, 23)),
    _ranges((4, 7), (16, 19)),
    _ranges((8, 11), (28, 31)),
    _ranges((12, 15), (24, 27)),
)
_GFX950 = {
    ("read", 128): (64, _B128),
    ("read", 96): (32, _shifted(_B96_QUARTER, 32)),
    ("read", 64): (64, _even(64, 32)),
    ("write", 64): (32, _even(64, 16)),
}

# Banks by architecture; what is not measured moves this many banks' worth of lanes at a time, in order.
_BANKS = {"gfx942": 32, "gfx950": 64, "gfx11": 32, "gfx12": 32, "gfx1250": 64}
LDS_ARCHITECTURES = tuple(_BANKS)


def lds_phases(arch: str, operation: str, width_bits: int, wave: int = 64, banks: int | None = None) -> LdsPhases:
    """The phases of an LDS access of ``width_bits`` per lane.

    Args:
        arch: ``gfx942``, ``gfx950``, ``gfx11``, ``gfx12`` or ``gfx1250``.
        operation: ``"read"`` or ``"write"``.
        width_bits: 8 to 128.
        wave: lanes of the access.
        banks: use this many banks instead, with lanes in order (then the grouping counts as assumed).

    Raises:
        LayoutError: unknown architecture or a number of banks other than 32 and 64.
    """
    if arch not in _BANKS:
        raise LayoutError(f"lds_phases({arch!r}): known are {', '.join(_BANKS)}")
    if banks is None:
        measured = _GFX950.get((operation, width_bits)) if arch == "gfx950" and wave == 64 else None
        if measured is not None:
            return LdsPhases(measured[0], measured[1], assumed=False)
        banks = 32 if arch == "gfx950" and operation == "write" else _BANKS[arch]
    elif banks not in (32, 64):
        raise LayoutError(f"lds_phases({arch!r}): {banks} banks are neither 32 nor 64")
    dwords = max(1, width_bits // 32)
    size = min(wave, max(1, 1 << (banks // dwords).bit_length() - 1))
    return LdsPhases(banks, _even(wave, size), assumed=True)

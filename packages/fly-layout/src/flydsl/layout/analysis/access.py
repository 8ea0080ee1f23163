# SPDX-License-Identifier: Apache-2.0
"""The bytes that each lane touches in each access of a thread-value layout."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LayoutError, fail
from ..layout import LayoutLike
from .vectors import vectorization

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..types import AnyLayout

__all__ = ["Access"]

_MAX_LANES = 1 << 16


@dataclass(frozen=True)
class Access:
    """A pattern of memory accesses: lanes by mode 0, values by mode 1 of a layout of element indices.

    A layout with one mode (or a leaf) has one value per lane. Each access moves ``width_bits`` of consecutive values;
    a lane with more values makes several accesses, one after the other.

    Attributes:
        layout: (lane, value) to element index; may be composed with a swizzle.
        elem_bits: width of an element.
        width_bits: width of one access of one lane; a single value may be wider accessed than its element.
        operation: ``"read"`` or ``"write"``.
        wave: lanes that access together.
        base: byte address of element 0.
    """

    layout: Any
    elem_bits: int
    width_bits: int
    operation: str = "read"
    wave: int = 64
    base: int = 0

    @staticmethod
    def of(
        layout: AnyLayout,
        elem_bits: int,
        width_bits: int | None = None,
        *,
        operation: str = "read",
        wave: int = 64,
        base: int = 0,
    ) -> Access:
        """An access; the default width is the widest of 128, 64, 32, 16 and 8 bits that the values allow.

        Raises:
            LayoutError: the layout is not static, a width is not a power of two of whole bytes up to 128 (96 is one
                too), or the values of one access are not consecutive in memory.
        """
        if not isinstance(layout, LayoutLike) or not layout.is_static:
            raise fail("access", "the pattern has to be a static layout", layout)
        if elem_bits < 1 or operation not in ("read", "write") or wave not in (32, 64):
            raise LayoutError(
                f"access({layout}): elem_bits {elem_bits} is positive, operation {operation!r} is 'read' or 'write', "
                f"and wave {wave} is 32 or 64"
            )
        lanes = layout[0].size() if layout.rank > 1 else layout.size()
        if lanes > _MAX_LANES:
            raise fail(
                "access", f"mode 0 has {lanes} lanes, more than {_MAX_LANES}; mode 0 is lanes, mode 1 values", layout
            )
        if layout.rank > 2:
            raise fail("access", "the pattern has two modes, lanes and values; group the others", layout)
        if width_bits is None:
            widest = vectorization(layout[1] if layout.rank > 1 else layout, elem_bits) if layout.rank > 1 else None
            width_bits = max(8, min(widest.bits if widest else elem_bits, 128))
            width_bits = max(w for w in (8, 16, 32, 64, 128) if w <= width_bits)
        if width_bits not in (8, 16, 32, 64, 96, 128):
            raise fail("access", f"a width of {width_bits} bits is none of 8, 16, 32, 64, 96 and 128", layout)
        access = Access(layout, elem_bits, width_bits, operation, wave, base)
        access.check_contiguous()
        return access

    @property
    def lanes(self) -> int:
        """Lanes of all waves."""
        return int(self.layout[0].size() if self.layout.rank > 1 else self.layout.size())

    @property
    def values(self) -> int:
        """Values of each lane."""
        return int(self.layout[1].size() if self.layout.rank > 1 else 1)

    @property
    def values_per_access(self) -> int:
        """Values that one access moves."""
        return min(self.values, max(1, self.width_bits // self.elem_bits))

    def index(self, lane: int, value: int) -> int:
        """Element index of a lane's value."""
        return int(self.layout(lane, value) if self.layout.rank > 1 else self.layout(lane))

    def check_contiguous(self) -> None:
        """Raise unless the values of each access follow each other in memory."""
        n = self.values_per_access
        if self.values % n:
            raise fail(
                "access", f"{self.values} values are no whole number of {self.width_bits}-bit accesses", self.layout
            )
        if n == 1:
            return
        for lane in range(self.lanes):
            for first in range(0, self.values, n):
                start = self.index(lane, first)
                for i in range(1, n):
                    if self.index(lane, first + i) != start + i:
                        raise fail(
                            "access",
                            f"values {first} and {first + i} of lane {lane} are not {i} elements apart, "
                            f"so {self.width_bits} bits are no single access",
                            self.layout,
                        )

    def wave_accesses(self) -> Iterator[list[int]]:
        """For every access of every wave: the byte address at which each lane starts."""
        n = self.values_per_access
        for first_lane in range(0, self.lanes, self.wave):
            lanes = range(first_lane, min(first_lane + self.wave, self.lanes))
            for first in range(0, self.values, n):
                yield [self.base + self.index(lane, first) * self.elem_bits // 8 for lane in lanes]

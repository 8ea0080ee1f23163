# SPDX-License-Identifier: Apache-2.0
"""The widest vector that a layout's elements can be moved in."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ..algebra.coalesce import coalesce
from ..basis import Basis
from ..composed import ComposedLayout
from ..errors import LayoutTypeError, fail
from ..int_tuple import flatten
from ..layout import Layout, LayoutLike
from ..swizzle import Swizzle
from ..symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout

__all__ = ["Vectorization", "vectorization"]


@dataclass(frozen=True)
class Vectorization:
    """Result of `vectorization`.

    Attributes:
        elements: elements of the widest aligned vector, a power of two.
        bits: its width.
        contiguous: elements that follow each other in memory, aligned or not.
        reason: what limits it.
    """

    elements: int
    bits: int
    contiguous: int
    reason: str

    def __str__(self) -> str:
        return f"{self.elements} elements ({self.bits} bits): {self.reason}"


def vectorization(
    layout: AnyLayout, elem_bits: int, *, max_bits: int = 128, alignment: int | None = None
) -> Vectorization:
    """The widest vector in which consecutive coordinates of ``layout`` can be moved.

    The first run of the coalesced layout has to have stride 1, its extent and every other stride and offset have to be
    multiples of the vector, and a swizzle has to keep that many low bits.

    Args:
        layout: element indices; symbolic strides count by their divisibility.
        elem_bits: width of an element.
        max_bits: the widest vector asked for.
        alignment: bytes to which element 0 is aligned; any by default.
    """
    if not isinstance(layout, LayoutLike):
        raise fail("vectorization", "the operand is no layout", layout, kind=LayoutTypeError)
    limits: list[tuple[int, str]] = [
        (max(1, max_bits // elem_bits), f"vectors of at most {max_bits} bits were asked for")
    ]
    if alignment is not None:
        limits.append((max(1, alignment * 8 // elem_bits), f"element 0 is aligned to {alignment} bytes"))
    at: Any = layout
    while isinstance(at, ComposedLayout):
        if isinstance(at.inner, Swizzle):
            if at.inner.bits:
                limits.append((1 << at.inner.base, f"{at.inner} keeps {at.inner.base} low bits"))
        else:
            limits.append((1, "the inner function is no swizzle"))
        limits.append((_divisor(at.offset), f"the offset {at.offset}"))
        at = at.outer
    plain: Layout = coalesce(at.plain())
    modes = [(s, d) for s, d in zip(flatten(plain.shape), flatten(plain.stride)) if not (type(s) is int and s == 1)]
    contiguous = 1
    if modes and type(modes[0][1]) is int and modes[0][1] == 1 and type(modes[0][0]) is int:
        contiguous = modes[0][0]
        limits.append((contiguous, f"{contiguous} elements are contiguous"))
    elif modes:
        limits.append((1, f"the first stride is {modes[0][1]}"))
    limits += [(_divisor(d), f"a mode has stride {d}") for _, d in modes[1:]]
    elements, reason = 1 << 30, ""
    for divisor, why in limits:
        power = elements if divisor == 0 else divisor & -divisor
        if power < elements:
            elements, reason = power, why
    return Vectorization(elements, elements * elem_bits, contiguous, reason)


def _divisor(x: Any) -> int:
    """A number that divides ``x``; 0 when ``x`` is 0."""
    if isinstance(x, Basis):
        x = x.value
    if isinstance(x, SymInt):
        return x.div if x.div > 0 else 1
    return gcd(x, 0) if isinstance(x, int) else 1

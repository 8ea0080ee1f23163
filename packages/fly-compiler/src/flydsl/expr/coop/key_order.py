# SPDX-License-Identifier: Apache-2.0
"""Keys as unsigned integers whose order is the keys', for radix sorts."""

from __future__ import annotations

from typing import Any

from ..values import numeric
from ..values.numeric.base import select
from ..values.numeric.meta import NumericMeta

__all__ = ["from_bits", "to_bits", "unsigned"]


def unsigned(dtype: NumericMeta) -> NumericMeta:
    """Return the unsigned class as wide as `dtype`; `TypeError` when there is none."""
    found: NumericMeta | None = getattr(numeric, f"Uint{dtype.width}", None)
    if found is None:
        raise TypeError(f"{dtype.__name__} cannot be sorted by its bits")
    return found


def to_bits(key: Any, descending: bool) -> Any:
    """Return unsigned bits that order as the key does, or the other way round.

    Signed integers have their sign bit flipped; so have positive floats, negative ones all bits.
    """
    cls = key.dtype
    bits = key.bitcast(unsigned(cls))
    top = unsigned(cls)(1 << (cls.width - 1))
    if cls.is_float:
        bits = select(bits >= top, ~bits, bits | top)
    elif cls.signed:
        bits = bits ^ top
    return ~bits if descending else bits


def from_bits(bits: Any, dtype: NumericMeta, descending: bool) -> Any:
    """Return the key that `to_bits` gave these bits for."""
    bits = ~bits if descending else bits
    top = unsigned(dtype)(1 << (dtype.width - 1))
    if dtype.is_float:
        bits = select(bits >= top, bits ^ top, ~bits)
    elif dtype.signed:
        bits = bits ^ top
    return bits.bitcast(dtype)

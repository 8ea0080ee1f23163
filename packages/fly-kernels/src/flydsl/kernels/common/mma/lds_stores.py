# SPDX-License-Identifier: Apache-2.0
"""Stores of parts of rows to LDS, in 16-byte chunks that change places with the row so that columns meet no conflicts.

`arith` and `vector` come first where kernels of before pass these modules; they are not used.
"""

from __future__ import annotations

from typing import Any

from ..language import fx
from .lds_swizzle import swizzle_xor16

__all__ = ["lds_store_4b_xor16", "lds_store_8b_xor16", "lds_store_16b_xor16"]


def lds_store_16b_xor16(
    arith: object = None,
    vector: object = None,
    *,
    lds: Any,
    row: fx.Numeric | int,
    col: fx.Numeric | int,
    pitch: int,
    k_blocks16: int,
    value: Any,
    lds_base: fx.Numeric | int = 0,
) -> None:
    """Store 16 bytes of a row at byte `lds_base + row * pitch + swizzle_xor16(row, col, k_blocks16)`.

    Args:
        lds: a pointer in LDS, or what `.peek()` of an `fx.Array` gives.
        row: of the tile.
        col: in bytes, a multiple of the 16 that are stored.
        pitch: bytes from one row to the next.
        k_blocks16: chunks of 16 bytes of a row, a power of two.
        value: a vector of 16 bytes.
        lds_base: where the tile begins, in bytes.

    Raises:
        ValueError: a vector of another size, or no power of two of chunks.
    """
    _store(16, lds, row, col, pitch, k_blocks16, value, lds_base)


def lds_store_8b_xor16(
    arith: object = None,
    vector: object = None,
    *,
    lds: Any,
    row: fx.Numeric | int,
    col: fx.Numeric | int,
    pitch: int,
    k_blocks16: int,
    value: Any,
    lds_base: fx.Numeric | int = 0,
) -> None:
    """The same with 8 bytes."""
    _store(8, lds, row, col, pitch, k_blocks16, value, lds_base)


def lds_store_4b_xor16(
    arith: object = None,
    vector: object = None,
    *,
    lds: Any,
    row: fx.Numeric | int,
    col: fx.Numeric | int,
    pitch: int,
    k_blocks16: int,
    value: Any,
    lds_base: fx.Numeric | int = 0,
) -> None:
    """The same with 4 bytes; `value` may be a scalar of 32 bits."""
    _store(4, lds, row, col, pitch, k_blocks16, value, lds_base)


def _store(size: int, lds: Any, row: Any, col: Any, pitch: int, k_blocks16: int, value: Any, lds_base: Any) -> None:
    value = fx.as_dsl_value(value)
    if not isinstance(value, fx.Vector):
        value = fx.Vector.from_elements([value])
    found = value.numel * value.dtype.width // 8
    if found != size:
        raise ValueError(f"lds_store_{size}b_xor16: the value has {found} bytes")
    octets = fx.recast_iter(fx.Int8, getattr(lds, "ptr", lds))
    octets = octets + (row * pitch + swizzle_xor16(row, col, k_blocks16) + lds_base)
    place = fx.recast_iter(fx.PointerType.get(value.dtype, octets.address_space, size), octets)
    fx.make_view(place, fx.make_layout(value.numel, 1)).store(value)

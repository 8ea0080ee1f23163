# SPDX-License-Identifier: Apache-2.0
"""Where 16-byte chunks of a row lie in LDS, so that lanes that read a column of chunks meet no bank conflict."""

from __future__ import annotations

from typing import Any

__all__ = ["chunk_swizzle", "swizzle_chunk", "swizzle_xor16"]

_MOST_BITS = 4  # of the number of a chunk that a row changes: 16 different rows are enough
_BANK_BITS = 3  # of the number of a chunk in all 32 banks


def chunk_swizzle(chunks: int) -> tuple[int, int]:
    """(bits, shift): of rows of so many chunks of 16 bytes, number c of all lies at c xor ((c >> shift) mod 2^bits).

    The lanes of a 128-bit LDS read take the same chunk of 16 rows. Rows shorter than the 128 bytes of 32 banks share a
    line of banks, so only every (128 / row)-th changes the swizzle. `chunks` is a power of two.
    """
    bits = chunks.bit_length() - 1
    return min(bits, _MOST_BITS), max(bits, _BANK_BITS)


def swizzle_chunk(row: Any, chunk: Any, shift: int, mask: int) -> Any:
    """Where chunk `chunk` (16 bytes) of row `row` lies in its row in LDS; see `chunk_swizzle`."""
    return chunk ^ ((row >> shift) & mask)


def swizzle_xor16(row: Any, col: Any, k_blocks16: int) -> Any:
    """Column in bytes where (row, col) lies in LDS: `col xor 16 * (row mod k_blocks16)`; a power of two of blocks."""
    if k_blocks16 < 1 or k_blocks16 & (k_blocks16 - 1):
        raise ValueError(f"swizzle_xor16: k_blocks16 is a power of two, got {k_blocks16}")
    return swizzle_chunk(row * 16, col, 0, (k_blocks16 - 1) * 16)

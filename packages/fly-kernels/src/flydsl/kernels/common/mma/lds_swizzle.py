# SPDX-License-Identifier: Apache-2.0
"""Where 16-byte chunks of a row lie in LDS, so that lanes that read a column of chunks meet no bank conflict."""

from __future__ import annotations

from typing import Any

__all__ = ["swizzle_chunk", "swizzle_xor16"]


def swizzle_chunk(row: Any, chunk: Any, shift: int, mask: int) -> Any:
    """Where chunk `chunk` (16 bytes) of row `row` lies in its row in LDS; see `TilePlan.swizzle`."""
    return chunk ^ ((row >> shift) & mask)


def swizzle_xor16(row: Any, col: Any, k_blocks16: int) -> Any:
    """Column in bytes where (row, col) lies in LDS: `col xor 16 * (row mod k_blocks16)`; a power of two of blocks."""
    if k_blocks16 < 1 or k_blocks16 & (k_blocks16 - 1):
        raise ValueError(f"swizzle_xor16: k_blocks16 is a power of two, got {k_blocks16}")
    return swizzle_chunk(row * 16, col, 0, (k_blocks16 - 1) * 16)

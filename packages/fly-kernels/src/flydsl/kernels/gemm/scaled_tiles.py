# SPDX-License-Identifier: Apache-2.0
"""The tile of a product with scales of parts of K, for those who do not choose one."""

from __future__ import annotations

from ..common.defaults import defaults
from .config import large_tile

__all__ = ["scaled_tile"]

# Rows up to which a tile is used, and the tile: for few rows the time is that of reading B.
_TILES = ((16, (16, 64)), (32, (32, 64)), (512, (64, 128)), (1 << 40, (128, 128)))
_FEW_ROWS = 32


def scaled_tile(arch: str, M: int, N: int, K: int, formats: tuple[str, str]) -> tuple[int, int]:
    """The tile for a shape: by the number of rows, or the chip's large one where it pays and has a loop for these.

    `formats` are those of A and B, keys of `MX_FORMATS`, or ("fp8", "f32") for scales in f32.
    """
    usual = next(tile for rows, tile in _TILES if rows >= M)
    large = large_tile(arch, M, N, usual) if M > _FEW_ROWS else None
    if large is None:
        return usual
    forms = [one for one in defaults("scaled_loops", arch) if one["tile"] == list(large)]
    return large if any(list(formats) in one["formats"] and K % one["step"] == 0 for one in forms) else usual

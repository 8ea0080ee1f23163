# SPDX-License-Identifier: Apache-2.0
"""How a GEMM is cut up: what can be chosen, and what is chosen by default for an architecture and a shape."""

from __future__ import annotations

from dataclasses import dataclass

from ..common.checks import positive_integer
from ..common.utils import cdiv
from .tile_gemm import ELEMENT_BYTES

__all__ = ["COMPUTE_UNITS", "GemmConfig", "default_config"]

COMPUTE_UNITS = {"gfx942": 304, "gfx950": 256}  # of MI300X and MI355X
_MOST_SPLITS = 16
_LEAST_SPLIT_BYTES = 1024  # of K that a part keeps, so that its main loop is one
# (tile_m, tile_n) by how much data each load serves: the first that keeps every compute unit busy is taken.
_TILES = ((128, 256), (128, 128), (64, 256), (64, 128), (64, 64))


@dataclass(frozen=True)
class GemmConfig:
    """What a workgroup computes, and how K is cut.

    Attributes:
        tile_m, tile_n, tile_k: rows and columns of a tile, and elements of which (a part of) K is a multiple.
        split_k: parts of K that different workgroups add up.
        waves: the grid of waves over a tile, (along M, along N); None takes the best, and waves along K with it.
        k_waves: waves along K, where `waves` is given.
        lds_stage: LDS buffers of A, 1 or 2, or with `use_async_copy` more.
        use_async_copy: A goes to LDS without registers (gfx950).
        group_m: row tiles that are walked together; 0 keeps the order.
        xcd_swizzle: column tiles that the workgroups of one XCD share; 0 keeps the order.
        waves_per_eu: occupancy to ask of register allocation, if any.
    """

    tile_m: int
    tile_n: int
    tile_k: int
    split_k: int = 1
    waves: tuple[int, int] | None = None
    k_waves: int = 1
    lds_stage: int = 2
    use_async_copy: bool = False
    group_m: int = 0
    xcd_swizzle: int = 0
    waves_per_eu: int | None = None

    def check(self, arch: str, in_dtype: str, N: int, K: int, *, shuffled: bool) -> None:
        """Raise ValueError, with the numbers, when no kernel can be built for this."""
        if in_dtype not in ELEMENT_BYTES:
            raise ValueError(f"in_dtype {in_dtype!r} is not supported; use one of {', '.join(ELEMENT_BYTES)}")
        numbers = {"N": N, "K": K, "tile_m": self.tile_m, "tile_n": self.tile_n, "tile_k": self.tile_k}
        grid = (1, 4) if self.waves is None else self.waves
        numbers |= {"split_k": self.split_k, "waves[0]": grid[0], "waves[1]": grid[1], "k_waves": self.k_waves}
        for name, value in numbers.items():
            positive_integer(name, value)
        depth = self.tile_k * ELEMENT_BYTES[in_dtype]
        if self.waves is None and self.k_waves != 1:
            raise ValueError(f"k_waves = {self.k_waves} needs waves, those along M and N")
        along_n = grid[1] * self.k_waves  # once K is summed over
        waves = grid[0] * along_n
        if waves not in (1, 2, 4, 8, 16):
            raise ValueError(
                f"waves = {grid}, k_waves = {self.k_waves}: a workgroup has 1, 2, 4, 8 or 16 waves, not {waves}"
            )
        if self.tile_m % (16 * grid[0]):
            raise ValueError(f"tile_m = {self.tile_m} is no multiple of 16 rows for each of {grid[0]} waves")
        if self.tile_n % (16 * along_n):
            raise ValueError(f"tile_n = {self.tile_n} is no multiple of 16 columns for each of {along_n} waves")
        if depth % 64:
            raise ValueError(f"tile_k = {self.tile_k} {in_dtype} are {depth} bytes, no multiple of 64")
        if K % (self.split_k * self.tile_k):
            raise ValueError(
                f"K = {K} is no multiple of split_k * tile_k = {self.split_k} * {self.tile_k}: there is no tail along K"
            )
        aligned = 16 if shuffled else 4
        if N % aligned:
            raise ValueError(f"N = {N} is no multiple of {aligned}")
        if K * ELEMENT_BYTES[in_dtype] // self.split_k % (64 * self.k_waves):
            raise ValueError(
                f"K = {K} {in_dtype} in {self.split_k} parts is no multiple of 64 bytes for each of "
                f"{self.k_waves} waves"
            )
        positive_integer("lds_stage", self.lds_stage)
        if self.lds_stage > 2 and not self.use_async_copy:
            raise ValueError(
                f"lds_stage is 1 or 2, got {self.lds_stage}: more are for use_async_copy, which fills them ahead"
            )
        if self.use_async_copy and arch != "gfx950":
            raise ValueError(f"use_async_copy needs gfx950, which loads 16 bytes a lane into LDS; the target is {arch}")
        if self.group_m and self.xcd_swizzle:
            raise ValueError("group_m and xcd_swizzle both order the workgroups: choose one")


def default_config(arch: str, in_dtype: str, M: int, N: int, K: int) -> GemmConfig:
    """The configuration for a shape class, where nobody has measured a better one.

    Up to 16 rows (decode) a tile is 16 x 64, up to 32 rows 32 x 64: then B is read once and nothing else matters. For
    more rows it is the largest tile of which there are as many as compute units. Where even the smallest leaves
    compute units idle, K is split in two, four, ... up to 16 parts.

    Raises ValueError when K is no multiple of 64 bytes, or for an architecture or type without a kernel.
    """
    if arch not in COMPUTE_UNITS:
        raise ValueError(f"GEMMs are written for {' and '.join(COMPUTE_UNITS)}, not for {arch}")
    if in_dtype not in ELEMENT_BYTES:
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use one of {', '.join(ELEMENT_BYTES)}")
    size, units = ELEMENT_BYTES[in_dtype], COMPUTE_UNITS[arch]
    if K < 1 or K * size % 64:
        raise ValueError(f"K = {K} {in_dtype} are {K * size} bytes, no multiple of 64: pad K with zeros")
    if M <= 32:
        tile_m, tile_n = (16 if M <= 16 else 32), 64
    else:
        busy = [tile for tile in _TILES if cdiv(M, tile[0]) * cdiv(N, tile[1]) >= units]
        tile_m, tile_n = busy[0] if busy else _TILES[-1]
    split = 1
    tiles = cdiv(max(M, 1), tile_m) * cdiv(N, tile_n)
    while (
        2 * split <= _MOST_SPLITS
        and 2 * split * tiles <= units
        and K * size % (2 * split * 64) == 0
        and K * size // (2 * split) >= _LEAST_SPLIT_BYTES
    ):
        split *= 2
    depth = next(one for one in (512, 256, 128, 64) if K * size // split % one == 0)
    return GemmConfig(tile_m, tile_n, depth // size, split)

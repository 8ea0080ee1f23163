# SPDX-License-Identifier: Apache-2.0
"""How a GEMM is cut up: what can be chosen, and what is chosen by default for an architecture and a shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..common.arch import COMPUTE_UNITS, NUM_XCDS, WMMA_CHIPS
from ..common.checks import positive_integer
from ..common.defaults import defaults, shape_class
from ..common.mma.loop_plan import QUADRANT_STEP_BYTES
from ..common.utils import cdiv
from .arguments import ELEMENT_BYTES

__all__ = ["COMPUTE_UNITS", "GemmConfig", "default_config", "large_tile"]

_ROUGHLY = 0.88


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
        waves = grid[0] * grid[1] * self.k_waves
        if waves not in (1, 2, 4, 8, 16):
            raise ValueError(
                f"waves = {grid}, k_waves = {self.k_waves}: a workgroup has 1, 2, 4, 8 or 16 waves, not {waves}"
            )
        if self.tile_m % (16 * grid[0]):
            raise ValueError(f"tile_m = {self.tile_m} is no multiple of 16 rows for each of {grid[0]} waves")
        if self.tile_n % (16 * grid[1]):
            raise ValueError(f"tile_n = {self.tile_n} is no multiple of 16 columns for each of {grid[1]} waves")
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
        if arch in WMMA_CHIPS:
            self._check_wmma(arch, shuffled)
        if self.use_async_copy and arch != "gfx950":
            raise ValueError(f"use_async_copy needs gfx950, which loads 16 bytes a lane into LDS; the target is {arch}")
        if self.group_m and self.xcd_swizzle:
            raise ValueError("group_m and xcd_swizzle both order the workgroups: choose one")

    def _check_wmma(self, arch: str, shuffled: bool) -> None:
        """ValueError for what only the main loops of waves of 64 lanes have."""
        for name, asked, there in (
            ("shuffled B", shuffled, False),
            ("k_waves", self.k_waves, 1),
            ("lds_stage", self.lds_stage, 2),
            ("xcd_swizzle", self.xcd_swizzle, 0),
        ):
            if asked != there:
                raise ValueError(f"{name} = {asked} is not written for {arch}; use {there}")


def default_config(arch: str, in_dtype: str, M: int, N: int, K: int) -> GemmConfig:
    """The configuration for a shape: what `defaults.json` has for its class, else by these rules, with its numbers.

    Up to 16 rows (decode) a tile is 16 x 64, up to 32 rows 32 x 64: then B is read once and nothing else matters. For
    more rows it is the largest of "tiles" in the table of which there are about as many as compute units ("least_busy"
    of them, for each tile); where a chip has a loop for still larger ones, "large_tiles" in the table, these, if their
    last round keeps about as many of them busy. Where even the smallest leaves compute units idle, those of half as
    many rows are taken, "one_round" in the table, if one round takes them all and none is half empty. Then K is split
    in two, four, ... up to 16 parts, if a workgroup saves more than it takes to add the parts up: counted in the bytes
    that it loads, "split_costs" in the table. Where a chip has "forms" in the table and one round takes a product, see
    `_one_round`; for the order of the workgroups, `_in_order`.

    Raises ValueError when K is no multiple of 64 bytes, or for an architecture or type without a kernel.
    """
    if arch not in COMPUTE_UNITS:
        raise ValueError(f"GEMMs are written for {', '.join(COMPUTE_UNITS)}, not for {arch}")
    if in_dtype not in ELEMENT_BYTES:
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use one of {', '.join(ELEMENT_BYTES)}")
    size, units, table = ELEMENT_BYTES[in_dtype], COMPUTE_UNITS[arch], defaults("gemm", arch)
    if K < 1 or K * size % 64:
        raise ValueError(f"K = {K} {in_dtype} are {K * size} bytes, no multiple of 64: pad K with zeros")
    tuned = _tuned(arch, in_dtype, M, N, K)
    if tuned is not None:
        return tuned
    few = [tile for rows, tile in table["few_rows"] if rows >= M]
    if few:
        tile_m, tile_n = few[0]
    else:
        # By how much data each load serves: the first that keeps about every compute unit busy is taken.
        least = [share * units for share in table["least_busy"]]
        busy = [
            tile
            for tile, enough in zip(table["tiles"], least, strict=True)
            if cdiv(M, tile[0]) * cdiv(N, tile[1]) >= enough
        ]
        tile_m, tile_n = busy[0] if busy else table["tiles"][-1]
        if not busy and table["one_round"]:
            rows, columns = table["one_round"]
            if cdiv(M, rows) * cdiv(N, columns) <= units and 2 * (-M % rows) < rows:
                tile_m, tile_n = rows, columns
        if K * size % QUADRANT_STEP_BYTES == 0 and K * size > QUADRANT_STEP_BYTES:
            tile_m, tile_n = large_tile(arch, M, N, (tile_m, tile_n)) or (tile_m, tile_n)
    split = 1
    tiles = cdiv(max(M, 1), tile_m) * cdiv(N, tile_n)
    while (
        2 * split <= table["most_splits"]
        and 2 * split * tiles <= units
        and K * size % (2 * split * 64) == 0
        and K * size // (2 * split) >= table["least_split_bytes"]  # a part keeps a main loop
    ):
        split *= 2
    if (tile_m + tile_n) * K * size * (split - 1) < table["split_costs"] * split:
        split = 1
    usual = GemmConfig(tile_m, tile_n, _depth(K * size // split) // size, split)
    return usual if few else _in_order(arch, M, N, _one_round(arch, in_dtype, M, N, K, usual))


def _one_round(arch: str, in_dtype: str, M: int, N: int, K: int, usual: GemmConfig) -> GemmConfig:
    """The tile, with its waves, and the parts of K for a product that one round of workgroups takes: of a chip's
    "forms" in the table that with which a workgroup takes least time to load. `usual` where that takes no longer, or
    there are no forms; of a tile a third of whose last rows would be missing there are none.

    Time is counted in bytes from L2, which serves fewer workgroups faster: `usual` is given credit for that. A byte of
    B from memory takes as long as "memory_costs" of them, so that where B is most of what there is, a smaller share of
    A saves nothing. Parts of K cost what "split_costs" says, and a sum that goes through memory in f32 "sum_costs"; as
    that is known roughly, they take the place of `usual` where they come to less than `_ROUGHLY` of it.
    """
    size, units, table = ELEMENT_BYTES[in_dtype], COMPUTE_UNITS[arch], defaults("gemm", arch)
    forms = table["forms"].get(arch, ())
    if not forms:
        return usual
    k_bytes, of_part, of_sum = K * size, float(table["split_costs"]), table["sum_costs"] * M * N / units
    of_memory = float(table["memory_costs"]) * N * k_bytes / units

    def cost(tile: tuple[int, int], split: int, rounds: float) -> tuple[float, float]:
        loaded = rounds * (tile[0] + tile[1]) * k_bytes / split
        return max(loaded, of_memory) + (of_part + of_sum * split if split > 1 else 0.0), loaded

    tile, split = (usual.tile_m, usual.tile_n), usual.split_k
    groups = cdiv(M, tile[0]) * cdiv(N, tile[1]) * split
    rounds = float(cdiv(groups, units))
    plain, least = cost(tile, split, rounds), cost(tile, split, (rounds + 2 * groups / units) / 3)
    best: tuple[tuple[int, int], int, list[int] | None] | None = None
    for form in forms:
        tile, split = (form["tile"][0], form["tile"][1]), 1
        tiles = cdiv(M, tile[0]) * cdiv(N, tile[1])
        if 3 * (-M % tile[0]) > tile[0]:
            continue
        while split * tiles <= units and split <= table["most_splits"]:
            part, rest = divmod(k_bytes, split * QUADRANT_STEP_BYTES)
            if rest or part < 2:  # steps of the loops of large tiles
                break
            found = cost(tile, split, 1.0)
            saves = found[0] < _ROUGHLY * least[0] if best is None and split > 1 else found < least
            as_much = best is None and rounds == 1 and found == plain
            if as_much and in_dtype in form.get("unequal", ()):  # no better, but more of what it loads may be in L2
                as_much = _beyond_l2(arch, M, N, tile) < _beyond_l2(arch, M, N, (usual.tile_m, usual.tile_n))
            if saves or as_much:
                best, least = (tile, split, form["waves"]), found
            split *= 2
    if best is None:
        return usual
    tile, split, waves = best
    grid = None if waves is None else (waves[0], waves[1])
    return GemmConfig(*tile, _depth(k_bytes // split) // size, split, waves=grid)


def _beyond_l2(arch: str, M: int, N: int, tile: tuple[int, int]) -> float:
    """Rows of A and B that a workgroup has a die ask for beyond its L2, in the order of the grid.

    Workgroups go to dies in turn, along M first. Those that run on a die at once share what they load: of n of them,
    with R tiles along M, as many rows of tiles as R has without its common factor with the number of dies.
    """
    down, across = cdiv(M, tile[0]), cdiv(N, tile[1])
    together = max(1, min(COMPUTE_UNITS[arch], down * across) // NUM_XCDS)
    rows = min(together, down // math.gcd(down, NUM_XCDS))
    columns = min(together, across, NUM_XCDS * (together - 1) // down + 1)
    return float((rows * tile[0] + columns * tile[1]) / together)


def _in_order(arch: str, M: int, N: int, config: GemmConfig) -> GemmConfig:
    """`config`, with the workgroups in the order of dies where that pays: by "order" of the table for tiles of so many
    results or more, if a workgroup has its die ask beyond L2 for "beyond" of the rows that it loads, or more.
    """
    order, tile = defaults("gemm", arch)["order"].get(arch), (config.tile_m, config.tile_n)
    if not order or config.split_k > 1 or math.prod(tile) < order["least_tile"]:
        return config
    if _beyond_l2(arch, M, N, tile) < order["beyond"] * sum(tile):
        return config
    return replace(config, xcd_swizzle=order["columns"])


def large_tile(arch: str, M: int, N: int, usual: tuple[int, int]) -> tuple[int, int] | None:
    """The tile of a chip's loop for large ones, where it pays beside the `usual` tile: see `default_config`."""
    large, units = defaults("gemm", arch)["large_tiles"].get(arch), COMPUTE_UNITS[arch]
    if not large:
        return None
    count, others = (cdiv(M, one[0]) * cdiv(N, one[1]) for one in (large["tile"], usual))
    if count < units or _filled(count, units) < large["least_filled"] * _filled(others, units):
        return None
    tile_m, tile_n = large["tile"]
    return tile_m, tile_n


def _filled(tiles: int, units: int) -> float:
    """How much of the time of compute units `tiles` take that come in whole rounds."""
    return float(tiles / (cdiv(tiles, units) * units))


def _depth(k_bytes: int) -> int:
    """The longest step along K, in bytes, that a part of so many bytes is a multiple of."""
    return next(one for one in (512, 256, 128, 64) if k_bytes % one == 0)


def _tuned(arch: str, in_dtype: str, M: int, N: int, K: int) -> GemmConfig | None:
    """What was found for the class of a shape, if this shape can have it.

    fp16 has what was found for bf16: as many bytes, in instructions of the same rate.
    """
    size, kind = ELEMENT_BYTES[in_dtype], "bf16" if in_dtype == "fp16" else in_dtype
    for found in defaults("gemm_shapes", arch) if M > 0 and N > 0 else ():
        if found["in_dtype"] == kind and found["class"] == shape_class(M, N, K):
            values = dict(found["config"])
            waves, split = values.pop("waves"), values["split_k"]
            if K * size % (64 * split):
                continue
            depth = _depth(K * size // split) // size
            config = GemmConfig(**values, tile_k=depth, waves=None if waves is None else (waves[0], waves[1]))
            try:
                config.check(arch, in_dtype, N, K, shuffled=False)
            except ValueError:  # another shape of the class can have it
                continue
            return config
    return None

# SPDX-License-Identifier: Apache-2.0
"""How a product on NVIDIA Hopper is cut up, and the default for a shape; `hopper_gemm` has the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flydsl.runtime.chips import CHIPS

from ..common.arch import MULTIPROCESSORS
from ..common.language import fx
from ..common.mma.mfma_epilogues import Epilogue

__all__ = ["HopperConfig", "default_hopper_config", "hopper_cuts", "hopper_rows"]

ROWS = 64  # of a consumer
PARTS = (64, 32)  # rows of A, in which the last tile of more than 128 rows is brought
ROW_BYTES = 128  # of K in a stage: the width of the swizzle
OUTPUTS = {"bf16": "BFloat16", "fp16": "Float16", "f32": "Float32"}
PLAIN = Epilogue()
_SHARED_BYTES = CHIPS["sm_90a"].lds_bytes
_BARRIER_BYTES = 1024  # the barriers, and the alignment of what lies behind them
_MOST_STAGES = 16
_MOST_SUMS = 128 * 192  # of a consumer, for which there are registers
_EVEN = 0.87  # of the multiprocessors busy, in the mean over all turns: about all
# Of tiles of 128 rows with so many columns: what a column costs. Measured (docs/kernels/gemm.md).
_COLUMN_COSTS = {192: 1.0, 160: 1.0, 128: 1.0, 112: 1.03, 96: 1.05, 64: 1.2}
# The same of 256 where rows of A and B do not begin at multiples of 128 bytes: then what comes from the L2 counts.
_COLUMN_COST_OF_256 = 0.92


# Workgroups that share the K of a tile, and where all of these clusters run at once: parts of the multiprocessors.
_CLUSTERS_AT_ONCE = {4: 0.8, 2: 0.97}
_LEAST_TURNS = 64  # of K, by 128 bytes, to be shared by workgroups
# What a turn costs beside its rows, and adding up a column of another workgroup's sums, in rows that a stage brings; of
# some 60 widths and parts of 12 products on an H200.
_TURN_ROWS, _GATHERED_ROWS = 32, 20


@dataclass(frozen=True)
class HopperConfig:
    """How a product is cut up.

    Attributes:
        tile_n: columns of a tile: a multiple of 16 from 32 to 256.
        stages: of the ring, 2 or more.
        group_m: rows of tiles that are walked together.
        store_n: columns that go through shared memory at once: a multiple of 16 and a divisor of `tile_n`. By default
            64, or all where that is no divisor.
        store_buffers: 1 or 2: places for them, so that one is filled while the other is stored.
        rows: of A that a stage brings: 128, or for products of no more rows a multiple of 8 from 16 on, of which one
            warpgroup consumes up to 64. With 128 the last tile of a product of more rows brings parts (`PARTS`).
        boxes: of 128 bytes of K in a stage, 1 or 2.
        splits: workgroups of a cluster that share the K of a tile, 1 to 8: for few tiles and a long K. The first adds
            up the sums of all, in the order of K. Not with a residual.
        pingpong: the two consumers have a tile each, of all 128 rows, and take turns: one multiplies while the other
            stores. Else they share each tile.
    """

    tile_n: int = 256
    stages: int = 4
    group_m: int = 16
    store_n: int | None = None
    store_buffers: int = 2
    rows: int = 128
    splits: int = 1
    boxes: int = 1
    pingpong: bool = False

    @property
    def consumers(self) -> int:
        """Warpgroups that multiply."""
        return 2 if self.rows > ROWS else 1

    @property
    def tile_m(self) -> int:
        """Rows of a tile."""
        return ROWS * self.consumers

    @property
    def consumer_rows(self) -> int:
        """Rows of a tile that one consumer multiplies."""
        return self.tile_m if self.pingpong else ROWS

    @property
    def stored_columns(self) -> int:
        """Columns that go through shared memory at once."""
        if self.store_n is not None:
            return self.store_n
        return self.tile_n if self.tile_n % 64 else 64

    def shared_bytes(self, epilogue: Epilogue = PLAIN, out_bytes: int = 2) -> int:
        """Shared memory of a workgroup, whose results have so many bytes."""
        stages = self.stages * self.boxes * (self.tile_m + self.tile_n) * ROW_BYTES
        vectors = self.consumers * 4 * sum(self.vectors(epilogue).values())
        stored = self.store_buffers * self.consumers * self.consumer_rows * self.stored_columns * out_bytes
        exchanged = 4 * self.tile_m * self.tile_n if self.splits > 1 else 0
        return stages + stored + vectors + exchanged + _BARRIER_BYTES

    def vectors(self, epilogue: Epilogue) -> dict[str, int]:
        """The numbers that a consumer keeps of what an epilogue reads, by its name."""
        scales = {"scale_a": self.consumer_rows, "scale_b": self.tile_n} if epilogue.scaled else {}
        return scales | ({"bias": self.tile_n} if epilogue.bias else {})

    def check(self, epilogue: Epilogue = PLAIN, out_bytes: int = 2) -> None:
        """Raise ValueError for what cannot be built, with the numbers."""
        if self.tile_n not in range(32, 257, 16):
            raise ValueError(f"tile_n is a multiple of 16 from 32 to 256, got {self.tile_n}")
        if self.stored_columns not in range(16, 257, 16) or self.tile_n % self.stored_columns:
            raise ValueError(f"store_n is a multiple of 16 and a divisor of tile_n = {self.tile_n}, got {self.store_n}")
        if self.rows not in range(16, 129, 8):
            raise ValueError(f"rows is a multiple of 8 from 16 to 128, got {self.rows}")
        if self.store_buffers not in (1, 2):
            raise ValueError(f"store_buffers is 1 or 2, got {self.store_buffers}")
        if self.splits not in range(1, 9):
            raise ValueError(f"splits is 1 to 8, got {self.splits}")
        if self.boxes not in (1, 2):
            raise ValueError(f"boxes is 1 or 2, got {self.boxes}")
        if self.pingpong and (self.rows <= ROWS or self.splits > 1):
            raise ValueError(f"pingpong is for more than {ROWS} rows and splits = 1, got {self.rows} and {self.splits}")
        sums = self.consumer_rows * self.tile_n
        if sums > _MOST_SUMS:
            raise ValueError(
                f"a consumer has registers for {_MOST_SUMS} sums, and {self.consumer_rows} rows of {self.tile_n} "
                f"columns have {sums}"
            )
        if self.splits > 1 and epilogue.residual:
            raise ValueError(f"there is no residual with splits = {self.splits}")
        if self.stages < 2 or self.group_m < 1:
            raise ValueError(f"stages is at least 2 and group_m at least 1, got {self.stages} and {self.group_m}")
        taken = self.shared_bytes(epilogue, out_bytes)
        if taken > _SHARED_BYTES:
            raise ValueError(
                f"{self.stages} stages of {self.tile_m} + {self.tile_n} rows and {self.store_buffers} tiles of "
                f"{self.stored_columns} columns to store take {taken} bytes of shared memory; there are {_SHARED_BYTES}"
            )


def default_hopper_config(
    m: int = 1 << 20,
    n: int = 1 << 20,
    *,
    k_bytes: int = 0,
    epilogue: Epilogue = PLAIN,
    out_dtype: str = "bf16",
    multiprocessors: int = MULTIPROCESSORS,
) -> HopperConfig:
    """The configuration of a product of m rows and n columns, as measured on an H100 and an H200.

    More than 64 rows: the width of tiles with which the multiprocessor that has most of them has the fewest columns,
    where those of narrow tiles count for more (`_COLUMN_COSTS`); consumers in turns where it has more than one tile.
    Up to 64 rows, which take as long as it takes to read B: the widest of at most 128 that gives each multiprocessor
    about as many, and two boxes of K in a stage. In each the most stages that there is room for.
    Where tiles are few and K is long (`k_bytes`, of a row of A; 0 where it is not known), two or four workgroups share
    each: of more than 64 rows so that copying, and adding up what the others have, take least.
    """
    rows = hopper_rows(m)
    fits = _Fits(rows, epilogue, _out_bytes(out_dtype))
    turns = 0 if epilogue.residual else k_bytes // ROW_BYTES

    def tiles(tile_n: int) -> int:
        return -(-m // max(rows, ROWS)) * -(-n // tile_n)

    if rows > ROWS:
        if 2 * tiles(64) <= multiprocessors and (found := fits.shared(tiles, turns, multiprocessors)):
            return found
        costs = _COLUMN_COSTS | ({256: _COLUMN_COST_OF_256} if k_bytes % ROW_BYTES else {})
        if epilogue.scaled and epilogue.bias:  # for which there are no registers
            del costs[192]
        least = min(costs, key=lambda one: (-(-tiles(one) // multiprocessors) * one * costs[one], -one))
        return next(
            found
            for one in (least, 128, 64)
            if (found := fits.most_stages(one, pingpong=one < 256 and tiles(one) > multiprocessors))
        )

    def share(tile_n: int) -> float:
        """Of the multiprocessors, those that have something to do, as a mean over the turns."""
        return tiles(tile_n) / (multiprocessors * -(-tiles(tile_n) // multiprocessors))

    # Clusters of four start late where they are many.
    few = turns >= 128 and 2 * 4 * tiles(64) <= multiprocessors
    if few and (found := fits.most_stages(64, splits=4)):
        return found
    even = [one for one in range(128, 16, -16) if share(one) >= _EVEN]
    if even:
        width = max(even, key=lambda one: (round(20 * min(share(one), 0.95)), one))
        return next(found for one in (width, 64, 32) if (found := fits.most_stages(one)))
    if turns >= 64 and 2 * tiles(32) <= multiprocessors:
        return next(found for one in (2, 1) if (found := fits.most_stages(32, splits=one)))
    # One tile for each pair of multiprocessors, which share a way to the memory.
    width = next((one for one in (128, 64) if 8 * tiles(one) >= 3 * multiprocessors), 32)
    return next(found for one in (width, 32) if (found := fits.most_stages(one)))


def hopper_rows(m: int) -> int:
    """What a stage brings of A for a product of m rows: `HopperConfig.rows`.

    Few that are not there, as each takes the copy engine as long as several that are (docs/kernels/gemm.md).
    """
    step = 8 if m <= ROWS else 16
    return min(max(16, -(-m // step) * step), 2 * ROWS)


def hopper_cuts(
    rows: int,
    tile_n: int,
    *,
    splits: int = 1,
    boxes: int = 1,
    pingpong: bool = False,
    epilogue: Epilogue = PLAIN,
    out_dtype: str = "bf16",
) -> tuple[HopperConfig, ...]:
    """The configurations of such tiles that are worth a try: of as many stages as there is room for, and of one less.

    There is none where the rest is no configuration, or leaves no room for four stages.
    """
    fits = _Fits(rows, epilogue, _out_bytes(out_dtype))
    found: dict[int, HopperConfig] = {}
    for one in fits.with_boxes(boxes, tile_n, splits=splits, pingpong=pingpong):
        try:
            one.check(epilogue, fits.out_bytes)
        except ValueError:
            continue
        found.setdefault(one.stages, one)
    most = max(found, default=0)
    # The best of the most stages is not the first, where two buffers go before stages: then that is one of them.
    first = next(iter(found.values()), None)
    kept = [] if first is None else [first, *(found[one] for one in (most, first.stages - 1) if one in found)]
    return tuple(dict.fromkeys(kept))


def _out_bytes(out_dtype: str) -> int:
    return int(getattr(fx, OUTPUTS[out_dtype]).width) // 8


@dataclass(frozen=True)
class _Fits:
    """Configurations for what a stage brings of A, an epilogue and the bytes of a result."""

    rows: int
    epilogue: Epilogue
    out_bytes: int

    def most_stages(self, tile_n: int, *, splits: int = 1, pingpong: bool = False) -> HopperConfig | None:
        """The configuration of the most stages that there is room for; None where there is none for 4.

        Stages of few rows have two boxes of K where four of them fit, except in clusters of four.
        """
        for boxes in (2, 1) if self.rows <= ROWS and splits < 4 else (1,):
            found = next(self.with_boxes(boxes, tile_n, splits=splits, pingpong=pingpong), None)
            if found is not None:
                return found
        return None

    def shared(self, tiles: Callable[[int], int], turns: int, multiprocessors: int) -> HopperConfig | None:
        """The configuration with a part of K for each of 4 or 2 workgroups that takes least time; None for a short K.

        All workgroups run at once. `tiles` says how many there are of a width.
        """
        if turns < _LEAST_TURNS:
            return None
        found = [
            config
            for splits, most in _CLUSTERS_AT_ONCE.items()
            for one in range(32, 129, 16)
            if splits * tiles(one) <= most * multiprocessors
            if (config := self.most_stages(one, splits=splits))
        ]

        def cost(one: HopperConfig) -> float:
            """In rows that a stage brings."""
            each = self.rows + one.tile_n + _TURN_ROWS
            return turns / one.splits * each + _GATHERED_ROWS * (one.splits - 1) * one.tile_n

        return min(found, key=cost, default=None)

    def with_boxes(self, boxes: int, tile_n: int, *, splits: int = 1, pingpong: bool = False) -> Iterator[HopperConfig]:
        """The configurations of 4 stages and more that there is room for, best first."""
        for stages, (columns, buffers) in self._in_order(tile_n, _MOST_STAGES // boxes, pingpong):
            found = HopperConfig(
                tile_n, stages, store_n=columns, store_buffers=buffers, rows=self.rows, splits=splits, boxes=boxes,
                pingpong=pingpong,
            )  # fmt: skip
            if found.shared_bytes(self.epilogue, self.out_bytes) <= _SHARED_BYTES:
                yield found

    @staticmethod
    def _in_order(tile_n: int, most: int, pingpong: bool) -> Iterator[tuple[int, tuple[int | None, int]]]:
        """Stages, and `store_n` and `store_buffers` with them, best first.

        Two buffers go before one more stage, except where consumers in turns have them twice.
        """
        stages = range(most, 3, -1)
        if not pingpong:
            ways: list[tuple[int | None, int]] = [(None, buffers) for buffers in ((1,) if tile_n % 64 else (2, 1))]
            return ((count, way) for way in ways for count in stages)
        columns = [one for one in (64, 32) if tile_n % one == 0] or [16]
        return ((count, (one, buffers)) for count in stages for one in columns for buffers in (2, 1))

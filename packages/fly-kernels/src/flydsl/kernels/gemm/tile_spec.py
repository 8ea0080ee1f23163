# SPDX-License-Identifier: Apache-2.0
"""What distinguishes one GEMM from another: extents, types, tile, waves, and what happens on the way.

`TileGemm` is what builders fill in and `build_tile_gemm` makes a kernel of. What follows from its numbers (the main
loop, who does what in a tile, the order of the tiles) is asked of it and is nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..common.arch import NUM_XCDS
from ..common.language import fx
from ..common.mma.instructions import matrix_product
from ..common.mma.loop_plan import TiledLoop
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.operand_scales import MX_FORMATS
from ..common.mma.staging import Staging
from ..common.mma.tile_plan import TilePlan, best_plan, plan_tile
from ..common.utils import cdiv
from .arguments import A_BYTES
from .loop_forms import default_loop, given_loop, large_tile_loop, scaled_loop

__all__ = ["OUTPUTS", "RESULTS", "TileGemm"]

OUTPUTS = {"bf16": "BFloat16", "fp16": "Float16", "f32": "Float32"}
RESULTS = {**OUTPUTS, "i32": "Int32"}  # the exact sums of integers, for builders that give a `staged` loop


@dataclass(frozen=True)
class TileGemm:
    """One GEMM: C = epilogue(A B^T) with C (M, N), A (M, K), B (N, K).

    Attributes:
        arch: "gfx942" or "gfx950", with `staged` also "gfx1100" or "gfx1201".
        N, K: extents; M is an argument of the launch.
        in_dtype, out_dtype: keys of `A_BYTES` and `OUTPUTS`.
        tile_m, tile_n, tile_k: of a workgroup; K / split_k is a multiple of tile_k, N of 4.
        epilogue: what happens to a sum.
        shuffled: B is in the order of `shuffle_weight` (and N a multiple of 16), else row-major.
        waves: the grid of waves, (along M, along N); None takes the best 4.
        k_waves: waves along K, where `waves` is given.
        buffers: LDS buffers of A, 1 or 2, or with `direct` more.
        direct: A goes to LDS without registers (gfx950).
        fenced: keep the order of instructions that `schedule` gives.
        preload: see `TiledLoop`.
        xcd_swizzle: column tiles that are walked together, by the workgroups of one XCD; 0 keeps the order.
        group_m: row tiles that are walked together; 0 keeps the order. At most one of the two.
        split_k: into how many parts K is cut.
        shuffled_store: results leave by way of LDS, see `shuffled_store`; for 16-bit ones, and N a multiple of tile_n.
            The sums of parts of K, which are not 16 bits, do not.
        waves_per_eu: the occupancy that the compiler is told to leave room for; it still has to be told.
        staged: the operands that go through LDS ("AB" or none) in a main loop in layouts whose steps are tile_k long,
            with `waves` given; None takes the form that the defaults name. Shuffled B is in 8 bytes, see
            `preshuffle_b_fp8`.
        staging: how operands lie in LDS.
        stagger: each tile of C begins so many steps of K behind its neighbours' first, with `staged` "AB".
        rows_apart: (name, elements from one row to the next) of those of "A", "B" and "C" that may come flattened with
            something between their rows.
        partial: C is the workspace (split_k, M, N); whoever asks for this has checked the extents.
        block_scaled: scale_a (K / 128, M) and scale_b (ceil(N / 128), K / 128) multiply the products of 128 of K before
            these are added up. The main loop is that in layouts; with `direct`, A does not go to LDS at all, and
            `preload` and `buffers` are not for it.
        b_mx: A and B, as bytes, have E8M0 scales of 32 of K (gfx950), in the order of `shuffle_scale`; this is the
            format of B, `in_dtype` that of A, of `MX_FORMATS`. The main loop is as with `block_scaled`.
        unit_scales: with `b_mx`, all E8M0 scales are 1 and not there.
        one_scale: scale_a and scale_b are a number each, for all of A and of B.
        groups: of rows of A, with weights each: B is (groups, N, K), scale_b, of columns, (groups, N); group_offs
            (groups + 1) int64 says where they begin and end, see `group_tiles`. 0: there are none.
        atomic: the sums of parts of K are added to C, of 16 bits or exact integers, which holds what they begin from.
        stochastic: results, which are bf16, are rounded up with the probability of what bf16 has no room for, by random
            bits of a number of the launch, `sr_seed`, and of the element.
        large_tile: with `b_mx`, of 4 bits, the main loop of large tiles, see `mx_large_tile_loop`.
        persistent: workgroups, each of which walks through the tiles in steps of as many, with `staged` "AB"; 0 is a
            workgroup for each tile.
    """

    arch: str
    N: int
    K: int
    in_dtype: str
    out_dtype: str
    tile_m: int
    tile_n: int
    tile_k: int
    epilogue: Epilogue
    shuffled: bool
    waves: tuple[int, int] | None = None
    k_waves: int = 1
    buffers: int = 2
    direct: bool = False
    fenced: bool = True
    preload: tuple[int, int] = (0, 0)
    xcd_swizzle: int = 0
    group_m: int = 0
    split_k: int = 1
    shuffled_store: bool = False
    waves_per_eu: int = 1
    staged: str | None = None
    staging: Staging = field(default_factory=Staging)
    stagger: int = 0
    rows_apart: tuple[tuple[str, int], ...] = ()
    partial: bool = False
    block_scaled: bool = False
    b_mx: str = ""
    unit_scales: bool = False
    one_scale: bool = False
    groups: int = 0
    atomic: bool = False
    large_tile: bool = False
    stochastic: bool = False
    persistent: int = 0

    def row_bytes(self, of_b: bool = False) -> int:
        """Bytes of a contiguous row of A or B."""
        if self.b_mx:
            return self.K * MX_FORMATS[self.b_mx if of_b else self.in_dtype].bits // 8
        return self.K * A_BYTES[self.in_dtype] // (2 if of_b and self.in_dtype == "int4" else 1)

    def tile_of(self, bx: fx.Numeric | int, by: fx.Numeric | int, row_tiles: fx.Numeric | int) -> tuple[Any, Any]:
        """The tile (row, column) of workgroup (bx, by) of a grid (row tiles, column tiles)."""
        if not (self.xcd_swizzle or self.group_m):
            return bx, by
        row, column = self.walk(row_tiles)(bx + by * row_tiles)
        return row, column

    def walk(self, row_tiles: fx.Numeric | int) -> fx.TileWalk:
        """The order of the tiles."""
        shape = row_tiles, cdiv(self.N, self.tile_n)
        if self.xcd_swizzle:
            return fx.TileWalk(shape, group=self.xcd_swizzle, along=1, xcds=NUM_XCDS)
        return fx.TileWalk(shape, group=self.group_m)

    @property
    def row_elements(self) -> dict[str, int]:
        """Elements from one row to the next of each matrix, where its strides do not say otherwise."""
        size = 1 if self.b_mx else A_BYTES[self.in_dtype]
        a, b = self.row_bytes() // size, self.row_bytes(of_b=True) // size
        return {"A": a, "B": b, "C": self.N, "residual": self.N} | dict(self.rows_apart)

    @property
    def tiled(self) -> TiledLoop:
        """The main loop: in the form that its operands ask for, that the defaults name, or of a plan."""
        if self.large_tile:
            return large_tile_loop(self)
        if self.block_scaled or self.b_mx:
            return scaled_loop(self)
        if self.staged is not None:
            return given_loop(self, self.staged)
        loop = default_loop(self)
        if loop is not None:
            return loop
        plan = self._geometry
        tile = self.tile_m, self.tile_n, plan.stage_bytes // A_BYTES[self.in_dtype]
        return TiledLoop(
            self.arch, self.in_dtype, tile, plan.stages, plan.waves, plan.k_waves, self.fenced, b_bytes=plan.b_bytes,
            buffers=plan.buffers, direct=plan.direct, parts=plan.row_parts, preload=self.preload,
        )  # fmt: skip

    @property
    def _geometry(self) -> TilePlan:
        """The waves, and the steps, of tiles for which the defaults have none; ValueError when LDS does not suffice."""
        numbers: dict[str, Any] = {
            "K": self.K // self.split_k, "tile_m": self.tile_m, "tile_n": self.tile_n,
            "buffers": self.buffers, "shuffled": self.shuffled, "direct": self.direct,
            "occupancy": self.waves_per_eu,
        }  # fmt: skip
        which = self.arch, self.in_dtype, A_BYTES[self.in_dtype]
        if self.waves is None:
            plan = best_plan(*which, **numbers)
        else:
            plan = plan_tile(*which, **numbers, waves=self.waves, k_waves=self.k_waves)
        plan.check()
        return plan

    @property
    def plan(self) -> TilePlan:
        """Who does what in a tile; ValueError when its LDS does not suffice."""
        tiled = self.tiled
        part_bytes = self.row_bytes() // self.split_k
        kind = "fp8" if self.b_mx else self.in_dtype
        product = tiled.atom if self.staged is not None else matrix_product(self.arch, kind, tiled.packs)
        plan = TilePlan(
            self.arch, self.tile_m, self.tile_n, part_bytes, part_bytes // tiled.steps, tiled.buffers, product,
            tiled.waves, self.shuffled, tiled.k_waves, tiled.direct, tiled.b_bytes, self.waves_per_eu, tiled.alone,
            tiled.staged_bytes or None,
        )  # fmt: skip
        if not self.large_tile:  # whose one wave on a SIMD has registers for more sums
            plan.check()
        return plan

    @property
    def name(self) -> str:
        """What distinguishes the kernel, for its symbol: whatever changes its arguments changes this."""
        split = f"_split{self.split_k}" if self.split_k > 1 else ""
        split += "_blockscale" if self.block_scaled else f"_mx_{self.b_mx}" if self.b_mx else ""
        split += "_unit" * self.unit_scales + "_atomic" * self.atomic + (f"_groups{self.groups}" if self.groups else "")
        tile, steps = f"{self.tile_m}x{self.tile_n}x{self.tile_k}", self.epilogue
        extras = "_scaled" * steps.scaled + "_bias" * steps.bias + "_residual" * steps.residual
        extras += "_rs" * self.stochastic + "_persistent" * (self.persistent > 0)
        return f"{self.in_dtype}_{self.out_dtype}_{self.N}x{self.K}_{tile}{split}{extras}"

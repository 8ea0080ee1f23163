# SPDX-License-Identifier: Apache-2.0
"""The kernel behind all GEMMs here, and its launch: one tile of C a workgroup, K in one piece or split.

What is public (`preshuffle_gemm`, `gemm_a16w16`) checks its arguments, fills in a `TileGemm` and gives it the signature
that its users know. With K split, the workgroups of one tile write their sums in f32 to a workspace, and a second
kernel adds them up in a fixed order and finishes them: the result does not depend on who comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..common.arch import NUM_XCDS
from ..common.black_box import black_box
from ..common.defaults import defaults
from ..common.kernels_common import cvt_sr_f32_to_bf16
from ..common.language import flyc, fx
from ..common.mma.instructions import PACK_BYTES, matrix_product
from ..common.mma.lds_ways import BUFFERS
from ..common.mma.loop_plan import TiledLoop, operand_layout
from ..common.mma.mfma_epilogues import Epilogue, element_functions
from ..common.mma.operand_scales import MX_FORMATS
from ..common.mma.output_tile import output_copy, places_of
from ..common.mma.shuffled_store import store_shuffled, store_shuffled_quadrants
from ..common.mma.staged_loop import staged_loop
from ..common.mma.staging import Staging
from ..common.mma.tile_plan import TilePlan, best_plan, plan_tile
from ..common.mma.tiled_loop import tiled_loop
from ..common.mma.wave_sum import sum_over_waves
from ..common.utils import cdiv
from ..common.views import start_of
from .arguments import (
    A_BYTES,
    ELEMENT_BYTES,
    check_count,
    check_matrix,
    expect_bytes,
    expect_operand,
    expect_rows,
    row_strides,
    tile_tensor,
    wanted_extras,
)
from .group_tiles import tile_of_group
from .loop_forms import given_loop, large_tile_loop, scaled_loop
from .splitk_reduce import build_splitk_reduce
from .tile_checks import check_operands, check_size
from .tile_operands import (
    large_tile_sums,
    lds_buffers,
    loop_scales,
    quadrant_rooms,
    quadrant_sums,
    scaled_quadrant_sums,
)

__all__ = ["A_BYTES", "ELEMENT_BYTES", "OUTPUTS", "TileGemm", "build_tile_gemm"]

OUTPUTS = {"bf16": "BFloat16", "fp16": "Float16", "f32": "Float32"}
_RESULTS = {**OUTPUTS, "i32": "Int32"}  # the exact sums of integers, for builders that give a `staged` loop


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
        loop = _default_loop(self)
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


def _default_loop(gemm: TileGemm) -> TiledLoop | None:
    """The main loop in the form that the defaults have for a tile; None where they have none, or K is too short."""
    size, found = A_BYTES[gemm.in_dtype], _tiled_form(gemm)
    if found is None:
        return None
    step_bytes, waves, k_waves, *more = found
    options: dict[str, Any] = more[0] if more else {}
    part = gemm.K // gemm.split_k * size
    if part % step_bytes or step_bytes % (64 * k_waves):
        return None
    if gemm.tile_m % (16 * waves[0]) or gemm.tile_n % (16 * waves[1]):
        return None
    tile = gemm.tile_m, gemm.tile_n, step_bytes // size
    loop = TiledLoop(gemm.arch, gemm.in_dtype, tile, part // step_bytes, waves, k_waves, gemm.fenced, **options)
    usual = gemm.buffers == BUFFERS and gemm.direct <= loop.direct and gemm.preload == (0, 0)
    # Long steps straight to registers pay where there are some of them: two took up to 1.06 of the predicted time.
    enough = loop.steps >= (4 if loop.private else 2)
    if len(loop.phases) == 1 and not (
        loop.private or loop.quadrants
    ):  # rows in parts, so that what is read next hides behind products
        rows = loop.wave_blocks[0]
        loop = replace(loop, parts=next((one for one in range(2, rows) if rows % one == 0), rows))
    return loop if usual and enough else None


def _tiled_form(gemm: TileGemm) -> tuple[Any, ...] | None:
    """(bytes of K in a step, waves, waves along K, other fields of `TiledLoop`) of the loop that the defaults have.

    Entries that are `given` are for configurations that ask for these waves, the others for those that ask for none.
    Where `direct` loads or an occupancy are asked for, only entries count that have them.
    """
    asked = None if gemm.waves is None else [*gemm.waves, gemm.k_waves]
    for one in defaults("tiled_loops", gemm.arch):
        options = one.get("loop", {})
        fits = one["tile"] == [gemm.tile_m, gemm.tile_n] and gemm.in_dtype in one["types"]
        fits = fits and gemm.direct <= options.get("direct", False)
        fits = fits and gemm.waves_per_eu <= one.get("waves_per_eu", 1)
        if options.get("quadrants") and gemm.groups:
            continue  # whose operands begin and end elsewhere
        if fits and asked == (one["waves"] if one.get("given") else None):
            along_m, along_n, along_k = one["waves"]
            return one["step_bytes"], (along_m, along_n), along_k, options
    return None


def build_tile_gemm(gemm: TileGemm, name: str) -> Callable[..., None]:
    """Return the function that a `@flyc.jit` body calls to check its tensors and launch the GEMM.

    It takes `(C, A, B, M, stream, *, scale_a, scale_b, bias, residual, workspace)`. Those that the epilogue does not
    use may be left out; the workspace (split_k, M, N) of f32 is for a split K.
    """
    check_size(gemm)
    if gemm.split_k == 1:
        return _launcher(gemm, name)
    if gemm.atomic:
        return _launcher_of_added_parts(gemm, name)
    partial = replace(gemm, out_dtype="f32", epilogue=Epilogue(), partial=True, shuffled_store=False)
    multiply = _launcher(partial, name)
    finish = build_splitk_reduce(
        N=gemm.N, split_k=gemm.split_k, output=OUTPUTS[gemm.out_dtype], epilogue=gemm.epilogue, name=f"{name}_reduce"
    )

    def launch(C: Any, A: Any, B: Any, M: Any, stream: Any, *, workspace: Any, **extras: Any) -> None:
        expect_rows("C", C, getattr(fx, OUTPUTS[gemm.out_dtype]))
        expect_rows("workspace", workspace, fx.Float32)
        check_count("workspace", workspace, fx.Int64(M) * (gemm.split_k * gemm.N))
        check_matrix("C", C, M, gemm.N)
        check_operands(gemm, A, B, M, extras)
        scales = {one: extras.pop(one) for one in ("scale_a", "scale_b")} if gemm.block_scaled else {}
        multiply(workspace, A, B, M, stream, **scales)
        finish(C, workspace, M, stream, **extras)

    return launch


def _launcher_of_added_parts(gemm: TileGemm, name: str) -> Callable[..., None]:
    """A kernel that writes the bias, or zeros, and one whose parts of K add themselves to that."""
    begin = build_splitk_reduce(
        N=gemm.N, split_k=0, output=_RESULTS[gemm.out_dtype], epilogue=gemm.epilogue, name=f"{name}_begin"
    )
    multiply = _launcher(replace(gemm, epilogue=Epilogue()), name)

    def launch(C: Any, A: Any, B: Any, M: Any, stream: Any, **extras: Any) -> None:
        expect_rows("C", C, getattr(fx, _RESULTS[gemm.out_dtype]))
        check_matrix("C", C, M, gemm.N)
        check_operands(gemm, A, B, M, extras)
        begin(C, None, M, stream, **extras)
        multiply(C, A, B, M, stream)

    return launch


def _launcher(gemm: TileGemm, name: str) -> Callable[..., None]:
    plan, tiled, used = gemm.plan, gemm.tiled, gemm.epilogue
    size = 1 if gemm.b_mx else A_BYTES[gemm.in_dtype]  # of an element of the tensors
    a_bytes, b_bytes = gemm.row_bytes(), gemm.row_bytes(of_b=True)
    output = getattr(fx, _RESULTS[gemm.out_dtype])
    out_size = output.width // 8
    column_tiles = cdiv(gemm.N, gemm.tile_n)
    ragged = gemm.N % gemm.tile_n != 0
    part_k = gemm.K // gemm.split_k
    usual = gemm.row_elements
    run = 8 if gemm.large_tile or tiled.quadrants else plan.run  # neighbouring columns of a lane
    access = min(run, 8 * PACK_BYTES // output.width, math.gcd(run, gemm.N))  # inside N or not as a whole

    @flyc.kernel(name=f"{name}_{gemm.name}", known_block_size=(plan.threads, 1, 1))
    def tile_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        extras: Any,
        strides: Any,
        M: fx.Int32,
        looped: fx.Int32,
    ) -> None:
        def one_tile(row_tile: Any, column_tile: Any) -> None:
            thread = fx.thread_idx.x
            first_row, first_column = row_tile * gemm.tile_m, column_tile * gemm.tile_n
            first_of_b: Any = first_column
            turns = looped
            rows = fx.min(M - first_row, gemm.tile_m)
            if fx.const_expr(gemm.groups > 0):
                group, first_row, rows = tile_of_group(extras["group_offs"], gemm.groups, gemm.tile_m, row_tile, M)
                first_of_b = fx.Int64(group) * gemm.N + first_column
                turns = (rows > 0).select(looped, fx.Int32(0))
            columns = fx.min(gemm.N - first_column, gemm.tile_n) if ragged else gemm.tile_n
            a_row, b_row = strides.get("A", usual["A"]) * size, strides.get("B", usual["B"]) * size
            part = fx.block_idx.z if gemm.split_k > 1 else 0
            a_first, b_first = part * plan.k_bytes, part * (plan.stages * plan.b_stage_stride)

            buffers: tuple[Any, ...] = ()
            if fx.const_expr(not (gemm.large_tile or tiled.quadrants)):
                buffers = lds_buffers(plan, tiled, plan.store_chunks if gemm.shuffled_store else 0)
            elif fx.const_expr(tiled.quadrants):
                buffers = quadrant_rooms(tiled)
            if fx.const_expr(gemm.large_tile):
                sums = large_tile_sums(
                    gemm, tiled, A, B, extras, (first_row, a_row, (rows - 1) * a_row + a_bytes),
                    (first_column, b_row, (columns - 1) * b_row + b_bytes), M, thread, turns,
                )  # fmt: skip
            elif fx.const_expr(tiled.quadrants and (gemm.block_scaled or gemm.b_mx)):
                sums = scaled_quadrant_sums(
                    gemm, tiled, A, B, extras, (first_row, a_row, (rows - 1) * a_row + a_bytes, a_first),
                    (first_column, b_row, (columns - 1) * b_row + b_bytes, b_first), part, M, buffers, thread, turns,
                )  # fmt: skip
            elif fx.const_expr(tiled.quadrants):
                sums = quadrant_sums(
                    gemm, tiled, A, B, (first_row, a_row, (rows - 1) * a_row + a_bytes, a_first),
                    (first_column, b_row, (columns - 1) * b_row + b_bytes, b_first), buffers, thread, turns,
                )  # fmt: skip
            else:
                rows_a = tiled.staged_rows or gemm.tile_m
                a_layout = operand_layout(tiled, rows_a, part_k, a_row // size, shuffled=False)
                b_layout = operand_layout(tiled, gemm.tile_n, part_k, b_row // size, shuffled=gemm.shuffled, of_b=True)
                a_end, b_end = (rows - 1) * a_row + a_bytes, (columns - 1) * b_row + b_bytes
                # They end with their last rows, not where the next one would begin.
                if fx.const_expr(gemm.groups > 0):
                    a_end = fx.max(a_end, 0)
                a_tile = tile_tensor(A, tiled.element, first_row, a_row, a_end - a_first, a_first, a_layout)
                b_tile = tile_tensor(B, tiled.b_element, first_of_b, b_row, b_end - b_first, b_first, b_layout)
                scales = loop_scales(gemm, tiled, extras, first_row, first_column, row_tile, part, M)
                if fx.const_expr(gemm.staged == "AB"):
                    start = (row_tile + column_tile) * gemm.stagger % tiled.steps if gemm.stagger else None
                    sums = staged_loop(tiled, a_tile, b_tile, buffers[0], thread, turns, start)
                else:
                    sums = tiled_loop(tiled, a_tile, b_tile, buffers, thread, turns, scales)
            if fx.const_expr(plan.many_sums):
                fx.rocdl.sched_barrier(0)  # no load of the epilogue before the last product: registers are short
            thread = black_box(thread)  # no address of the epilogue is held in a register through the loop
            sums = sum_over_waves(plan, sums, buffers[0] if buffers else None, thread)
            # The tile of C, and what its epilogue reads, all as (tile_n, tile_m): a lane has neighbouring columns.
            shape = gemm.tile_n, gemm.tile_m
            first = first_row + part * M

            def matrix(tensor: Any, which: str, stored: Any = 1) -> Any:
                stride = strides.get(which, usual[which])
                size = ((rows - 1) * stride + columns) * out_size * stored
                if fx.const_expr(gemm.groups > 0):
                    size = fx.max(size, 0)
                layout, start = fx.make_layout(shape, (1, stride)), first_column * out_size
                return tile_tensor(tensor, output, first, stride * out_size, size, start, layout)

            def vector(tensor: Any, element: Any, begin: Any, count: Any, stride: tuple[int, int]) -> Any:
                width = element.width // 8
                return tile_tensor(tensor, element, begin, width, count * width, 0, fx.make_layout(shape, stride))

            read = {}
            if used.scaled:
                begin_a, begin_b, steps_a, steps_b = first_row, first_of_b, (0, 1), (1, 0)
                if fx.const_expr(gemm.one_scale):
                    begin_a = begin_b = 0
                    steps_a = steps_b = (0, 0)
                counts = (1, 1) if gemm.one_scale else (rows, columns)
                read["scale_a"] = vector(extras["scale_a"], fx.Float32, begin_a, counts[0], steps_a)
                read["scale_b"] = vector(extras["scale_b"], fx.Float32, begin_b, counts[1], steps_b)
            if used.bias:
                read["bias"] = vector(extras["bias"], output, first_column, columns, (1, 0))
            if used.residual:
                read["residual"] = matrix(extras["residual"], "residual")
            chain = fx.Epilogue()
            for function, names in element_functions(used, output):
                chain = chain.then(function, *[read[name] for name in names])
            mine = output_copy(
                plan, output, access, large_tile=gemm.large_tile, quadrants=tiled.quadrants, small=tiled.scaled
            ).get_slice(thread)
            results = [sums[key] for key in sorted(sums)]
            if fx.const_expr(access < run):
                parts = [list(range(at, at + access)) for at in range(0, run, access)]
                results = [one.shuffle(one, part) for one in results for part in parts]
            if fx.const_expr(gemm.stochastic):
                at = zip(results, places_of(plan, mine, len(results)), strict=True)
                results = [
                    _rounded(values, (first_row + row) * gemm.N + (first_column + column), extras["sr_seed"])
                    for values, (column, row) in at
                ]
            if fx.const_expr(gemm.atomic):
                places = places_of(plan, mine, len(results))
                share = thread // plan.wave % plan.k_waves
                stride = strides.get("C", usual["C"])
                start = start_of(C)
                for number, values in chain.finished(mine, results):
                    column, row = places[number]
                    there = (row < rows) & (column < columns) & (share < plan.column_parts)
                    if there:
                        at = fx.Int64(first_row + row) * fx.Int64(stride) + (first_column + column)
                        each = 32 // output.width  # of 16 bits in pairs
                        for pair in fx.range_constexpr(access // each):
                            added = values.shuffle(values, list(range(each * pair, each * pair + each)))
                            fx.atomic_add(start + (at + each * pair), added if each > 1 else added[0])
            elif fx.const_expr(gemm.shuffled_store):
                if fx.const_expr(tiled.quadrants):
                    rooms = buffers[: 2 * BUFFERS : 2]
                    store_shuffled_quadrants(
                        chain, mine, results, matrix(C, "C"), plan, rooms, thread, small=tiled.scaled
                    )
                else:
                    store_shuffled(chain, mine, results, matrix(C, "C"), plan, buffers[0], thread)
            else:
                stored: Any = 1
                if fx.const_expr(plan.column_parts < plan.k_waves):
                    # Of waves with the same part one stores; the resources of the others end where they begin.
                    share = thread // plan.wave % plan.k_waves
                    stored = fx.rocdl.readfirstlane(fx.Int32.ir_type, (share < plan.column_parts).select(1, 0))
                    stored = fx.Int32(stored)
                chain.store(mine, results, matrix(C, "C", stored), inside=(columns, None) if ragged else None)

        row_tiles = cdiv(M, gemm.tile_m) + gemm.groups
        if fx.const_expr(gemm.persistent > 0):
            walk = gemm.walk(row_tiles)
            for turn in range(fx.block_idx.x, walk.size, fx.grid_dim.x):
                one_tile(*walk(turn))
                fx.barrier()  # the next tile's first step goes where others may still read this one's last
        else:
            one_tile(*gemm.tile_of(fx.block_idx.x, fx.block_idx.y, row_tiles))

    def launch(C: Any, A: Any, B: Any, M: Any, stream: Any, **extras: Any) -> None:
        expect_rows("C", C, output)
        expect_operand("A", A, gemm.in_dtype)
        expect_operand("B", B, gemm.b_mx or gemm.in_dtype)
        wanted = wanted_extras(used, output)
        if gemm.block_scaled:
            wanted |= {"scale_a": fx.Float32, "scale_b": fx.Float32}
        for one in wanted:
            expect_rows(one, extras[one], wanted[one])
        if gemm.b_mx and not gemm.unit_scales:
            for one in ("scale_a", "scale_b"):
                expect_bytes(one, extras[one])
                wanted[one] = fx.Uint8
        if gemm.groups:
            expect_rows("group_offs", extras["group_offs"], fx.Int64)
            wanted["group_offs"] = fx.Int64
        if not (gemm.partial or gemm.atomic):
            check_matrix("C", C, M, gemm.N, apart=dict(gemm.rows_apart).get("C"))
            check_operands(gemm, A, B, M, extras)
        matrices = {"A": A, "C": C}
        if not gemm.shuffled:
            matrices["B"] = B
        if used.residual:
            matrices["residual"] = extras["residual"]
        most_rows = max(gemm.tile_m, gemm.tile_n)
        strides = row_strides(matrices, usual, most_rows)
        given = {one: extras[one] for one in wanted}
        if gemm.stochastic:
            given["sr_seed"] = fx.Int32(extras["sr_seed"])
        asked = tiled.occupancy if gemm.waves_per_eu == 1 else 0
        grid = cdiv(M, gemm.tile_m) + gemm.groups, column_tiles, gemm.split_k
        if fx.const_expr(gemm.persistent > 0):
            grid = fx.min(cdiv(M, gemm.tile_m) * column_tiles, gemm.persistent), 1, 1
        tile_gemm(C, A, B, given, strides, M, fx.Int32(tiled.looped)).launch(
            grid=grid, block=(plan.threads,), stream=stream,
            value_attrs={"rocdl.waves_per_eu": asked or None},
        )  # fmt: skip

    return launch


def _rounded(values: Any, first: Any, seed: Any) -> Any:
    """f32 values of neighbouring elements, `first` being the number of the first, as bf16, rounded by random bits.

    The bits are a mix of the element's number and the seed: Murmur's finaliser, which every bit of both reaches.
    """
    elements = []
    for number in range(values.shape[0]):
        bits = fx.Uint32(first + number) * 0x9E3779B9 + fx.Uint32(seed)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            bits = (bits ^ (bits >> shift)) * factor
        elements.append(cvt_sr_f32_to_bf16(values[number], bits ^ (bits >> 16)))
    return fx.Vector.from_elements(elements, fx.BFloat16)

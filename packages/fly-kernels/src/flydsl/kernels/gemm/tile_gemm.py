# SPDX-License-Identifier: Apache-2.0
"""The kernel behind all GEMMs here, and its launch: one tile of C a workgroup, K in one piece or split.

What is public (`preshuffle_gemm`, `gemm_a16w16`) checks its arguments, fills in a `TileGemm` and gives it the signature
that its users know. With K split, the workgroups of one tile write their sums in f32 to a workspace, and a second
kernel adds them up in a fixed order and finishes them: the result does not depend on who comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..common.arch import NUM_XCDS
from ..common.black_box import black_box
from ..common.language import flyc, fx
from ..common.mma.instructions import PACK_BYTES
from ..common.mma.lds_ways import BUFFERS
from ..common.mma.loop_plan import operand_layout
from ..common.mma.mfma_epilogues import Epilogue, element_functions, rounded_at_random
from ..common.mma.output_tile import output_copy, places_of
from ..common.mma.shuffled_store import store_shuffled, store_shuffled_quadrants
from ..common.mma.staged_loop import staged_loop
from ..common.mma.tiled_loop import tiled_loop
from ..common.mma.wave_sum import sum_over_waves
from ..common.utils import cdiv
from ..common.views import start_of
from .arguments import (
    A_BYTES,
    check_count,
    check_matrix,
    expect_bytes,
    expect_operand,
    expect_rows,
    row_strides,
    tile_tensor,
    wanted_extras,
)
from .group_tiles import GroupTiles
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
from .tile_spec import OUTPUTS, RESULTS, TileGemm

__all__ = ["build_tile_gemm"]


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
        N=gemm.N, split_k=0, output=RESULTS[gemm.out_dtype], epilogue=gemm.epilogue, name=f"{name}_begin"
    )
    multiply = _launcher(replace(gemm, epilogue=Epilogue()), name)

    def launch(C: Any, A: Any, B: Any, M: Any, stream: Any, **extras: Any) -> None:
        expect_rows("C", C, getattr(fx, RESULTS[gemm.out_dtype]))
        check_matrix("C", C, M, gemm.N)
        check_operands(gemm, A, B, M, extras)
        begin(C, None, M, stream, **extras)
        multiply(C, A, B, M, stream)

    return launch


def _launcher(gemm: TileGemm, name: str) -> Callable[..., None]:
    plan, tiled, used = gemm.plan, gemm.tiled, gemm.epilogue
    size = 1 if gemm.b_mx else A_BYTES[gemm.in_dtype]  # of an element of the tensors
    a_bytes, b_bytes = gemm.row_bytes(), gemm.row_bytes(of_b=True)
    output = getattr(fx, RESULTS[gemm.out_dtype])
    out_size = output.width // 8
    column_tiles = cdiv(gemm.N, gemm.tile_n)
    ragged = gemm.N % gemm.tile_n != 0
    part_k = gemm.K // gemm.split_k
    usual = gemm.row_elements
    run = 8 if gemm.large_tile or tiled.quadrants else plan.run  # neighbouring columns of a lane
    access = min(run, 8 * PACK_BYTES // output.width, math.gcd(run, gemm.N))  # inside N or not as a whole

    def grid_rows(M: Any) -> Any:
        """Row tiles that the grid has: of groups as many as any division of M needs, each die the same ones."""
        if not gemm.groups:
            return cdiv(M, gemm.tile_m)
        return cdiv(cdiv(M, gemm.tile_m) + gemm.groups, NUM_XCDS) * NUM_XCDS

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
            first_row, first_column = row_tile * gemm.tile_m, column_tile * gemm.tile_n
            multiply(row_tile, first_row, fx.min(M - first_row, gemm.tile_m), first_column, first_column)

        def one_tile_of_groups(bx: Any, by: Any) -> None:
            tiles = GroupTiles(extras["group_offs"], gemm.groups, gemm.tile_m, M)
            ordered = gemm.xcd_swizzle or gemm.group_m
            index = bx + by * grid_rows(M)
            there = index < tiles.count * column_tiles if ordered else bx < tiles.count
            if there:  # not all row tiles of the grid are needed, unless the rows are divided in the worst way
                row_tile, column_tile = gemm.walk(tiles.count)(index) if ordered else (bx, by)
                group, first_row, rows = tiles(row_tile)
                first_column = column_tile * gemm.tile_n
                multiply(row_tile, first_row, rows, first_column, fx.Int64(group) * gemm.N + first_column)

        def multiply(row_tile: Any, first_row: Any, rows: Any, first_column: Any, first_of_b: Any) -> None:
            thread = fx.thread_idx.x
            columns = fx.min(gemm.N - first_column, gemm.tile_n) if ragged else gemm.tile_n
            a_row, b_row = strides.get("A", usual["A"]) * size, strides.get("B", usual["B"]) * size
            # They end with their last rows, not where the next one would begin.
            a_end, b_end = (rows - 1) * a_row + a_bytes, (columns - 1) * b_row + b_bytes
            part = fx.block_idx.z if gemm.split_k > 1 else 0
            a_first, b_first = part * plan.k_bytes, part * (plan.stages * plan.b_stage_stride)

            buffers: tuple[Any, ...] = ()
            if fx.const_expr(not (gemm.large_tile or tiled.quadrants)):
                buffers = lds_buffers(plan, tiled, plan.store_chunks if gemm.shuffled_store else 0)
            elif fx.const_expr(tiled.quadrants):
                buffers = quadrant_rooms(tiled)
            if fx.const_expr(gemm.large_tile):
                sums = large_tile_sums(
                    gemm, tiled, A, B, extras, (first_row, a_row, a_end),
                    (first_column, b_row, b_end), M, thread, looped,
                )  # fmt: skip
            elif fx.const_expr(tiled.quadrants and (gemm.block_scaled or gemm.b_mx)):
                sums = scaled_quadrant_sums(
                    gemm, tiled, A, B, extras, (first_row, a_row, a_end, a_first),
                    (first_column, b_row, b_end, b_first), part, M, buffers, thread, looped,
                )  # fmt: skip
            elif fx.const_expr(tiled.quadrants):
                sums = quadrant_sums(
                    gemm, tiled, A, B, (first_row, a_row, a_end, a_first), (first_of_b, b_row, b_end, b_first), buffers,
                    thread, looped,
                )  # fmt: skip
            else:
                rows_a = tiled.staged_rows or gemm.tile_m
                a_layout = operand_layout(tiled, rows_a, part_k, a_row // size, shuffled=False)
                b_layout = operand_layout(tiled, gemm.tile_n, part_k, b_row // size, shuffled=gemm.shuffled, of_b=True)
                a_tile = tile_tensor(A, tiled.element, first_row, a_row, a_end - a_first, a_first, a_layout)
                b_tile = tile_tensor(B, tiled.b_element, first_of_b, b_row, b_end - b_first, b_first, b_layout)
                scales = loop_scales(gemm, tiled, extras, first_row, first_column, row_tile, part, M)
                if fx.const_expr(gemm.staged == "AB"):
                    along = row_tile + first_column // gemm.tile_n
                    start = along * gemm.stagger % tiled.steps if gemm.stagger else None
                    sums = staged_loop(tiled, a_tile, b_tile, buffers[0], thread, looped, start)
                else:
                    sums = tiled_loop(tiled, a_tile, b_tile, buffers, thread, looped, scales)
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
                    rounded_at_random(values, (first_row + row) * gemm.N + (first_column + column), extras["sr_seed"])
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

        if fx.const_expr(gemm.groups > 0):
            one_tile_of_groups(fx.block_idx.x, fx.block_idx.y)
        elif fx.const_expr(gemm.persistent > 0):
            walk = gemm.walk(grid_rows(M))
            for turn in range(fx.block_idx.x, walk.size, fx.grid_dim.x):
                one_tile(*walk(turn))
                fx.barrier()  # the next tile's first step goes where others may still read this one's last
        else:
            one_tile(*gemm.tile_of(fx.block_idx.x, fx.block_idx.y, grid_rows(M)))

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
        grid = grid_rows(M), column_tiles, gemm.split_k
        if fx.const_expr(gemm.persistent > 0):
            grid = fx.min(cdiv(M, gemm.tile_m) * column_tiles, gemm.persistent), 1, 1
        tile_gemm(C, A, B, given, strides, M, fx.Int32(tiled.looped)).launch(
            grid=grid, block=(plan.threads,), stream=stream,
            value_attrs={"rocdl.waves_per_eu": asked or None},
        )  # fmt: skip

    return launch

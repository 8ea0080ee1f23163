# SPDX-License-Identifier: Apache-2.0
"""C = act(A B^T * scales + bias) + residual on NVIDIA Hopper: warpgroups multiply where the copy engine puts tiles.

Shapes and layouts
    A (M, K), B (N, K), C (M, N), row-major, rows of any possibly apart. A and B are "bf16", "fp16", "fp8" (E4M3FN) or
    "int8", C is "bf16", "fp16" or "f32". Sums are f32, of int8 int32. Scales are f32, of the rows of A and of B, the
    bias is of the columns of C and of its type, the residual is like C (`Epilogue`).

Limits
    Rows begin at multiples of 16 bytes, and so do the tensors: each call checks it. M, N and K are otherwise free: what
    lies outside is read as zero and not written. sm_90a.

Algorithm and data movement
    Persistent workgroups, one a multiprocessor, walk over tiles of 128 by `tile_n`, in columns of `group_m` tiles that
    share rows of B in the L2. Of three warpgroups one produces: one thread of it has the copy engine (TMA) fill a ring
    of `stages`, each a tile of A and of B with `boxes` of 128 bytes of K, swizzled as the matrix unit reads them. Two
    consume: each multiplies its 64 rows (wgmma), with one group of products in flight while the next stage is waited
    for, and releases a stage when its products have been read. Sums go through an epilogue in registers and
    through shared memory, and are stored by the copy engine, while the producer is already filling the ring for the
    next tile. With `pingpong` each consumer has tiles of its own, every second one, and one multiplies while the other
    stores: the ring has their tiles one behind the other, and who has issued a tile's products hands over to the other.
    What an epilogue reads of a tile's rows and columns is asked for ahead of its products, and put into shared memory
    behind them; a residual comes by the copy engine to where the results go, the first columns of a tile ahead of its
    products. Launches overlap: barriers are made and tiles found before the launches ahead are over, and the next one
    may begin when the last tiles are on their way.

Times are in docs/benchmarks/hopper-products.md (an H100) and hopper-products-h200.md; `tools/bench/cuda_gemm.py` took
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import MULTIPROCESSORS
from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue, element_functions
from .arguments import check_count, expect_rows
from .hopper_config import OUTPUTS, PARTS, PLAIN, ROW_BYTES, ROWS, HopperConfig, default_hopper_config

__all__ = ["compile_hopper_gemm"]

WARPGROUP = 128
SWIZZLES = {128: (3, 4, 3), 64: (2, 4, 3), 32: (1, 4, 3)}  # of rows of so many bytes in shared memory
SWIZZLE = SWIZZLES[ROW_BYTES]
INPUTS = {"bf16": "BFloat16", "fp16": "Float16", "fp8": "Float8E4M3FN", "int8": "Int8"}
PRODUCER_REGISTERS, CONSUMER_REGISTERS = 40, 232


def compile_hopper_gemm(
    *,
    in_dtype: str,
    out_dtype: str = "bf16",
    config: HopperConfig | None = None,
    epilogue: Epilogue = PLAIN,
    multiprocessors: int = MULTIPROCESSORS,
) -> Callable[..., None]:
    """Build the launcher of a product; the page's top says what it computes.

    Args:
        in_dtype, out_dtype: types of A and B, and of C.
        config: how the product is cut up; by default as a large one, `default_hopper_config()`.
        epilogue: what happens to the sums.
        multiprocessors: the workgroups of the grid, at most.

    Returns a `@flyc.jit` function `(C, A, B, stream)`, or with an epilogue that reads more `(C, A, B, scale_a, scale_b,
    bias, stream)`, and with a residual `(C, A, B, scale_a, scale_b, bias, residual, stream)`. Tensors that the epilogue
    does not read may be any.

    Raises:
        ValueError: a limit is not kept, with the numbers, or another target than sm_90a.
        ImportError: there is no compiler.
    """
    arch = get_rocm_arch()
    if arch != "sm_90a":
        raise ValueError(f"this product is for sm_90a, but kernels are compiled for {arch}; use compile_gemm")
    for name, value, known in (("in_dtype", in_dtype, INPUTS), ("out_dtype", out_dtype, OUTPUTS)):
        if value not in known:
            raise ValueError(f"{name} {value!r} is not supported; use one of {', '.join(known)}")
    element, out = getattr(fx, INPUTS[in_dtype]), getattr(fx, OUTPUTS[out_dtype])
    config = config or default_hopper_config(epilogue=epilogue, out_dtype=out_dtype)
    config.check(epilogue, out.width // 8)
    tile_n, stages, store_n = config.tile_n, config.stages, config.stored_columns
    tile_m, consumers = config.tile_m, config.consumers
    sharing = 1 if config.pingpong else consumers  # of a tile
    blocks = config.consumer_rows // ROWS
    splits, boxes_k = config.splits, config.boxes
    threads = WARPGROUP * (1 + consumers)
    tile_k = ROW_BYTES * 8 // element.width
    steps_k = 4  # products of 32 bytes of K
    parts = tile_n // store_n
    # Columns that the copy engine stores at once, and how they are swizzled.
    box_bytes, swizzle_c = next(one for one in SWIZZLES.items() if store_n * out.width // 8 % one[0] == 0)
    box_n = box_bytes * 8 // out.width
    boxes_n = store_n // box_n
    large, small = PARTS
    # Columns whose results are made at once: of more, what an epilogue reads takes too many registers.
    made_n = next(one for one in (64, 32, 16) if store_n % one == 0)
    accumulator = fx.Int32 if in_dtype == "int8" else fx.Float32
    vectors = config.vectors(epilogue)
    kinds = {"scale_a": fx.Float32, "scale_b": fx.Float32, "bias": out}

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def gemm_tiles(
        map_a: fx.nvgpu.TensorMap,
        map_b: fx.nvgpu.TensorMap,
        map_c: fx.nvgpu.TensorMap,
        of_parts: dict[int, fx.nvgpu.TensorMap],
        given: dict[str, fx.Tensor],
        added: dict[str, fx.nvgpu.TensorMap],
        m: fx.Int32,
        n: fx.Int32,
        k: fx.Int32,
    ) -> None:
        shared = fx.SharedAllocator(1024, static=False)

        def stack(rows: int, columns: int, count: int, dtype: Any, parts: tuple[int, int, int] = SWIZZLE) -> Any:
            """Tiles of so many swizzled rows in shared memory, (rows, columns, count)."""
            room = shared.allocate(fx.Array[dtype, rows * columns * count], 1024).peek()
            layout = fx.make_layout((rows, columns, count), (columns, 1, rows * columns))
            swizzle = fx.static(fx.SwizzleType.get(*parts))
            return fx.make_view(fx.apply_swizzle(room.ptr, swizzle), layout)

        ring_a = stack(tile_m, tile_k, stages * boxes_k, element)
        # What is not brought of a tile of few rows is never written, and neither is what is made of it.
        brought = fx.make_view(
            ring_a.iter, fx.make_layout((config.rows, tile_k, stages * boxes_k), (tile_k, 1, tile_m * tile_k))
        )
        ring_b = stack(tile_n, tile_k, stages * boxes_k, element)
        split = fx.nvgpu.cluster_rank() if splits > 1 else fx.Int32(0)
        stored = stack(consumers * config.consumer_rows, box_n, boxes_n * config.store_buffers, out, swizzle_c)
        kept = {
            name: shared.allocate(fx.Array[fx.Float32, consumers * count], 16).peek() for name, count in vectors.items()
        }
        room = shared.allocate(fx.Array[fx.Int64, 2 * stages], 8).peek()
        transferred = boxes_k * (map_a.transferred + map_b.transferred)
        pipeline = fx.nvgpu.AsyncPipeline(room.ptr, stages, transferred, sharing)
        exchanged: Any = None  # sums of the splits, by groups of 4 of a thread
        if fx.const_expr(splits > 1):
            exchanged = shared.allocate(fx.Array[accumulator, tile_m * tile_n], 16).peek()
        has_come: Any = None  # the residual of a consumer's columns
        if fx.const_expr(epilogue.residual):
            has_come = fx.nvgpu.Mbarriers(shared.allocate(fx.Array[fx.Int64, consumers], 8).peek().ptr, consumers)

        tiles_a = fx.flat_divide(map_a.coordinates((m, k)), (config.rows, tile_k))
        tiles_b = fx.flat_divide(map_b.coordinates((n, k)), (tile_n, tile_k))
        # The copy engine fills rows that are not there at a fraction of the rate at which it copies: the last tile of
        # more than 128 rows is brought in parts, and the rest of its stages is of tiles before.
        tiles_of_parts = {
            rows: fx.flat_divide(one.coordinates((m, k)), (rows, tile_k)) for rows, one in of_parts.items()
        }
        parts_brought = {
            rows: fx.make_view(
                ring_a.iter,
                fx.make_layout(
                    (rows, tile_k, tile_m // rows, stages * boxes_k), (tile_k, 1, rows * tile_k, tile_m * tile_k)
                ),
            )
            for rows in of_parts
        }
        tiles_c = fx.flat_divide(map_c.coordinates((m, n)), (config.consumer_rows, box_n))

        thread = fx.Int32(fx.thread_idx.x)
        warp = fx.nvgpu.warp_index()
        group = warp // 4
        if thread == 0:
            if fx.const_expr(epilogue.residual):
                has_come.init(1)
            pipeline.init()
        fx.barrier()

        turns_k, first_k = (k + tile_k * boxes_k - 1) // (tile_k * boxes_k), fx.Int32(0)
        if fx.const_expr(splits > 1):
            of_split = (turns_k + (splits - 1)) // splits
            first_k = fx.math.min(split * of_split, turns_k)
            turns_k = fx.math.min(turns_k - first_k, of_split)
        walk = fx.TileWalk(((m + tile_m - 1) // tile_m, (n + tile_n - 1) // tile_n), group=config.group_m)
        first, step = fx.Int32(fx.block_idx.x) // splits, fx.Int32(fx.grid_dim.x) // splits
        # The launches before this one may still be at work until here.
        fx.nvgpu.griddepcontrol_wait()

        if group == 0:
            if fx.const_expr(consumers == 2):  # else there are enough for all
                fx.nvgpu.set_registers(PRODUCER_REGISTERS, increase=False)
            if (warp == 0) & fx.nvgpu.elect_one():
                # Where one tile has all rows, B is read once. With 64 rows the hint made it slower.
                load_a, load_b = map_a.load_atom(), map_b.load_atom(evict_first=config.rows <= 32)

                def bring(
                    place: Any, turn_k: Any, row: Any, column: Any, transferred: Any = None, there: Any = None
                ) -> Any:
                    """Have a stage come, of A `there` small parts or all; returns the next place."""
                    barrier = pipeline.acquire(place, transferred)
                    for box in fx.range_constexpr(boxes_k):
                        from_k, to = (first_k + turn_k) * boxes_k + box, place.stage * boxes_k + box
                        if fx.const_expr(there is None):
                            load = load_a.set_value("barrier", barrier)
                            fx.copy(load, tiles_a[None, None, row, from_k], brought[None, None, to])
                        else:
                            if there > 1:
                                bring_part(barrier, large, row, 0, from_k, to)
                            if there != 2:
                                bring_part(barrier, small, row, there - 1, from_k, to)
                        load = load_b.set_value("barrier", barrier)
                        fx.copy(load, tiles_b[None, None, column, from_k], ring_b[None, None, to])
                    return place.next()

                def bring_part(barrier: Any, rows: int, row: Any, part: Any, from_k: Any, to: Any) -> None:
                    """Have a part of so many rows of a tile come, counted in such parts."""
                    load = of_parts[rows].load_atom().set_value("barrier", barrier)
                    from_rows = row * (config.rows // rows) + part
                    fx.copy(
                        load,
                        tiles_of_parts[rows][None, None, from_rows, from_k],
                        parts_brought[rows][None, None, part, to],
                    )

                place = pipeline.start()
                for turn in range(first, walk.size, step):
                    row, column = walk(turn)
                    left = m - row * config.rows
                    in_parts = left <= config.rows - small if of_parts else False
                    if in_parts:
                        there = (left + (small - 1)) // small  # of the small parts: 1 to 3
                        transferred = boxes_k * (there * of_parts[small].transferred + map_b.transferred)
                        for turn_k in range(turns_k):
                            place = bring(place, turn_k, row, column, transferred, there)
                    else:
                        for turn_k in range(turns_k):
                            place = bring(place, turn_k, row, column)
                # Not where some multiprocessors have nothing to do: of a next launch of few workgroups they would get
                # more than their part.
                if fx.Int32(fx.grid_dim.x) * 8 >= multiprocessors * 7:
                    fx.nvgpu.griddepcontrol_launch_dependents()
            if fx.const_expr(splits > 1):
                fx.nvgpu.cluster_barrier()
                fx.nvgpu.cluster_barrier()
        else:
            if fx.const_expr(consumers == 2):
                fx.nvgpu.set_registers(CONSUMER_REGISTERS, increase=True)
            mine = group - 1
            lane = thread % WARPGROUP
            tiled = fx.make_tiled_mma(fx.nvgpu.WGMMA(tile_n, element, accumulator), (sharing, 1, 1))
            # Descriptors are the warpgroup's: its first thread stands for all.
            parts_of = tiled.get_slice(0 if config.pingpong else mine * WARPGROUP)
            operand_a, operand_b = parts_of.partition_A(ring_a), parts_of.partition_B(ring_b)

            def sums_of(start: Any, columns: int, blocks: int = 1) -> Any:
                """Sums of the rows of a product, or of so many products."""
                layout = fx.make_layout(((2, 2, columns // 8), blocks, 1), ((1, 2, 4), tile_n // 2, 0))
                return fx.make_view(start, layout)

            sums = sums_of(fx.make_rmem_tensor(blocks * tile_n // 2, accumulator).iter, tile_n, blocks)
            # A product's rows of the columns whose results are made at once.
            store_tile = fx.make_tiled_mma(fx.nvgpu.WGMMA(made_n, element, accumulator), (1, 1, 1))
            put = fx.make_tiled_copy_C(fx.make_copy_atom(fx.UniversalCopy(2 * out.width), out), store_tile).get_slice(
                lane
            )
            rows = config.consumer_rows
            of_mine, apart = stored.iter + mine * (rows * box_n), consumers * rows * box_n
            rows_of_mine = fx.make_view(
                of_mine,
                fx.make_layout(
                    (ROWS, (box_n, made_n // box_n), store_n // made_n, config.store_buffers, blocks),
                    (box_n, (1, apart), made_n // box_n * apart, boxes_n * apart, ROWS * box_n),
                ),
            )
            boxes = fx.make_view(
                of_mine,
                fx.make_layout((rows, box_n, boxes_n, config.store_buffers), (box_n, 1, apart, boxes_n * apart)),
            )

            counts = {name: fx.Int32(fx.size(given[name]).unpack()) for name in vectors}

            def ask(name: str, first: Any, end: Any) -> list[Any]:
                """What an epilogue reads of a tile, in registers of the warpgroup, with 0 past the end."""
                values = []
                for start in fx.range_constexpr(0, vectors[name], WARPGROUP):
                    at, value = lane + start, fx.make_rmem_tensor(1, fx.Float32)
                    value.fill(0.0)
                    if (at < vectors[name]) & (first + at < end):
                        # One scale is for all.
                        value[0] = given[name][fx.math.min(first + at, counts[name] - 1)].to(fx.Float32)
                    values.append(value)
                return values

            def keep(name: str, values: list[Any]) -> None:
                """Have the warpgroup put what it asked for where all of it reads it."""
                for start, value in enumerate(values):
                    at = lane + start * WARPGROUP
                    if at < vectors[name]:
                        kept[name][mine * vectors[name] + at] = value[0]

            def read(name: str, row: int, column: int) -> Any:
                """What was kept, as a tensor of the shape of the results that are made at once, from there on."""
                start = kept[name].ptr + mine * vectors[name]
                if fx.const_expr(name == "scale_a"):
                    return fx.make_view(start + row, fx.make_layout((ROWS, made_n), (1, 0)))
                return fx.make_view(start + column, fx.make_layout((ROWS, made_n), (0, 1)))

            def rows_of_tile(row: Any) -> Any:
                """Which rows of C are this consumer's, in units of as many as it has."""
                return row if fx.const_expr(config.pingpong) else row * consumers + mine

            def boxes_of_tile(tiles: Any, row: Any, column: Any, part: int, box: int) -> Any:
                return tiles[None, None, rows_of_tile(row), column * (tile_n // box_n) + part * boxes_n + box]

            def bring_residual(row: Any, column: Any, part: int) -> None:
                """Have the residual of some columns come to where their results will stand; one thread."""
                map_r = added["residual"]
                has_come.expect(mine, boxes_n * map_r.transferred)
                load_r = map_r.load_atom().set_value("barrier", has_come.at(mine))
                tiles_r = fx.flat_divide(map_r.coordinates((m, n)), (rows, box_n))
                for box in fx.range_constexpr(boxes_n):
                    to = boxes[None, None, box, part % config.store_buffers]
                    fx.copy(load_r, boxes_of_tile(tiles_r, row, column, part, box), to)

            def gather() -> None:
                """Add up the sums of the cluster's workgroups, in the order of K, in the first."""
                count = tile_n // 8
                groups = [exchanged.ptr + ((mine * count + i) * WARPGROUP + lane) * 4 for i in range(count)]
                own = [fx.make_view(sums.iter + 4 * i, fx.make_layout(4, 1)) for i in range(count)]
                # Warps, which have 16 rows each, have nothing to add of rows that are never brought.
                warps = -(-config.rows // 16)
                brings = lane < 32 * warps if consumers == 1 else lane < 32 * warps - mine * WARPGROUP
                if brings & (split != 0):
                    for group_of, values in zip(groups, own, strict=True):
                        group_of.store(values.load())
                fx.nvgpu.cluster_barrier()
                if brings & (split == 0):
                    for other in fx.range_constexpr(1, splits):
                        for group_of, values in zip(groups, own, strict=True):
                            values.store(values.load() + fx.nvgpu.cluster_load(group_of, other, 4))
                fx.nvgpu.cluster_barrier()

            def handed_over(consumer: Any) -> Any:
                """The named barrier at which a consumer waits for its turn to multiply."""
                return consumer + 1 + consumers

            def make_room(part: int) -> None:
                """Wait until what was stored from the buffer of these columns has been read out of shared memory."""
                if lane == 0:
                    fx.nvgpu.tma_wait(1 if config.store_buffers == 2 and (part or parts % 2 == 0) else 0, read=True)

            def finish(row: Any, column: Any, parity: Any) -> Any:
                """Make results of the sums of a tile and have them stored; returns the parity of the next residual.

                There is room for its first columns.
                """
                for part in fx.range_constexpr(parts):
                    buffer = part % config.store_buffers
                    if fx.const_expr(part > 0):
                        make_room(part)
                        if fx.const_expr(epilogue.residual):  # noqa: SIM102 - one is known while tracing
                            if lane == 0:
                                bring_residual(row, column, part)
                        fx.nvgpu.named_barrier(mine + 1, WARPGROUP)
                    if fx.const_expr(epilogue.residual):
                        has_come.wait(mine, parity)
                        parity = parity ^ 1
                    for made, block in itertools.product(range(store_n // made_n), range(blocks)):
                        results, at = rows_of_mine[None, None, made, buffer, block], part * store_n + made * made_n
                        chain = fx.Epilogue()
                        for function, names in element_functions(epilogue, out):
                            operands = [
                                results if name == "residual" else read(name, block * ROWS, at) for name in names
                            ]
                            chain = chain.then(function, *operands)
                        chain.store(put, sums_of(sums.iter + (block * tile_n + at) // 2, made_n), results)
                    fx.nvgpu.fence_async_shared()
                    fx.nvgpu.named_barrier(mine + 1, WARPGROUP)
                    if lane == 0:
                        for box in fx.range_constexpr(boxes_n):
                            there = boxes_of_tile(tiles_c, row, column, part, box)
                            fx.copy(store_c, boxes[None, None, box, buffer], there)
                        fx.nvgpu.tma_commit()
                return parity

            store_c = map_c.store_atom()
            place = pipeline.start()
            parity = fx.Int32(0)
            # The tiles of this consumer; with pingpong the second may have none.
            begin, stride = first, step
            if fx.const_expr(config.pingpong):
                begin, stride = first + mine * step, consumers * step
                place = place.skip(mine * turns_k)
            row, column = walk(fx.math.min(begin, walk.size - 1) if config.pingpong else begin)
            for turn in range(begin, walk.size, stride):
                # It is on its way while the products are made.
                asked = {
                    name: ask(name, rows_of_tile(row) * rows, m) if name == "scale_a" else ask(name, column * tile_n, n)
                    for name in vectors
                }
                if fx.const_expr(epilogue.residual):  # noqa: SIM102 - one is known while tracing
                    if lane == 0:
                        fx.nvgpu.tma_wait(0, read=True)
                        bring_residual(row, column, 0)
                if fx.const_expr(splits > 1):
                    sums.fill(0)  # this workgroup may have no turn
                if fx.const_expr(config.pingpong):  # noqa: SIM102 - one is known while tracing
                    if turn != first:
                        fx.nvgpu.named_barrier(handed_over(mine), consumers * WARPGROUP)
                for turn_k in range(turns_k):
                    pipeline.wait(place)
                    fx.nvgpu.warpgroup_fence(sums)
                    for part_k in fx.range_constexpr(boxes_k * steps_k):
                        accumulate = True if part_k else turn_k != 0
                        step_k, of_stage = part_k % steps_k, place.stage * boxes_k + part_k // steps_k
                        fx.gemm(
                            tiled.set_value("accumulate", fx.Boolean(accumulate)),
                            sums,
                            operand_a[None, None, step_k, of_stage],
                            operand_b[None, None, step_k, of_stage],
                            sums,
                        )
                    fx.nvgpu.warpgroup_commit()
                    fx.nvgpu.warpgroup_wait(sums, 1)
                    # The products of the step before have read their stage.
                    if (turn_k != 0) & (lane == 0):
                        pipeline.release(place.previous_stage)
                    place = place.next()
                # The other's next tile, if there is one. All places up to its first have been full, as `skip` asks for.
                if fx.const_expr(config.pingpong):  # noqa: SIM102 - one is known while tracing
                    if turn + step < walk.size:
                        fx.nvgpu.named_arrive(handed_over(1 - mine), consumers * WARPGROUP)
                # While the last products are made: where the next tile is, and room for this one's results.
                next_row, next_column = walk(fx.math.min(turn + stride, walk.size - 1))
                for name, values in asked.items():
                    keep(name, values)
                make_room(0)
                fx.nvgpu.named_barrier(mine + 1, WARPGROUP)
                fx.nvgpu.warpgroup_wait(sums, 0)
                if lane == 0:
                    pipeline.release(place.previous_stage)
                if fx.const_expr(config.pingpong):
                    place = place.skip(turns_k)
                if fx.const_expr(splits > 1):
                    gather()
                    if split == 0:
                        finish(row, column, parity)
                else:
                    parity = finish(row, column, parity)
                row, column = next_row, next_column
            if lane == 0:
                fx.nvgpu.tma_wait(0, read=True)

    def launch(C: Any, A: Any, B: Any, extras: dict[str, Any], stream: Any) -> None:
        for name, tensor, kind in (("C", C, out), ("A", A, element), ("B", B, element)):
            expect_rows(name, tensor, kind)
        (m, k), (n, k_of_b) = A.shape.unpack(), B.shape.unpack()
        rows, columns = C.shape.unpack()
        fx.host_assert(
            (fx.Int64(k) == k_of_b) & (fx.Int64(rows) == m) & (fx.Int64(columns) == n),
            "expected C of {} rows of {}, and A and B of one K; C is {} of {}, K is {} and {}",
            *(fx.Int64(one) for one in (m, n, rows, columns, k, k_of_b)),
        )
        if config.rows < tile_m or consumers == 1:
            fx.host_assert(fx.Int64(m) <= config.rows, f"at most {config.rows} rows, got {{}}", fx.Int64(m))
        fx.host_assert(fx.Int64(k) > 0, "K is 0: there is nothing to multiply")
        for name in vectors:
            expect_rows(name, extras[name], kinds[name])
            check_count(name, extras[name], m if name == "scale_a" else n, or_one=name != "bias")
        maps = {}
        if epilogue.residual:
            R = extras["residual"]
            expect_rows("residual", R, out)
            rows_r, columns_r = (fx.Int64(one) for one in R.shape.unpack())
            fx.host_assert(
                (rows_r == m) & (columns_r == n), "expected a residual of {} rows of {}, got {} of {}",
                fx.Int64(m), fx.Int64(n), rows_r, columns_r,
            )  # fmt: skip
            maps["residual"] = fx.nvgpu.make_tensor_map(R, (config.consumer_rows, box_n), swizzle_c)
        # More than a row of the box only costs the L2, except where few workgroups with a long K wait for memory: what
        # the next stage asks for comes along.
        fetched = 256 if splits > 1 and consumers == 2 else 128
        map_a = fx.nvgpu.make_tensor_map(A, (config.rows, tile_k), SWIZZLE, fetched=fetched)
        map_b = fx.nvgpu.make_tensor_map(B, (tile_n, tile_k), SWIZZLE, fetched=fetched)
        map_c = fx.nvgpu.make_tensor_map(C, (config.consumer_rows, box_n), swizzle_c, written=True)
        of_parts = {}
        if config.rows == tile_m and consumers == 2:
            of_parts = {rows: fx.nvgpu.make_tensor_map(A, (rows, tile_k), SWIZZLE, fetched=fetched) for rows in PARTS}
        m, n, k = fx.Int32(m), fx.Int32(n), fx.Int32(k)
        tiles = ((m + tile_m - 1) // tile_m) * ((n + tile_n - 1) // tile_n)
        # Workgroups that share a tile have no other.
        grid = fx.math.min(tiles, fx.Int32(multiprocessors)) if splits == 1 else tiles * splits
        gemm_tiles(map_a, map_b, map_c, of_parts, {name: extras[name] for name in vectors}, maps, m, n, k).launch(
            grid=(grid,), block=(threads,), cluster=(splits, 1, 1) if splits > 1 else None, stream=stream
        )

    if epilogue.residual:

        @flyc.jit
        def hopper_gemm_added(
            C: fx.Tensor,
            A: fx.Tensor,
            B: fx.Tensor,
            scale_a: fx.Tensor,
            scale_b: fx.Tensor,
            bias: fx.Tensor,
            residual: fx.Tensor,
            stream: fx.Stream = fx.Stream(None),
        ) -> None:
            launch(C, A, B, {"scale_a": scale_a, "scale_b": scale_b, "bias": bias, "residual": residual}, stream)

        with_residual: Callable[..., None] = hopper_gemm_added
        return with_residual

    if not vectors:

        @flyc.jit
        def hopper_gemm(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, stream: fx.Stream = fx.Stream(None)) -> None:
            launch(C, A, B, {}, stream)

        plain: Callable[..., None] = hopper_gemm
        return plain

    @flyc.jit
    def hopper_gemm_with(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        bias: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch(C, A, B, {"scale_a": scale_a, "scale_b": scale_b, "bias": bias}, stream)

    launcher: Callable[..., None] = hopper_gemm_with
    return launcher

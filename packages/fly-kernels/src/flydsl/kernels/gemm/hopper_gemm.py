# SPDX-License-Identifier: Apache-2.0
"""C = A B^T on NVIDIA Hopper: the copy engine brings tiles, warpgroups multiply them where they lie.

Shapes and layouts
    A (M, K), B (N, K), C (M, N), row-major, rows of any possibly apart. A and B are "bf16", "fp16" or "fp8" (E4M3FN),
    C is "bf16" or "fp16". Sums are f32.

Limits
    Rows begin at multiples of 16 bytes, and so do the tensors: each call checks it. M, N and K are otherwise free: what
    lies outside is read as zero and not written. sm_90a.

Algorithm and data movement
    Persistent workgroups, one a multiprocessor, walk over tiles of 128 by `tile_n`, in columns of `group_m` tiles that
    share rows of B in the L2. Of three warpgroups one produces: one thread of it has the copy engine (TMA) fill a ring
    of `stages`, each a tile of A and of B with 128 bytes of K in a row, swizzled as the matrix unit reads them. Two
    consume: each multiplies its 64 rows (wgmma), with one group of products in flight while the next stage is waited
    for, and releases a stage when its products have been read. Sums are rounded in registers, go through shared memory
    and are stored by the copy engine, while the producer is already filling the ring for the next tile.

State
    Compiled and assembled (ptxas 12.9: 168 registers, no spills, no serialised products), not run on hardware yet:
    neither its results nor its speed are known. `tools/bench/cuda_gemm.py` checks and times it there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import flyc, fx

__all__ = ["HopperConfig", "compile_hopper_gemm"]

WARPGROUP = 128
CONSUMERS = 2
THREADS = WARPGROUP * (1 + CONSUMERS)
TILE_M = 64 * CONSUMERS
ROW_BYTES = 128  # of K in a stage: the width of the swizzle
SWIZZLE = (3, 4, 3)
INPUTS = {"bf16": "BFloat16", "fp16": "Float16", "fp8": "Float8E4M3FN"}
OUTPUTS = {"bf16": "BFloat16", "fp16": "Float16"}
PRODUCER_REGISTERS, CONSUMER_REGISTERS = 40, 232
SHARED_BYTES = 227 << 10
_BARRIER_BYTES = 1024  # the barriers, and the alignment of what lies behind them


@dataclass(frozen=True)
class HopperConfig:
    """How a product is cut up.

    Attributes:
        tile_n: columns of a tile: 64, 128, 192 or 256.
        stages: of the ring, 2 or more.
        group_m: rows of tiles that are walked together.
        store_n: columns that go through shared memory at once: 64 or 128, a divisor of `tile_n`.
    """

    tile_n: int = 256
    stages: int = 4
    group_m: int = 16
    store_n: int = 128

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a workgroup."""
        return self.stages * (TILE_M + self.tile_n) * ROW_BYTES + TILE_M * self.store_n * 2 + _BARRIER_BYTES

    def check(self) -> None:
        """Raise ValueError for what cannot be built, with the numbers."""
        if self.tile_n not in (64, 128, 192, 256):
            raise ValueError(f"tile_n is 64, 128, 192 or 256, got {self.tile_n}")
        if self.store_n not in (64, 128) or self.tile_n % self.store_n:
            raise ValueError(f"store_n is 64 or 128 and a divisor of tile_n = {self.tile_n}, got {self.store_n}")
        if self.stages < 2 or self.group_m < 1:
            raise ValueError(f"stages is at least 2 and group_m at least 1, got {self.stages} and {self.group_m}")
        if self.shared_bytes > SHARED_BYTES:
            raise ValueError(
                f"{self.stages} stages of {TILE_M} + {self.tile_n} rows and a tile of {self.store_n} columns to store "
                f"take {self.shared_bytes} bytes of shared memory; there are {SHARED_BYTES}"
            )


def compile_hopper_gemm(
    *, in_dtype: str, out_dtype: str = "bf16", config: HopperConfig | None = None, multiprocessors: int = 132
) -> Callable[..., None]:
    """Build the launcher of a product; the page's top says what it computes.

    Args:
        in_dtype, out_dtype: types of A and B, and of C.
        config: how the product is cut up.
        multiprocessors: the workgroups of the grid, at most.

    Returns a `@flyc.jit` function `(C, A, B, stream)`.

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
    config = config or HopperConfig()
    config.check()
    element, out = getattr(fx, INPUTS[in_dtype]), getattr(fx, OUTPUTS[out_dtype])
    tile_n, stages, store_n = config.tile_n, config.stages, config.store_n
    tile_k = ROW_BYTES * 8 // element.width
    steps_k = 4  # products of 32 bytes of K
    parts = tile_n // store_n

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def gemm_tiles(
        map_a: fx.nvgpu.TensorMap,
        map_b: fx.nvgpu.TensorMap,
        map_c: fx.nvgpu.TensorMap,
        m: fx.Int32,
        n: fx.Int32,
        k: fx.Int32,
    ) -> None:
        swizzle = fx.static(fx.SwizzleType.get(*SWIZZLE))
        shared = fx.SharedAllocator(1024, static=False)

        def stack(rows: int, columns: int, count: int, dtype: Any) -> Any:
            """Tiles of so many swizzled rows in shared memory, (rows, columns, count)."""
            room = shared.allocate(fx.Array[dtype, rows * columns * count], 1024).peek()
            layout = fx.make_layout((rows, columns, count), (columns, 1, rows * columns))
            return fx.make_view(fx.apply_swizzle(room.ptr, swizzle), layout)

        ring_a = stack(TILE_M, tile_k, stages, element)
        ring_b = stack(tile_n, tile_k, stages, element)
        stored = stack(TILE_M, 64, store_n // 64, out)
        room = shared.allocate(fx.Array[fx.Int64, 2 * stages], 8).peek()
        pipeline = fx.nvgpu.AsyncPipeline(room.ptr, stages, map_a.transferred + map_b.transferred, CONSUMERS)

        tiles_a = fx.flat_divide(map_a.coordinates((m, k)), (TILE_M, tile_k))
        tiles_b = fx.flat_divide(map_b.coordinates((n, k)), (tile_n, tile_k))
        tiles_c = fx.flat_divide(map_c.coordinates((m, n)), (64, 64))

        thread = fx.Int32(fx.thread_idx.x)
        warp = fx.nvgpu.warp_index()
        group = warp // 4
        if thread == 0:
            pipeline.init()
        fx.barrier()

        turns_k = (k + tile_k - 1) // tile_k
        walk = fx.TileWalk(((m + TILE_M - 1) // TILE_M, (n + tile_n - 1) // tile_n), group=config.group_m)
        first, step = fx.Int32(fx.block_idx.x), fx.Int32(fx.grid_dim.x)

        if group == 0:
            fx.nvgpu.set_registers(PRODUCER_REGISTERS, increase=False)
            if (warp == 0) & fx.nvgpu.elect_one():
                load_a, load_b = map_a.load_atom(), map_b.load_atom()
                place = pipeline.start()
                for turn in range(first, walk.size, step):
                    row, column = walk(turn)
                    for turn_k in range(turns_k):
                        barrier = pipeline.acquire(place)
                        fx.copy(
                            load_a.set_value("barrier", barrier),
                            tiles_a[None, None, row, turn_k],
                            ring_a[None, None, place.stage],
                        )
                        fx.copy(
                            load_b.set_value("barrier", barrier),
                            tiles_b[None, None, column, turn_k],
                            ring_b[None, None, place.stage],
                        )
                        place = place.next()
        else:
            fx.nvgpu.set_registers(CONSUMER_REGISTERS, increase=True)
            mine = group - 1
            lane = thread % WARPGROUP
            tiled = fx.make_tiled_mma(fx.nvgpu.WGMMA(tile_n, element), (CONSUMERS, 1, 1))
            # Descriptors are the warpgroup's: its first thread stands for all.
            parts_of = tiled.get_slice(mine * WARPGROUP)
            operand_a, operand_b = parts_of.partition_A(ring_a), parts_of.partition_B(ring_b)
            sums = fx.make_rmem_tensor(fx.make_layout(((2, 2, tile_n // 8), 1, 1), ((1, 2, 4), 0, 0)), fx.Float32)
            # One warpgroup's rows of the columns that are stored at once.
            store_tile = fx.make_tiled_mma(fx.nvgpu.WGMMA(store_n, element), (1, 1, 1))
            narrow = fx.make_rmem_tensor(fx.make_layout(((2, 2, store_n // 8), 1, 1), ((1, 2, 4), 0, 0)), out)
            pair = fx.make_copy_atom(fx.UniversalCopy32b(), out)
            put = fx.make_tiled_copy_C(pair, store_tile).get_slice(lane)
            rows_of_mine = fx.make_view(
                stored.iter + mine * (64 * 64),
                fx.make_layout((64, (64, store_n // 64)), (64, (1, TILE_M * 64))),
            )
            boxes = fx.make_view(
                stored.iter + mine * (64 * 64), fx.make_layout((64, 64, store_n // 64), (64, 1, TILE_M * 64))
            )
            store_c = map_c.store_atom()
            place = pipeline.start()
            for turn in range(first, walk.size, step):
                row, column = walk(turn)
                for turn_k in range(turns_k):
                    pipeline.wait(place)
                    fx.nvgpu.warpgroup_fence(sums)
                    for step_k in fx.range_constexpr(steps_k):
                        accumulate = True if step_k else turn_k != 0
                        fx.gemm(
                            tiled.set_value("accumulate", fx.Boolean(accumulate)),
                            sums,
                            operand_a[None, None, step_k, place.stage],
                            operand_b[None, None, step_k, place.stage],
                            sums,
                        )
                    fx.nvgpu.warpgroup_commit()
                    fx.nvgpu.warpgroup_wait(sums, 1)
                    # The products of the step before have read their stage.
                    if (turn_k != 0) & (lane == 0):
                        pipeline.release(place.previous_stage)
                    place = place.next()
                fx.nvgpu.warpgroup_wait(sums, 0)
                if lane == 0:
                    pipeline.release(place.previous_stage)

                for part in fx.range_constexpr(parts):
                    # The stores before have been read out of shared memory.
                    if lane == 0:
                        fx.nvgpu.tma_wait(0, read=True)
                    fx.nvgpu.named_barrier(mine + 1, WARPGROUP)
                    some = fx.make_view(
                        sums.iter + part * (store_n // 2),
                        fx.make_layout(((2, 2, store_n // 8), 1, 1), ((1, 2, 4), 0, 0)),
                    )
                    narrow.store(some.load().to(out))
                    fx.copy(pair, put.retile(narrow), put.partition_D(rows_of_mine))
                    fx.nvgpu.fence_async_shared()
                    fx.nvgpu.named_barrier(mine + 1, WARPGROUP)
                    if lane == 0:
                        for box in fx.range_constexpr(store_n // 64):
                            fx.copy(
                                store_c,
                                boxes[None, None, box],
                                tiles_c[
                                    None,
                                    None,
                                    row * CONSUMERS + mine,
                                    column * (tile_n // 64) + part * (store_n // 64) + box,
                                ],
                            )
                        fx.nvgpu.tma_commit()
            if lane == 0:
                fx.nvgpu.tma_wait(0)

    @flyc.jit
    def hopper_gemm(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, stream: fx.Stream = fx.Stream(None)) -> None:
        (m, k), (n, _) = A.shape.unpack(), B.shape.unpack()
        map_a = fx.nvgpu.make_tensor_map(A, (TILE_M, tile_k), SWIZZLE)
        map_b = fx.nvgpu.make_tensor_map(B, (tile_n, tile_k), SWIZZLE)
        map_c = fx.nvgpu.make_tensor_map(C, (64, 64), SWIZZLE, written=True)
        m, n, k = fx.Int32(m), fx.Int32(n), fx.Int32(k)
        tiles = ((m + TILE_M - 1) // TILE_M) * ((n + tile_n - 1) // tile_n)
        grid = fx.math.min(tiles, fx.Int32(multiprocessors))
        gemm_tiles(map_a, map_b, map_c, m, n, k).launch(grid=(grid,), block=(THREADS,), stream=stream)

    launcher: Callable[..., None] = hopper_gemm
    return launcher

# SPDX-License-Identifier: Apache-2.0
"""Kernels of asynchronous copies for sm_90a: they are run on a GPU, and elsewhere their PTX is looked at."""

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS, ROWS, COLUMNS = 128, 16, 64  # of a tile
STAGES = 2
BOX = (16, 16)


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def reversed_rows(
    x: fx.Tensor,
    y: fx.Tensor,
    rows: fx.Int32,
    columns: fx.Int32,
    bits: fx.Constexpr[int],
    swizzle: fx.Constexpr[tuple],
    by_barrier: fx.Constexpr[bool],
):
    """Tile for tile of some rows by way of two stages in shared memory; the columns of a tile are written reversed.

    What a tile has outside of the matrix is zeros there. `by_barrier`, an mbarrier says that a stage has come.
    """
    thread = fx.Int32(fx.thread_idx.x)
    dtype = x.dtype
    values = bits // dtype.width
    shared = fx.SharedAllocator(1024, static=False)
    room = shared.allocate(fx.Array[dtype, STAGES * ROWS * COLUMNS], 1024).peek()
    pointer = fx.apply_swizzle(room.ptr, fx.static(fx.SwizzleType.get(*swizzle))) if swizzle else room.ptr
    held = fx.make_view(pointer, fx.make_layout((ROWS, COLUMNS, STAGES), (COLUMNS, 1, ROWS * COLUMNS)))
    for stage in fx.range_constexpr(STAGES):  # poison, which copies have to replace
        for i in fx.range_constexpr(ROWS * COLUMNS // THREADS):
            place = i * THREADS + thread
            held[place // COLUMNS, place % COLUMNS, stage] = dtype(-77)
    arrivals = fx.nvgpu.Mbarriers(shared.allocate(fx.Array[fx.Int64, STAGES], 8).peek().ptr, STAGES)
    if thread == 0:
        arrivals.init(THREADS)
        fx.nvgpu.fence_mbarrier_init()
    fx.barrier()

    across = COLUMNS // values
    tiled = fx.make_tiled_copy_tv(
        fx.make_copy_atom(fx.nvgpu.CpAsync(bits), dtype),
        fx.make_layout((THREADS // across, across), (across, 1)),
        fx.make_layout((1, values), (1, 1)),
    )
    repeated = ROWS * across // THREADS
    mine = tiled.get_slice(thread)
    everywhere = fx.make_view((0, 0), fx.make_identity_layout((rows, columns)))
    tiles, places = (fx.flat_divide(one, (ROWS, COLUMNS)) for one in (x, everywhere))
    row_tile = fx.Int32(fx.block_idx.x)

    def fetch(step, stage):
        part = mine.partition_S(tiles[None, None, row_tile, step])
        where = mine.partition_S(places[None, None, row_tile, step])
        inside = fx.make_rmem_tensor(fx.make_layout((1, repeated, 1), (0, 1, 0)), fx.Boolean)
        for i in fx.range_constexpr(repeated):
            inside[0, i, 0] = fx.elem_less(where[0, i, 0], (rows, columns))
        fx.copy(tiled, part, mine.partition_D(held[None, None, stage]), pred=inside)
        if fx.const_expr(by_barrier):
            arrivals.arrive_copied(stage)
        else:
            fx.nvgpu.cp_async_commit()

    steps = (columns + (COLUMNS - 1)) // COLUMNS
    fetch(fx.Int32(0), fx.Int32(0))
    for step in range(steps):
        stage = step % STAGES
        fetch(step + 1, (step + 1) % STAGES)  # behind the last one all of it is outside
        if fx.const_expr(by_barrier):
            arrivals.wait(stage, step // STAGES % 2)
        else:
            fx.nvgpu.cp_async_wait(1)
            fx.barrier()
        for i in fx.range_constexpr(ROWS * COLUMNS // THREADS):
            place = i * THREADS + thread
            row, column = place // COLUMNS, place % COLUMNS
            y[row_tile * ROWS + row, step * COLUMNS + column] = held[row, COLUMNS - 1 - column, stage]
        fx.barrier()  # all have read the stage
    fx.nvgpu.cp_async_wait()


@flyc.jit
def reverse_rows(
    x: fx.Tensor,
    y: fx.Tensor,
    rows: fx.Int32,
    columns: fx.Int32,
    bits: fx.Constexpr[int],
    swizzle: fx.Constexpr[tuple],
    by_barrier: fx.Constexpr[bool],
):
    """Write the tiles of `x` to `y`, which has all of each tile."""
    reversed_rows(x, y, rows, columns, bits, swizzle, by_barrier).launch(
        grid=((rows + ROWS - 1) // ROWS,), block=(THREADS,)
    )


@flyc.kernel(known_block_size=(BOX[0] * BOX[1], 1, 1))
def reduced(x: fx.Tensor, out: fx.nvgpu.TensorMap, rows: fx.Int32, columns: fx.Int32, kind: fx.Constexpr[str]):
    """Each workgroup brings a tile of matrix z of `x` to shared memory; the copy engine reduces it into `out`."""
    thread = fx.Int32(fx.thread_idx.x)
    shared = fx.SharedAllocator(128, static=False)
    room = shared.allocate(fx.Array[out.dtype, BOX[0] * BOX[1]], 128).peek()
    tile = fx.make_view(room.ptr, fx.make_layout(BOX, (BOX[1], 1)))
    row, column = thread // BOX[1], thread % BOX[1]
    i, j = fx.Int32(fx.block_idx.y) * BOX[0] + row, fx.Int32(fx.block_idx.x) * BOX[1] + column
    if i < rows and j < columns:  # what is outside of the matrix is left as it is, and left out
        tile[row, column] = x[fx.block_idx.z, i, j]
    fx.nvgpu.fence_async_shared()
    fx.barrier()
    if thread == 0:
        boxes = fx.flat_divide(out.coordinates((rows, columns)), BOX)
        fx.copy(out.reduce_atom(kind), tile, boxes[None, None, fx.block_idx.y, fx.block_idx.x])
        fx.nvgpu.tma_commit()
        fx.nvgpu.tma_wait()


@flyc.jit
def reduce_all(
    x: fx.Tensor, y: fx.Tensor, count: fx.Int32, kind: fx.Constexpr[str], unsigned: fx.Constexpr[bool] = False
):
    """Reduce the `count` matrices of `x` into `y`; `unsigned`, of what the bits of both are as unsigned integers."""
    if fx.const_expr(unsigned):
        element = {32: fx.Uint32, 64: fx.Uint64}[x.dtype.width]
        x, y = (fx.make_view(fx.recast_iter(element, one.iter), one.layout) for one in (x, y))
    rows, columns = (fx.Int32(extent) for extent in y.shape.unpack())
    grid = ((columns + BOX[1] - 1) // BOX[1], (rows + BOX[0] - 1) // BOX[0], count)
    box = fx.nvgpu.make_tensor_map(y, BOX, written=True)
    reduced(x, box, rows, columns, kind).launch(grid=grid, block=(BOX[0] * BOX[1],))

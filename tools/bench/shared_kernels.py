# SPDX-License-Identifier: Apache-2.0
"""Kernels that both compilers of the language take as they are, for tools/bench/compile_time.py.

Each entry of `KERNELS` is a function without arguments that returns a host function and its example arguments. They
stand for what people write: an elementwise kernel, tiled copies, tiled matrix operations with and without LDS, a row
reduction, unrolled loops, and branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256


def vector_add() -> tuple[Any, tuple[Any, ...]]:
    """One element per thread, with a bound."""

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
        i = fx.block_idx.x * THREADS + fx.thread_idx.x
        if i < n:
            c[i] = a[i] + b[i]

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
        kernel(a, b, c, n).launch(grid=((n + THREADS - 1) // THREADS, 1, 1), block=(THREADS, 1, 1))

    return launch, (*(torch.zeros(1000) for _ in range(3)), 1000)


def copy_tiles() -> tuple[Any, tuple[Any, ...]]:
    """Tiles of a matrix through registers by tiled copies of 128 bits."""
    rows, columns = 32, 64

    @flyc.kernel
    def kernel(source: fx.Tensor, target: fx.Tensor):
        tiler = (rows, columns)
        block = (None, None, fx.block_idx.x, fx.block_idx.y)
        tile_in, tile_out = fx.flat_divide(source, tiler)[block], fx.flat_divide(target, tiler)[block]
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        tile, layout = fx.make_layout_tv(fx.make_layout((16, 16), (16, 1)), fx.make_layout((2, 4), (4, 1)))
        tiled = fx.make_tiled_copy(atom, layout, tile)
        mine = tiled.get_slice(fx.thread_idx.x)
        part_in, part_out = mine.partition_S(tile_in), mine.partition_D(tile_out)
        registers = fx.make_fragment_like(part_in)
        fx.copy(tiled, part_in, registers)
        fx.copy(tiled, registers, part_out)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(4, 4, 1), block=(THREADS, 1, 1))

    return launch, tuple(flyc.from_dlpack(torch.zeros(128, 256)) for _ in range(2))


def tiled_gemm() -> tuple[Any, tuple[Any, ...]]:
    """C = A B^T by a tiled MFMA, fragments straight from memory, a run-time loop over K."""
    tile_m, tile_n, tile_k = 128, 128, 32

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, steps: fx.Int32):
        row, column = fx.block_idx.y, fx.block_idx.x
        tiled = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        mine = tiled.get_slice(fx.thread_idx.x)
        tiles_a, tiles_b = fx.flat_divide(a, (tile_m, tile_k)), fx.flat_divide(b, (tile_n, tile_k))
        tile_c = fx.flat_divide(c, (tile_m, tile_n))[None, None, row, column]
        part_a = mine.make_fragment_A(tiles_a[None, None, row, 0])
        part_b = mine.make_fragment_B(tiles_b[None, None, column, 0])
        sums = mine.make_fragment_C(tile_c)
        sums.fill(0.0)
        load = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
        load_a, load_b = fx.make_tiled_copy_A(load, tiled), fx.make_tiled_copy_B(load, tiled)
        for step in range(steps):
            from_a, from_b = load_a.get_slice(fx.thread_idx.x), load_b.get_slice(fx.thread_idx.x)
            fx.copy(load_a, from_a.partition_S(tiles_a[None, None, row, step]), from_a.retile(part_a))
            fx.copy(load_b, from_b.partition_S(tiles_b[None, None, column, step]), from_b.retile(part_b))
            fx.gemm(tiled, sums, part_a, part_b, sums)
        store = fx.make_tiled_copy_C(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), tiled)
        to_c = store.get_slice(fx.thread_idx.x)
        fx.copy(store, to_c.retile(sums), to_c.partition_D(tile_c))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, steps: fx.Int32):
        kernel(a, b, c, steps).launch(grid=(2, 2, 1), block=(THREADS, 1, 1))

    a, b = (flyc.from_dlpack(torch.zeros(256, 256, dtype=torch.float16)) for _ in range(2))
    return launch, (a, b, flyc.from_dlpack(torch.zeros(256, 256)), 8)


def row_sums() -> tuple[Any, tuple[Any, ...]]:
    """A row per workgroup: vectors per thread, shuffles within a wave, LDS between waves."""
    columns, width = 4096, 4

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        thread, row = fx.thread_idx.x, fx.block_idx.x
        allocator = fx.SharedAllocator()
        partial = allocator.allocate(fx.Array[fx.Float32, THREADS // 64]).peek()
        total = fx.Float32(0.0)
        for chunk in fx.range_constexpr(columns // (THREADS * width)):
            for lane in fx.range_constexpr(width):
                value = x[row, chunk * THREADS * width + thread * width + lane]
                total = total + value * value
        for offset in (32, 16, 8, 4, 2, 1):
            total = total + total.shuffle_xor(offset, 64)
        if thread % 64 == 0:
            partial[thread // 64] = total
        fx.barrier()
        if thread == 0:
            whole = partial[0]
            for wave in fx.range_constexpr(1, THREADS // 64):
                whole = whole + partial[wave]
            y[row] = fx.math.sqrt(whole)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(16, 1, 1), block=(THREADS, 1, 1))

    return launch, (torch.zeros(16, columns), torch.zeros(16))


def unrolled_polynomial() -> tuple[Any, tuple[Any, ...]]:
    """Much scalar arithmetic from a loop that Python unrolls."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.block_idx.x * THREADS + fx.thread_idx.x
        value = x[i]
        total = fx.Float32(0.0)
        for k in fx.range_constexpr(200):
            total = total * value + fx.Float32(float(k)) * fx.math.sqrt(value)
        y[i] = total

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(4, 1, 1), block=(THREADS, 1, 1))

    return launch, (torch.zeros(1024), torch.zeros(1024))


def branches() -> tuple[Any, tuple[Any, ...]]:
    """Run-time control flow: nested branches and loops that carry values."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        i = fx.block_idx.x * THREADS + fx.thread_idx.x
        low, high, steps = fx.Int32(0), n, fx.Int32(0)
        value = x[i]
        while low < high:
            middle = (low + high) // 2
            steps = steps + 1
            if x[middle] < value:
                low = middle + 1
            else:
                high = middle
        total = fx.Float32(0.0)
        for k in range(steps):
            if k % 3 == 0:
                total = total + value
            elif k % 3 == 1:
                total = total - value
            else:
                total = total * value
        y[i] = total if low < n else fx.Float32(0.0)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch(grid=(4, 1, 1), block=(THREADS, 1, 1))

    return launch, (torch.zeros(1024), torch.zeros(1024), 1024)


def lds_gemm() -> tuple[Any, tuple[Any, ...]]:
    """C = A B^T with both tiles staged in LDS, and K unrolled."""
    tile, tile_k, k = 64, 64, 256

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        row, column, thread = fx.block_idx.y, fx.block_idx.x, fx.thread_idx.x
        tiled = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        mine = tiled.get_slice(thread)
        allocator = fx.SharedAllocator()
        layout = fx.make_layout((tile, tile_k), (tile_k, 1))
        staged_a = allocator.allocate(fx.Array[fx.Float16, tile * tile_k]).peek().view(layout)
        staged_b = allocator.allocate(fx.Array[fx.Float16, tile * tile_k]).peek().view(layout)
        tiles_a, tiles_b = fx.flat_divide(a, (tile, tile_k)), fx.flat_divide(b, (tile, tile_k))
        tile_c = fx.flat_divide(c, (tile, tile))[None, None, row, column]
        wide = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
        tiler, tv = fx.make_layout_tv(fx.make_layout((32, 8), (8, 1)), fx.make_layout((2, 8), (8, 1)))
        stage = fx.make_tiled_copy(wide, tv, tiler)
        staging = stage.get_slice(thread)
        to_a, to_b = staging.partition_D(staged_a), staging.partition_D(staged_b)
        part_a, part_b = mine.make_fragment_A(staged_a), mine.make_fragment_B(staged_b)
        sums = mine.make_fragment_C(tile_c)
        sums.fill(0.0)
        load = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
        load_a, load_b = fx.make_tiled_copy_A(load, tiled), fx.make_tiled_copy_B(load, tiled)
        from_a, from_b = load_a.get_slice(thread), load_b.get_slice(thread)
        for step in fx.range_constexpr(k // tile_k):
            source_a = staging.partition_S(tiles_a[None, None, row, step])
            source_b = staging.partition_S(tiles_b[None, None, column, step])
            registers_a, registers_b = fx.make_fragment_like(source_a), fx.make_fragment_like(source_b)
            fx.copy(stage, source_a, registers_a)
            fx.copy(stage, source_b, registers_b)
            fx.copy(stage, registers_a, to_a)
            fx.copy(stage, registers_b, to_b)
            fx.barrier()
            fx.copy(load_a, from_a.partition_S(staged_a), from_a.retile(part_a))
            fx.copy(load_b, from_b.partition_S(staged_b), from_b.retile(part_b))
            fx.gemm(tiled, sums, part_a, part_b, sums)
            fx.barrier()
        store = fx.make_tiled_copy_C(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), tiled)
        to_c = store.get_slice(thread)
        fx.copy(store, to_c.retile(sums), to_c.partition_D(tile_c))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        kernel(a, b, c).launch(grid=(2, 2, 1), block=(THREADS, 1, 1))

    a, b = (flyc.from_dlpack(torch.zeros(128, k, dtype=torch.float16)) for _ in range(2))
    return launch, (a, b, flyc.from_dlpack(torch.zeros(128, 128)))


KERNELS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    one.__name__: one for one in (vector_add, copy_tiles, tiled_gemm, lds_gemm, row_sums, unrolled_polynomial, branches)
}

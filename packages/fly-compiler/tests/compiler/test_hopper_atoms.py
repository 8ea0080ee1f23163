# SPDX-License-Identifier: Apache-2.0
"""Hopper's matrix unit and copy engine in programs: what their PTX holds, and what is refused. No device is needed."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from compiled_ptx import ptx_of_the_last

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.trace.diagnostics import DSLCompileError

pytestmark = pytest.mark.usefixtures("hopper")

SWIZZLE = (3, 4, 3)


def ptx_of(launch, *arguments):
    launch(*arguments)
    return ptx_of_the_last()


def product(n=64, *, swizzle=SWIZZLE, row=64, registers=False):
    """A launcher of one product of 64 x n x 16 bf16, of tiles whose rows lie `row` elements apart."""

    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(x: fx.Tensor):
        shared = fx.SharedAllocator(1024, static=False)

        def tile(rows):
            room = shared.allocate(fx.Array[fx.BFloat16, rows * row], 1024).peek()
            pointer = (
                room.ptr if swizzle is None else fx.apply_swizzle(room.ptr, fx.static(fx.SwizzleType.get(*swizzle)))
            )
            return fx.make_view(pointer, fx.make_layout((rows, 16), (row, 1)))

        a, b = tile(64), tile(n)
        tiled = fx.make_tiled_mma(fx.nvgpu.WGMMA(n, fx.BFloat16))
        mine = tiled.get_slice(fx.thread_idx.x)
        sums = mine.make_fragment_C(fx.make_view(fx.get_iter(x), fx.make_layout((64, n), (n, 1))))
        operand = mine.make_fragment_A(a) if registers else mine.partition_A(a)
        fx.nvgpu.warpgroup_fence(sums)
        fx.gemm(tiled.set_value("accumulate", fx.Boolean(False)), sums, operand, mine.partition_B(b), sums)
        fx.nvgpu.warpgroup_commit()
        fx.nvgpu.warpgroup_wait(sums)
        x[fx.thread_idx.x] = sums.load()[3]

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(128,))

    return launch


X = np.zeros(64 * 256, np.float32)


@pytest.mark.parametrize("n", [8, 64, 256])
def test_one_product(n):
    ptx = ptx_of(product(n), X)
    (call,) = re.findall(r"wgmma\.mma_async\.sync\.aligned\.(\S+) \{([^}]*)\}", ptx)
    assert call[0] == f"m64n{n}k16.f32.bf16.bf16"
    assert len(call[1].split(",")) == n // 2
    order = [ptx.index(part) for part in ("wgmma.fence", "wgmma.mma_async", "wgmma.commit_group", "wgmma.wait_group")]
    assert order == sorted(order)
    # Fields of B's descriptor: rows of 128 bytes, 8 of them 1024 bytes apart, the widest swizzle.
    assert str(1 << 62 | (64 if n > 8 else 0) << 32 | 1 << 16) in ptx


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"swizzle": None},
            r"puts element \(1,0\) at byte 128, where the hardware looks for it at byte 16 with a swizzle of 0",
        ),
        ({"row": 72}, r"puts element \(1,0\) at byte 144, where the hardware looks for it at byte 128"),
        (
            {"row": 32},
            r"puts element \(1,0\) at byte 64.*takes slices of \(rows,64\):\(64,1\) behind a pointer with the",
        ),
        ({"swizzle": (3, 5, 3)}, r"swizzle S<3,5,3>, and the hardware has S<1,4,3>, S<2,4,3>, S<3,4,3> and none"),
    ],
    ids=["no swizzle", "padded rows", "short rows", "another swizzle"],
)
def test_a_tile_that_the_hardware_cannot_read(arguments, message):
    with pytest.raises(DSLCompileError, match=message) as raised:
        product(**arguments)(X)
    assert "fx.gemm(" in str(raised.value)


def test_the_swizzle_of_64_bytes_fits_rows_of_64_bytes():
    assert str(2 << 62 | 32 << 32 | 1 << 16) in ptx_of(product(swizzle=(2, 4, 3), row=32), X).replace(
        str((2 << 62 | 32 << 32 | 1 << 16) - (1 << 64)), str(2 << 62 | 32 << 32 | 1 << 16)
    )


def test_a_fragment_in_place_of_a_tile():
    with pytest.raises(ValueError, match="reads a in shared memory itself, and got a tensor in register memory"):
        product(registers=True)(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((20, fx.BFloat16), "multiple of 8 from 8 to 256, got 20"),
        ((64, fx.Float64), "wgmma has no"),
        ((64, fx.BFloat16, fx.Float16), "wgmma has no"),
    ],
)
def test_a_product_that_there_is_not(arguments, message):
    @flyc.jit
    def launch(x: fx.Tensor):
        fx.make_mma_atom(fx.nvgpu.WGMMA(*arguments))

    with pytest.raises(ValueError, match=message):
        launch(X)


def copies(box=(64, 64), swizzle=SWIZZLE, tile=(64, 64)):
    """A launcher that copies one box of a bf16 matrix to another by way of shared memory."""

    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(source: fx.nvgpu.TensorMap, target: fx.nvgpu.TensorMap, m: fx.Int32, n: fx.Int32):
        shared = fx.SharedAllocator(1024, static=False)
        rows, columns = tile
        room = shared.allocate(fx.Array[fx.BFloat16, rows * columns], 1024).peek()
        pointer = fx.apply_swizzle(room.ptr, fx.static(fx.SwizzleType.get(*SWIZZLE)))
        held = fx.make_view(pointer, fx.make_layout(tile, (columns, 1)))
        ring = fx.nvgpu.AsyncPipeline(shared.allocate(fx.Array[fx.Int64, 2], 8).peek().ptr, 1, source.transferred, 1)
        at = fx.flat_divide(source.coordinates((m, n)), tile)[None, None, fx.block_idx.y, fx.block_idx.x]
        if fx.thread_idx.x == 0:
            ring.init()
            place = ring.start()
            fx.copy(source.load_atom().set_value("barrier", ring.acquire(place)), at, held)
            ring.wait(place)
            fx.copy(target.store_atom(), held, at)
            fx.nvgpu.tma_commit()
            fx.nvgpu.tma_wait()

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        m, n = x.shape.unpack()
        maps = [
            fx.nvgpu.make_tensor_map(one, box, swizzle, written=written) for one, written in ((x, False), (y, True))
        ]
        kernel(*maps, fx.Int32(m), fx.Int32(n)).launch(grid=(1, 1), block=(128,))

    return launch


def matrices():
    return torch.zeros((128, 64), dtype=torch.bfloat16), torch.zeros((128, 64), dtype=torch.bfloat16)


def test_a_copy_that_leaves_the_l2_first():
    @flyc.kernel(known_block_size=(32, 1, 1))
    def kernel(box: fx.nvgpu.TensorMap):
        shared = fx.SharedAllocator(1024, static=False)
        room = shared.allocate(fx.Array[fx.BFloat16, 64 * 64], 1024).peek()
        tile = fx.make_view(room.ptr, fx.make_layout((64, 64), (64, 1)))
        barriers = fx.nvgpu.Mbarriers(shared.allocate(fx.Array[fx.Int64, 1], 8).peek().ptr, 1)
        boxes = fx.flat_divide(box.coordinates((128, 64)), (64, 64))
        if fx.thread_idx.x == 0:
            for once in (False, True):
                load = box.load_atom(evict_first=once).set_value("barrier", barriers.at(0))
                fx.copy(load, boxes[None, None, 0, 0], tile)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(fx.nvgpu.make_tensor_map(x, (64, 64))).launch(grid=(1,), block=(32,))

    ptx = ptx_of(launch, matrices()[0])
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 2
    assert ptx.count("complete_tx::bytes.L2::cache_hint") == 1


def test_what_the_l2_fetches_together():
    made = []

    @flyc.kernel(known_block_size=(32, 1, 1))
    def kernel(box: fx.nvgpu.TensorMap):
        pass

    @flyc.jit
    def launch(x: fx.Tensor, fetched: fx.Constexpr[int]):
        box = fx.nvgpu.make_tensor_map(x, (64, 64), fetched=fetched)
        made.append(str(box.value.owner))
        kernel(box).launch(grid=(1,), block=(32,))

    for fetched in (64, 128, 256):
        launch(matrices()[0], fetched)
    assert [re.search(r"fetched = (\d+) : i32", one)[1] for one in made] == ["64", "128", "256"]
    with pytest.raises(ValueError, match="the L2 fetches 64, 128, 256 bytes together, got 32"):
        launch(matrices()[0], 32)


def test_copies_of_boxes():
    ptx = ptx_of(copies(), *matrices())
    assert len(re.findall(r"\.param \.align 64 \.b8 \S+\[128\]", ptx)) == 2
    assert "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" in ptx
    assert "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" in ptx
    assert "mbarrier.arrive.expect_tx" in ptx
    report = flyc.compilation_reports()[-1]
    assert b"flydsl_tensor_map" in report.path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"box": (512, 64)}, ValueError, "1 to 256 elements on each axis, got 512"),
        ({"box": (64, 128)}, ValueError, "rows of 256 bytes and a swizzle of 128"),
        ({"box": (64,)}, ValueError, "one int for each mode"),
        ({"swizzle": (3, 3, 3)}, ValueError, r"has the swizzles S<1,4,3>, S<2,4,3>, S<3,4,3>"),
        ({"tile": (32, 64)}, DSLCompileError, r"moves boxes of 64, 64.*got the layout \(32,64\):\(64,1\)"),
        (
            {"swizzle": (2, 4, 3), "box": (64, 32), "tile": (64, 32)},
            DSLCompileError,
            "which is S<2,4,3> of a pointer; got",
        ),
    ],
)
def test_a_copy_that_there_is_not(arguments, error, message):
    with pytest.raises(error, match=message):
        copies(**arguments)(*matrices())


def test_clusters():
    """A box that comes to both workgroups of a pair, who tell each other when they have read it."""

    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(box: fx.nvgpu.TensorMap, x: fx.Tensor):
        shared = fx.SharedAllocator(1024, static=False)
        room = shared.allocate(fx.Array[fx.Float32, 8 * 32], 1024).peek()
        tile = fx.make_view(room.ptr, fx.make_layout((8, 32), (32, 1)))
        barriers = shared.allocate(fx.Array[fx.Int64, 2], 8).peek()
        pipeline = fx.nvgpu.AsyncPipeline(barriers.ptr, 1, box.transferred, 2)
        thread, rank = fx.Int32(fx.thread_idx.x), fx.nvgpu.cluster_rank()
        if thread == 0:
            pipeline.init()
        fx.nvgpu.cluster_barrier()
        place = pipeline.start()
        load = box.load_atom(multicast=True).set_value("multicast_mask", fx.Int16(3))
        boxes = fx.flat_divide(box.coordinates((8, 32)), (8, 32))
        if thread == 0:
            barrier = pipeline.acquire(place)
            if rank == 0:
                fx.copy(load.set_value("barrier", barrier), boxes[None, None, 0, 0], tile)
        pipeline.wait(place)
        x[thread] = room.ptr[thread]
        if thread < 2:
            pipeline.release_at(place.stage, thread)
        other = fx.nvgpu.cluster_load(room.ptr + thread % 32 * 4, rank ^ 1, 4)
        x[thread + 128] = other[0] + other[3]
        fx.nvgpu.cluster_barrier()

    @flyc.jit
    def launch(x: fx.Tensor):
        view = fx.make_view(fx.get_iter(x), fx.make_layout((8, 32), (32, 1)))
        kernel(fx.nvgpu.make_tensor_map(view, (8, 32)), x).launch(grid=(2,), block=(128,), cluster=(2, 1, 1))

    ptx = ptx_of(launch, X)
    assert "%cluster_ctarank" in ptx
    assert ptx.count("barrier.cluster.arrive") == ptx.count("barrier.cluster.wait") == 2
    assert "mbarrier::complete_tx::bytes.multicast::cluster" in ptx
    assert ptx.count("mapa.shared::cluster") == 2
    assert "mbarrier.arrive.shared::cluster.b64" in ptx
    assert "ld.shared::cluster.v4" in ptx


@pytest.mark.parametrize(
    ("first", "count", "stage", "parity"), [(0, 2, 2, 0), (0, 3, 0, 1), (2, 4, 0, 0), (1, 7, 2, 0)]
)
def test_places_of_a_ring_that_are_skipped(first, count, stage, parity):
    """Known ones are folded: what is stored are the numbers."""

    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(x: fx.Tensor):
        place = fx.nvgpu.PipelineState(3, first).skip(count)
        x[0], x[1] = fx.Float32(place.stage), fx.Float32(place.parity)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(128,))

    ptx = ptx_of(launch, X)
    floats = {"0": 0, "1065353216": 1, "1073741824": 2}
    stored = dict(re.findall(r"mov\.b32 \t(%r\d+), (\d+);", ptx))
    values = [floats[stored.get(one, one)] for one in re.findall(r"st\.global\.b32 \t\[[^]]*\], (\S+);", ptx)]
    assert values == [stage, parity]


@pytest.mark.parametrize(
    ("count", "of_global", "error", "message"),
    [
        (5, False, ValueError, "at most 128 bits, got 5 elements of 32"),
        (1, True, TypeError, "a pointer to shared memory"),
    ],
)
def test_a_load_of_the_cluster_that_there_is_not(count, of_global, error, message):
    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(x: fx.Tensor):
        room = fx.SharedAllocator(16).allocate(fx.Array[fx.Float32, 8], 16).peek()
        pointer = fx.get_iter(x) if fx.const_expr(of_global) else room.ptr
        x[0] = fx.nvgpu.cluster_load(pointer, 0, count)[0]

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(2,), block=(128,), cluster=(2, 1, 1))

    with pytest.raises(error, match=message):
        launch(X)


def test_elsewhere_they_are_refused(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")
    with pytest.raises(ValueError, match="make_tensor_map needs sm_90a, but the kernel is compiled for gfx942"):
        copies()(*matrices())
    with pytest.raises(ValueError, match="needs sm_90a, but the kernel is compiled for gfx942"):
        product()(X)


def test_warpgroups_in_turn():
    @flyc.kernel(known_block_size=(256, 1, 1))
    def kernel(x: fx.Tensor):
        group = fx.nvgpu.warp_index() // 4
        if group == 0:
            fx.nvgpu.named_arrive(3, 256)
        else:
            fx.nvgpu.named_barrier(3, 256)
            x[fx.thread_idx.x] = 1.0

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(256,))

    ptx = ptx_of(launch, X)
    assert re.search(r"bar(rier)?(\.cta)?\.arrive[.\w]*\s+3, 256", ptx)
    assert re.search(r"bar(rier)?(\.cta)?\.sync[.\w]*\s+3, 256", ptx)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((16, 128), "named_arrive: 1 to 15, got 16"), ((1, 100), "named_arrive: a multiple of 32 threads, got 100")],
)
def test_a_barrier_that_there_is_not(arguments, message):
    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(x: fx.Tensor):
        fx.nvgpu.named_arrive(*arguments)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(128,))

    with pytest.raises(ValueError, match=message):
        launch(X)


def test_one_of_several_warpgroups_reduces_rows():
    """The lanes of four neighbouring threads have a row of the accumulators: no barrier of the block is needed."""

    @flyc.kernel(known_block_size=(256, 1, 1))
    def kernel(x: fx.Tensor):
        part = fx.make_tiled_mma(fx.nvgpu.WGMMA(16, fx.BFloat16)).get_slice(fx.thread_idx.x % 128)
        held = fx.make_rmem_tensor(((2, 2, 2), 1, 1), fx.Float32)
        held.fill(1.0)
        highest = fx.coop.tiled_reduce(held, fx.maxnumf, part, 1)
        x[fx.thread_idx.x] = highest[0] + highest[2]

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(256,))

    ptx = ptx_of(launch, X)
    assert "bar.sync" not in ptx
    assert ptx.count("shfl.sync.bfly") == 4

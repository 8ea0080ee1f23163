# SPDX-License-Identifier: Apache-2.0
"""Wave and block collectives: what they emit, and their contracts. Results are checked where kernels run."""

import pytest
from tracing import kernel

import flydsl.expr as fx

coop = fx.coop


@pytest.mark.parametrize(("arch", "steps"), [("gfx942", 6), ("gfx1201", 5)])
def test_a_wave_reduces_by_butterflies(arch, steps):
    with kernel("f32", arch=arch) as k:
        assert coop.universal.warp_reduce(fx.Float32(k.args[0]), "max").dtype is fx.Float32
        assert k.count("gpu.shuffle") == steps


@pytest.mark.parametrize(("arch", "shuffles", "moves"), [("gfx942", 0, 10), ("gfx950", 0, 10), ("gfx1201", 10, 0)])
def test_32_bits_are_combined_by_dpp_on_gfx9(arch, shuffles, moves):
    with kernel("f32", arch=arch) as k:
        x = fx.Float32(k.args[0])
        coop.warp_reduce(x, "add")
        coop.warp_inclusive_scan(x, "add")
        assert k.count("gpu.shuffle") == shuffles
        assert k.count("rocdl.update.dpp") == moves
        before = k.count("gpu.shuffle")
        coop.warp_reduce(x.to(fx.Float16), "add")
        assert k.count("gpu.shuffle") > before
        k.ir()


def test_widths():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        coop.universal.warp_reduce(x, fx.ReductionOp.ADD, width=8)
        assert k.count("gpu.shuffle") == 3
        for bad in (0, 3, 128, True):
            with pytest.raises(ValueError, match="power of two up to 64"):
                coop.warp_reduce(x, "add", width=bad)


def test_scans():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        assert coop.warp_inclusive_scan(x, "add", init=3).dtype is fx.Int32
        assert coop.warp_exclusive_scan(x, "max").dtype is fx.Int32
        assert len(coop.warp_scan(x, "add")) == 2
        assert len(coop.warp_scan_with_aggregate(x, lambda a, b: a ^ b, init=0)) == 3
        with pytest.raises(ValueError, match="identity of a callable operator"):
            coop.warp_exclusive_scan(x, lambda a, b: a ^ b)
        k.ir()


def test_block_reduce():
    with kernel("f32", block=(256, 1, 1)) as k:
        reduce = coop.BlockReduce[fx.Float32, 256]
        assert (reduce.block_threads, reduce.warp_threads, reduce.num_warps) == (256, 64, 4)
        assert reduce.algorithm is coop.BlockReduceAlgorithm.WARP_REDUCTIONS
        assert coop.BlockReduce[fx.Float32, 256] is reduce
        allocator = fx.SharedAllocator()
        storage = allocator.allocate(reduce.SharedStorage)
        x = fx.Float32(k.args[0])
        assert reduce(x, "add", storage=storage).dtype is fx.Float32
        assert reduce(fx.full(4, x), "max", storage=storage).dtype is fx.Float32
        raking = coop.BlockReduce[fx.Float32, (64, 4), coop.BlockReduceAlgorithm.RAKING]
        raking(x, "add", storage=allocator.allocate(raking.SharedStorage))
        assert [a.size for a in k.scope.lds] == [16, 1024]
        with pytest.raises(TypeError, match="storage is what an allocator gave for"):
            raking(x, "add", storage=storage)
        k.ir()


def test_block_scan():
    with kernel("i32") as k:
        scan = coop.BlockScan[fx.Int32, 256]
        storage = fx.SharedAllocator().allocate(scan.SharedStorage)
        x = fx.Int32(k.args[0])
        assert scan.inclusive(x, "add", storage=storage).dtype is fx.Int32
        assert scan.exclusive(x, "add", storage=storage, init=5).dtype is fx.Int32
        assert len(scan.inclusive_with_aggregate(x, "max", storage=storage)) == 2
        assert len(scan.exclusive_with_aggregate(x, "min", storage=storage)) == 2
        with pytest.raises(TypeError, match="has the functions exclusive, exclusive_with_aggregate, inclusive"):
            scan(x)
        k.ir()


def test_specialisation_mistakes():
    with kernel():
        assert coop.BlockReduce.dtype is coop.BlockReduce.SharedStorage is coop.BlockReduce.block_size is None
        with pytest.raises(TypeError, match=r"write BlockRadixSort\[dtype or \(key, value\), block_size"):
            coop.BlockRadixSort[fx.Int32, 256]
        with pytest.raises(ValueError, match="items_per_thread of BlockExchange is a positive int"):
            coop.BlockExchange[fx.Int32, 256, 0]
        with pytest.raises(TypeError, match="specialize first: BlockReduce"):
            coop.BlockReduce(1, "add")
        with pytest.raises(ValueError, match="multiple of 64 threads"):
            coop.BlockReduce[fx.Int32, 100]
        with pytest.raises(TypeError, match="expected a BlockReduceAlgorithm"):
            coop.BlockReduce[fx.Int32, 256, "raking"]
        assert coop.universal.BlockReduce[fx.Int32, 256] is not coop.BlockReduce[fx.Int32, 256]


def test_structs_are_refused_by_name():
    @fx.struct
    class Pair:
        value: fx.Float32
        index: fx.Int32

    for make in (
        lambda: fx.coop.BlockReduce[Pair, 64],
        lambda: fx.coop.WarpScan[Pair],
        lambda: fx.coop.BlockRadixSort[(fx.Int32, Pair), 64, 4],
    ):
        with pytest.raises(TypeError, match="takes numbers, not the struct Pair: pack its fields into one integer"):
            make()


def test_there_is_no_decomposer():
    with kernel(), pytest.raises(NotImplementedError, match="pack the fields of a key into one unsigned integer"):
        fx.coop.BlockRadixSort[fx.Int32, 64, 1](fx.Int32(1), storage=None, decomposer=lambda key: (key,))

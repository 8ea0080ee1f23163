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


@pytest.mark.parametrize(("arch", "shuffles", "moves"), [("gfx942", 0, 12), ("gfx950", 0, 12), ("gfx1201", 10, 0)])
def test_32_bits_are_combined_by_dpp_on_gfx9(arch, shuffles, moves):
    with kernel("f32", arch=arch) as k:
        x = fx.Float32(k.args[0])
        coop.warp_reduce(x, "add")
        coop.warp_inclusive_scan(x, "add")
        assert k.count("gpu.shuffle") == shuffles
        assert k.count("rocdl.update.dpp") == moves
        k.ir()


@pytest.mark.parametrize("dtype", [fx.Float16, fx.Float32, fx.Int64])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_folds_and_scans_of_gfx9_take_no_permutes(arch, dtype):
    with kernel("f32", arch=arch) as k:
        x = fx.Float32(k.args[0]).to(dtype)
        coop.warp_reduce(x, "add")
        coop.warp_scan_with_aggregate(x, "max", init=0)
        scan = coop.BlockScan[dtype, 256]
        scan.exclusive(x, "add", storage=fx.SharedAllocator().allocate(scan.SharedStorage))
        assert (k.count("gpu.shuffle") == 0) is (arch == "gfx942")
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


def refused(match, layout, mode=1, tile=(8, 64), block=(64, 1, 1), **options):
    with kernel(block=block) as k:
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        mine = fx.make_tiled_copy(atom, fx.make_layout(*layout), tile).get_slice(fx.thread_idx.x)
        values = fx.make_rmem_tensor(((1, 8), 1, 1), fx.Float32)
        with pytest.raises(ValueError, match=match):
            coop.tiled_reduce(values, "add", mine, mode, **options)
        k.ir()


def test_what_a_tiled_reduction_cannot_read_from_a_layout_is_refused():
    along, values = ((8, 8), (1, 8)), ((8,), (64,))
    refused("modes 0 to 1, not 2", ((along[0], values[0]), (along[1], values[1])), mode=2)
    refused("along mode 1 and another mode at once", (((64,), (8,)), ((9,), (1,))))
    refused("are no powers of two", (((6, 10), (8,)), ((8, 48), (1,))), tile=(8, 60))
    refused("carry from one mode of the tile", (((8, 8), (8,)), ((1, 64), (7,))))
    wide = (((256,), (8,)), ((1,), (256,)))
    refused("needs storage=", wide, mode=0, tile=(2048, 1), block=(256, 1, 1))
    refused("256 threads, more than a wave, and the workgroup 512", wide, mode=0, tile=(2048, 1), block=(512, 1, 1))
    with kernel() as k:
        with pytest.raises(TypeError, match="this thread's slice of a tiled copy or tiled MMA"):
            coop.tiled_reduce(fx.full(4, 0.0, fx.Float32), "add", 3, 0)
        k.ir()


def test_a_tiled_reduction_within_a_wave_takes_no_lds():
    with kernel(block=(64, 1, 1)) as k:
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        copy = fx.make_tiled_copy_tv(atom, fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1)))
        mine = copy.get_slice(fx.thread_idx.x)
        assert coop.tiled_reduce_storage(mine, 1, fx.Float32) is fx.Empty
        assert coop.tiled_reduce(fx.full(4, 1.0, fx.Float32), "add", mine, 1).dtype is fx.Float32
        assert k.count("rocdl.update.dpp") == 4
        assert k.count("gpu.shuffle") == k.count("gpu.barrier") == 0
        with pytest.raises(ValueError, match="has 4 values, the vector has 8"):
            coop.tiled_reduce(fx.full(8, 1.0, fx.Float32), "add", mine, 1)
        k.ir()
